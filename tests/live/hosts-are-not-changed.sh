#!/bin/bash
# SPDX-License-Identifier: MIT
# Every small host prints the same, on both channels, and ends with the same status: alone, under tailor run in both scopes and
# with both samplers in the host, and with the agent preloaded alone.  They fork before main, close all descriptors, end threads in
# every way, cancel them at once, dlopen through RUNPATH, ask dlerror, load an LLVM late, exec themselves, look for strangers
# among their children, wrap what we wrap, set and block every signal, and register call-frame information that does not end.
. tests/live/begin.bash

has() { "$B/tailor" dump "$1" 2>/dev/null | grep -q "$2"; } # TRACE PATTERN

same() { # HOST HOW COMMAND... : is it as $my/alone.out, $my/alone.err and $alone say?
	local host=$1 how=$2 status
	shift 2
	timeout 300 "$@" >"$my/out" 2>"$my/err"
	status=$?
	if [ $status != "$alone" ] || ! cmp -s "$my/alone.out" "$my/out" || ! cmp -s "$my/alone.err" "$my/err"; then
		fail "$host, $how: expected exit $alone and what it prints alone; got exit $status and:"
		diff "$my/alone.out" "$my/out"
		diff "$my/alone.err" "$my/err"
	fi
	echo "$host, $how" >>"$my/runs"
}

alone() { # COMMAND...: leaves its status in $alone
	timeout 300 "$@" >"$my/alone.out" 2>"$my/alone.err"
	alone=$?
}

check() { # HOST
	local host=$1 h=$B/hosts/$1 n
	[ -x "$h" ] || return
	alone "$h"
	for scope in cpu thread; do
		same "$host" "tailor run --scope $scope" "$B/tailor" run -q --scope $scope -o "$my/t.tlr" -- "$h"
		"$B/tailor" report --json "$my/t.tlr" >"$my/json" || fail "$host: the trace cannot be read"
	done
	for sampler in signal timer; do
		same "$host" "tailor run --sampler $sampler" "$B/tailor" run -q --sampler $sampler -o "$my/s.tlr" -- "$h"
	done
	rm -f "$my/p.tlr"
	same "$host" "preloaded alone" env LD_PRELOAD="$B/libtailor.so" TAILOR_OUTPUT="$my/p.tlr" "$h"
	wait_for has "$my/p.tlr" ' END '
	if [ "$host" = namespace ] && [ "$alone" = 12 ]; then
		has "$my/t.tlr" ' IMAGE .*libz' || fail "namespace: expected an IMAGE record of libz"
	fi
	# an LLVM that came late is heard: its code has a name
	if [ "$host" = late_llvm ] && [ "$alone" = 8 ]; then
		n=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["jit"]["samples"])' "$my/json")
		if [ "$n" = 0 ]; then
			undecided "this machine gave only 0 samples in code of late_llvm"
		elif ! grep -q '"hot_loop"' "$my/json"; then
			fail "late_llvm: expected the function hot_loop in:"
			"$B/tailor" report "$my/t.tlr"
		fi
	fi
}

# the sampling signal, as a late one comes: waits have not noticed, but those that say which signals may end them
interrupted() {
	local status
	timeout 300 "$B/tailor" run -q --sampler signal -o "$my/s.tlr" -- "$B/hosts/interrupted" "$(kill -l STKFLT)" >"$my/out" 2>"$my/err"
	status=$?
	[ $status = 0 ] && [ "$(grep -c 'to its end, its time$' "$my/out")" = 7 ] &&
		grep -q '^ppoll with a mask: interrupted' "$my/out" || {
		fail "interrupted: expected 7 waits to their end and one with a mask to be interrupted, got exit $status and:"
		cat "$my/out" "$my/err"
	}
}

# another library in front of us that wraps the same functions
wrapped() {
	alone "$B/hosts/threads"
	rm -f "$my/p.tlr"
	same threads "preloaded behind another wrapper" \
		env LD_PRELOAD="$B/hosts/libwraps.so:$B/libtailor.so" TAILOR_OUTPUT="$my/p.tlr" "$B/hosts/threads"
	wait_for has "$my/p.tlr" ' END '
}

# some of them wait, so two go side by side; each has a folder of its own
lane() { # COMMAND-AND-ARGUMENT...
	my=$dir/${1##* }
	mkdir "$my"
	for c; do $c; done
	finish
}
lane "check signals" interrupted "check threads" wrapped "check cancelled" "check dl_error" "check wraps" "check frames" \
	"check namespace" >"$dir/beside" &
beside=$!
judge lane "check busy" "check busy-nopie" "check close_all" "check fork_early" "check c11" "check late_llvm" "check family" \
	"check runpath/main"
wait $beside
status=$?
judge bash -c 'cat "$0"; exit $1' "$dir/beside" $status
echo "FIGURE $(cat "$dir"/*/runs | wc -l) runs of unmodified hosts, their output and status unchanged"
finish
