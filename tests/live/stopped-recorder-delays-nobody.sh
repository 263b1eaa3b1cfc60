#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is stopped delays a tree of processes by 100 ms at most, however many programs it executes: of 50 one waits for it.  When
# it goes on, new programs are heard again, and so is one that began meanwhile; the report says how many were not.
# Rights: sockets and priorities
# Alone: a recorder that is stopped delays the others that ask, and is named to them
. tests/live/begin.bash
host= recorder=
trap 'kill -9 $host $recorder 2>/dev/null; rm -rf "$dir"' EXIT
CHILDREN=50
cat >"$dir/tree.sh" <<'END'
echo begun
while [ ! -e "$1/go" ]; do sleep 0.02; done
i=0
while [ $i -lt $2 ]; do /bin/true; i=$((i + 1)); done
"$3" "$1/heard" spare >/dev/null &
echo done >"$1/done"
while [ ! -e "$1/end" ]; do sleep 0.02; done
wait
END
state() { sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
stopped() { [ "$(state $recorder)" = T ]; }
has() { "$B/tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q "$1"; }
begun() { [ -s "$dir/out" ]; }
waits() { grep -c 'did not answer in' "$dir/err"; }

check() { # HOW: the tree runs as $host, recorded by $recorder
	wait_for begun && wait_for has ' GUEST '
	kill -STOP $recorder
	wait_for stopped
	touch "$dir/go"
	wait_for [ -e "$dir/done" ]
	local waited
	waited=$(sed -n 's/.*did not answer in \([0-9]*\) ms.*/\1/p' "$dir/err" | awk '{ n += $1 } END { print n + 0 }')
	[ "$(waits)" -ge 1 ] && [ "$waited" -le 100 ] ||
		fail "$1: expected that $CHILDREN programs wait for 100 ms together, got $waited ms in $(waits) waits"
	echo "FIGURE $1: $CHILDREN programs waited for $waited ms together"
	sleep 0.3 # programs that began less than 80 ms before the recorder goes on are not late: on a fast machine that is all of them
	kill -CONT $recorder
	wait_for has ' LOAD .*paced' # of the one that goes on
	touch "$dir/heard" "$dir/end"
	wait $host || fail "$1: the tree ended with $?: $(cat "$dir/err")"
	host=
	"$B/tailor" report "$dir/t.tlr" 2>&1 | tr '\n' ' ' | tr -s ' ' >"$dir/report"
	grep -q "agent unavailable in [0-9]* processes ([^)]*true[^)]*): the recorder did not run" "$dir/report" ||
		fail "$1: expected that the report says which programs had no agent, and why: $(cat "$dir/report")"
	rm -f "$dir/go" "$dir/done" "$dir/heard" "$dir/end" "$dir/t.tlr"
}
TAILOR_DEBUG=1 "$B/tailor" run -q -o "$dir/t.tlr" -- sh "$dir/tree.sh" "$dir" $CHILDREN "$B/hosts/pace" >"$dir/out" 2>"$dir/err" &
host=$! recorder=$!
check "tailor run"
rm -f "$dir/out"
TAILOR_DEBUG=1 TAILOR_OUTPUT="$dir/t.tlr" LD_PRELOAD="$B/libtailor.so" \
	sh "$dir/tree.sh" "$dir" $CHILDREN "$B/hosts/pace" >"$dir/out" 2>"$dir/err" &
host=$!
recorder_runs() { recorder=$(pgrep -o -f "record .*--output $dir/t.tlr"); }
wait_for recorder_runs
check "LD_PRELOAD"
finish
