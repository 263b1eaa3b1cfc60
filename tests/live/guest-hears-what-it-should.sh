#!/bin/bash
# SPDX-License-Identifier: MIT
# What a guest hears, and of whom: a JIT in a forked child is the child's, a JIT that is unloaded and loaded again is heard
# again, one that uses the program's descriptor is heard, an FDE that is registered alone comes with its CIE, and C11 threads
# are counted in scope thread.
. tests/live/begin.bash
run() { # STATUS HOST... : the trace is $dir/t.tlr, the host's output $dir/out
	local want=$1 status
	shift
	timeout 300 "$B/tailor" run -q --scope "$scope" -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump" && "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" ||
		{ fail "tailor run --scope $scope -- $*: the trace cannot be read"; return 1; }
	[ $status = "$want" ] || fail "tailor run --scope $scope -- $*: expected exit $want, got $status: $(cat "$dir/out" "$dir/err")"
}
expect() { # WHAT EXPECTED ACTUAL
	[ "$2" = "$3" ] || fail "--scope $scope, $1: expected $2, got $3"
}
report() { /usr/bin/python3 -c "import json; r = json.load(open('$dir/json')); print($1)"; } # EXPRESSION

# A forked child's words find no ear where the recorder does not get to run for 6 ms (agent/guest/README.md).  The trace then has none of
# them, or counts those that it lacks, and the recording is no evidence.  A machine that is busy starves a recorder less often than every
# other time, so a child that is not heard in this many recordings in a row is not heard for another reason: else 2^-22 = 2e-7.
TRIES=22
child() { # SECONDS: leaves the number of samples in the child's generated code in $n
	local try
	for try in $(seq $TRIES); do
		run 8 "$B/hosts/late_llvm" $((100 * $1)) child || return 1
		child=$(sed -n 's|^[0-9.]* \([0-9]*\)/[0-9]* FORK ppid=.*|\1|p' "$dir/dump" | head -n 1)
		n=$(report 'r["jit"]["samples"]')
		grep -q " $child/$child GUEST " "$dir/dump" && [ "$(report "'log full' in str(r['losses'])")" = False ] && return
		echo "--scope $scope: nobody listened to the child $child, or not always: $(report 'r["losses"]')"
	done
	fail "--scope $scope, late_llvm: the child was not heard, $TRIES times in a row"
	return 1
}

threads() { # SECONDS: leaves the number of samples in the threads' function in $n
	run 16 "$B/hosts/c11" $((100 * $1)) || return 1
	"$B/tailor" report --json --function work "$dir/t.tlr" >"$dir/json" || { fail "report --function work: exit $?"; return 1; }
	n=$(report 'r["samples"]["total"]')
}

gcc -c -x c -o "$dir/some.o" - <<<'int f(void) { return 1; }' || exit 1
for scope in cpu thread; do
	if command -v lli >/dev/null && gather 51 child; then
		whose=$(sed -n 's|^[0-9.]* \([0-9]*\)/.* IMAGE load_bias=0 flags=1 .*|\1|p' "$dir/dump")
		expect "the ELF of the child's JIT" "$child" "$whose"
		# it is announced before it runs
		expect "samples in the child's code that have a name" "$n" "$(report 'r["jit"]["named"]')"
	fi
	for host in fakejit fakejit-descriptor; do
		run 15 "$B/hosts/$host" "$B/hosts/libfakejit.so" "$dir/some.o" &&
			expect "$host: ELFs of a JIT that is loaded three times" 3 "$(grep -c ' IMAGE load_bias=0 flags=1 ' "$dir/dump")"
	done
	run 0 "$B/hosts/jit_in_sight" 100 && expect "registers of a JIT that need not keep to the ABI" "all as before" "$(cat "$dir/out")"
	if run 14 "$B/hosts/frames" where; then
		expect "records of call-frame information" "$(sed -n "s/^registered //p" "$dir/out")" "$(grep -c ' EH_FRAME ' "$dir/dump")"
		last=$(sed -n 's/.* EH_FRAME address=\([^ ]*\) .*/\1/p' "$dir/dump" | tail -n 1)
		expect "the last one's address" "0x$(head -n 1 "$dir/out")" "$last"
	fi
	# each does the same work, so if it is counted it has a third of these samples
	gather 100 threads &&
		expect "C11 threads with samples of their function" 3 "$(report 'sum(t["samples"] > 0 for t in r["threads"])')"
done
finish
