#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is killed, stopped, or out of disk does not hold its host up: what the host says and does goes on without waiting
# for it, and the trace up to then can be read.
# Alone: a recorder that is stopped delays the others that ask, and is named to them
. tests/live/begin.bash
host= recorder=
clean_up() {
	kill -9 $host $recorder 2>/dev/null
	umount -l "$dir/small" 2>/dev/null
	rm -rf "$dir"
}
trap clean_up EXIT

has() { "$B/tailor" dump "$1" >"$dir/looked" 2>/dev/null; grep -q "$2" "$dir/looked"; }
readable() { # NAME TRACE
	"$B/tailor" dump "$2" >"$dir/dump" 2>/dev/null
	grep -q ' LOAD .*paced' "$dir/dump" || fail "$1: no code in what can be read of the trace"
	grep -q ' SAMPLES ' "$dir/dump" || fail "$1: no samples in what can be read of the trace"
	"$B/tailor" report "$2" >/dev/null 2>&1
	[ $? -le 1 ] || fail "$1: report cannot read the trace"
}
ended() { [ "$(state "$1")" = Z ] || [ -z "$(state "$1")" ]; }
state() { sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
stopped() { [ "$(state $recorder)" = T ]; }
begin() { # SCOPE TRACE fill|spare: preloaded alone, recorded up to now; $host and $recorder
	rm -f "$dir/go" "$2"
	timeout "$((2 * PATIENCE_S))" env LD_PRELOAD="$B/libtailor.so" TAILOR_SCOPE="$1" TAILOR_OUTPUT="$2" \
		"$B/hosts/pace" "$dir/go" "$3" >"$dir/out" 2>"$dir/err" &
	host=$!
	wait_for has "$2" ' SAMPLES ' && wait_for has "$2" ' LOAD .*paced'
	recorder=$(pgrep -o -f "record .*--output $2")
	[ -n "$recorder" ] || { fail "no recorder runs"; return 1; }
}
go() { # NAME: the host does what it does to its end, and has told of it
	touch "$dir/go"
	wait $host
	local status=$?
	host=
	[ $status = 0 ] && [ "$(grep -c '^stretch' "$dir/out")" = 3 ] ||
		fail "$1: expected that the host ends with 0 and tells of three stretches, got $status: $(cat "$dir/out" "$dir/err")"
	echo "FIGURE $1: $(tail -n 1 "$dir/out" | sed 's/^stretch: //')"
}
killed() { # SCOPE
	begin "$1" "$dir/killed.tlr" fill || return
	kill -9 $recorder
	wait_for ended $recorder
	recorder=
	go "killed recorder, scope $1"
	readable "killed recorder, scope $1" "$dir/killed.tlr"
}
stopped_for_long() { # SCOPE
	begin "$1" "$dir/stopped.tlr" fill || return
	kill -STOP $recorder
	wait_for stopped
	go "stopped recorder, scope $1"
	readable "stopped recorder, scope $1" "$dir/stopped.tlr"
	kill -CONT $recorder
	wait_for has "$dir/stopped.tlr" ' END ' || fail "scope $1: a recorder that goes on did not end its trace"
	wait_for ended $recorder
	recorder=
	# its threads began while nobody could enable their counters
	[ "$1" = cpu ] || has "$dir/stopped.tlr" ' LOSS .*threads counted late' ||
		fail "scope thread, stopped recorder: threads ran before their counters were enabled, and no loss says so"
}
out_of_disk() { # SCOPE
	begin "$1" "$dir/small/full.tlr" spare || return
	cat /dev/zero >"$dir/small/rest" 2>/dev/null
	# what it gathers goes to the file every 200 ms: it comes to it 100 times, 20 ms apart at most
	local turns
	turns() { awk '/ctxt_switches/ { n += $2 } END { print n + 0 }' /proc/$recorder/status; }
	turns=$(turns)
	turned() { [ "$(turns)" -ge $((turns + 100)) ]; }
	wait_for turned
	go "full disk, scope $1"
	wait_for ended $recorder
	recorder=
	readable "full disk, scope $1" "$dir/small/full.tlr"
	grep -q ' LOSS ' "$dir/dump" || fail "full disk, scope $1: what is missing is not counted"
	rm -f "$dir/small"/*
}

# A stretch of the host's is a block.  Of 100 threads that began in it, and of thousands of announcements, at most a tenth slept, and
# no call took 2.5 s.  Where nobody waits for the recorder hardly any sleeps, and then for a lock of the kernel that another thread
# holds; 2.5 s without a processor are more than any load makes of so short a call.  An agent that waits each time sleeps in every
# call, and one that waits in vain for as long as for a recorder that works, 5 s, does so in the first.
stretch() { # FAULT SCOPE NUMBER
	if [ $(($3 % 3)) = 0 ]; then
		: >"$dir/out"
		"$1" "$2"
	fi
	grep '^stretch' "$dir/out" | sed -n "$(($3 % 3 + 1))p" >"$dir/stretch"
	read -r _ announced _ slept _ threads _ threads_slept _ _ ms <"$dir/stretch" || return 2
	[ "$slept" -le $((announced / 10)) ] && [ "$threads_slept" -le $((threads / 10)) ] && [ "$ms" -lt 2500 ] && return
	echo "$1, scope $2: $(cat "$dir/stretch")"
	return 1
}
for scope in cpu thread; do
	decide "a killed recorder holds nobody up, scope $scope" stretch killed $scope
	decide "a stopped recorder holds nobody up, scope $scope" stretch stopped_for_long $scope
done

mkdir "$dir/small"
if mount -t tmpfs -o size=1m none "$dir/small" 2>/dev/null; then
	decide "a full disk holds nobody up" stretch out_of_disk cpu
else
	echo "left out, because no small disk can be mounted: full disk"
fi
finish
