#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorders that do not answer delay nobody: `attach` asks each of them once, goes on without their answer, and says which they are.
# `status` and `stop` end with a sentence that says who is stopped.  A recorder that runs answers beside them.
# Alone: a recorder that is stopped delays the others that ask, and is named to them
. tests/live/begin.bash
N=5
recorders='' target='' runs=''
trap 'kill -CONT $recorders 2>/dev/null; kill $recorders $target $runs 2>/dev/null; rm -rf "$dir"' EXIT
state() { sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
begun() { [ -s "$dir/begun.$1" ]; }
stopped() { [ "$(state "$1")" = T ]; }
for i in $(seq $N); do
	"$B/tailor" run -q -o "$dir/$i.tlr" -- sh -c 'echo $$ >'"$dir/begun.$i"'; exec sleep 1000' &
	recorders="$recorders $!"
done
for i in $(seq $N); do wait_for begun "$i"; done
kill -STOP $recorders
for p in $recorders; do wait_for stopped "$p"; done
sleep 1000 &
target=$!

# Where each line of a name was asked, also those that the attach before had left, the third one took minutes.
begin=$SECONDS
for i in 1 2 3; do
	timeout 60 "$B/tailor" attach -d 100ms -o "$dir/t.tlr" $target 2>"$dir/said" ||
		fail "expected attach to go on beside $N stopped recorders, got $?: $(cat "$dir/said")"
done
echo "FIGURE three attaches of 0.1 s beside $N stopped recorders took $((SECONDS - begin)) s"
for p in $recorders; do
	grep -q "no answer within .*process $p (stopped)" "$dir/said" || fail "expected a sentence that names $p, got $(cat "$dir/said")"
done

first=${recorders# }
first=${first%% *}
for command in status stop; do
	timeout 50 "$B/tailor" $command "$(cat "$dir/begun.1")" 2>"$dir/said" && fail "expected $command of a stopped recorder to fail"
	grep -q "its recorder, process $first, is stopped" "$dir/said" ||
		fail "expected $command to say that recorder $first is stopped, got $(cat "$dir/said")"
done

# One that runs: found among those that are stopped, by a process that it records beside its first.
sleep 1000 &
other=$!
"$B/tailor" attach -q -o "$dir/two.tlr" $target $other &
runs="$! $other"
asked() { "$B/tailor" status $other >"$dir/said" 2>&1; }
wait_for asked
grep -q "is being recorded into $dir/two.tlr" "$dir/said" || fail "expected the recorder of $other, got $(cat "$dir/said")"
finish
