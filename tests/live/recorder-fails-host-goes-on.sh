#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is killed, stopped for seconds, or out of disk does not hold its host up: what the host says and does goes on (a
# processor that is taken away from it by others is not our doing: a few calls may be long), and the trace up to then can be read.
set -u
B=$1
dir=$(mktemp -d)
recorder=
clean_up() {
	[ -n "$recorder" ] && kill -9 $recorder 2>/dev/null
	umount "$dir/small" 2>/dev/null
	rm -rf "$dir"
}
trap clean_up EXIT
tests/hosts/build.sh "$B" || exit 1
bad=0
most=5
[ -z "${SAN:-}" ] || most=100 # a recorder under a sanitizer needs ten times the processor, and comes first
fail() { echo "$@"; bad=1; }
went_on() { # NAME STATUS
	[ "$2" = 0 ] || fail "$1: the host ended with $2: $(cat "$dir/out" "$dir/err")"
	read -r _ calls _ long _ ms <"$dir/out" || { fail "$1: the host said nothing"; return; }
	echo "FIGURE $1: $calls calls, $long of them longer than 10 ms, the longest $ms ms"
	[ "$calls" -ge 1000 ] || fail "$1: expected a thousand calls or more, got $calls"
	[ "$long" -le $most ] || fail "$1: expected $most calls at most that take longer than 10 ms, got $long, the longest $ms ms"
}
readable() { # NAME TRACE
	"$B/tailor" dump "$2" >"$dir/dump" 2>/dev/null
	grep -q ' LOAD .*paced' "$dir/dump" || fail "$1: no code in what can be read of the trace"
	[ "$(grep -c ' SAMPLES ' "$dir/dump")" -ge 1 ] || fail "$1: no samples in what can be read of the trace"
	"$B/tailor" report "$2" >/dev/null 2>&1
	[ $? -le 1 ] || fail "$1: report cannot read the trace"
}
begin() { # SCOPE TRACE: preloaded alone; $host and $recorder
	LD_PRELOAD=$B/libtailor.so TAILOR_SCOPE=$1 TAILOR_OUTPUT=$2 timeout 60 "$B/hosts/pace" 3 >"$dir/out" 2>"$dir/err" &
	host=$!
	recorder=
	for _ in $(seq 100); do
		sleep 0.05
		[ "$("$B/tailor" dump "$2" 2>/dev/null | grep -c ' SAMPLES ')" -ge 1 ] && break
	done
	recorder=$(pgrep -f "record .*--output $2")
	[ -n "$recorder" ] || fail "no recorder runs"
}

for scope in cpu thread; do
	begin $scope "$dir/killed.tlr"
	kill -9 $recorder
	wait $host
	went_on "killed recorder, scope $scope" $?
	readable "killed recorder, scope $scope" "$dir/killed.tlr"
done

for scope in cpu thread; do
	begin $scope "$dir/stopped.tlr"
	kill -STOP $recorder
	wait $host
	went_on "stopped recorder, scope $scope" $?
	readable "stopped recorder, scope $scope" "$dir/stopped.tlr"
	kill -CONT $recorder
	for _ in $(seq 200); do "$B/tailor" dump "$dir/stopped.tlr" 2>/dev/null | grep -q ' END ' && break; sleep 0.1; done
	"$B/tailor" dump "$dir/stopped.tlr" 2>/dev/null | grep -q ' END ' ||
		fail "scope $scope: a recorder that goes on did not end its trace"
done

mkdir "$dir/small"
if mount -t tmpfs -o size=1m none "$dir/small" 2>/dev/null; then
	begin cpu "$dir/small/full.tlr"
	wait $host
	went_on "full disk" $?
	for _ in $(seq 100); do pgrep -f "record .*--output $dir/small" >/dev/null || break; sleep 0.1; done
	readable "full disk" "$dir/small/full.tlr"
	grep -q ' LOSS ' "$dir/dump" || fail "full disk: what is missing is not counted"
	umount "$dir/small"
else
	echo "left out, because no small disk can be mounted: full disk"
fi
recorder=
exit $bad
