#!/bin/bash
# SPDX-License-Identifier: MIT
# What a guest hears, and of whom: a JIT in a forked child is the child's, a JIT that is unloaded and loaded again is heard
# again, one that uses the program's descriptor is heard, an FDE that is registered alone comes with its CIE, and C11 threads
# are counted in scope thread.
. tests/live/begin.bash
run() { # STATUS HOST... : the trace is $dir/t.tlr, the host's output $dir/out
	want=$1
	shift
	timeout 100 "$B/tailor" run -q --scope "$scope" -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status = "$want" ] && return 0
	echo "tailor run --scope $scope -- $*: expected exit $want, got $status: $(cat "$dir/out" "$dir/err")"
	bad=1
	return 1
}
expect() { # WHAT EXPECTED ACTUAL
	[ "$2" = "$3" ] && return
	echo "--scope $scope, $1: expected $2, got $3"
	bad=1
}
dump() { "$B/tailor" dump "$dir/t.tlr"; }

gcc -c -x c -o "$dir/some.o" - <<<'int f(void) { return 1; }' || exit 1
for scope in cpu thread; do
	if command -v lli-14 >/dev/null && run 8 "$B/hosts/late_llvm" child; then
		child=$(dump | sed -n 's|^[0-9.]* \([0-9]*\)/[0-9]* FORK ppid=.*|\1|p' | head -n 1)
		expect "the ELF of the child's JIT" "$child" "$(dump | sed -n 's|^[0-9.]* \([0-9]*\)/.* IMAGE load_bias=0 flags=1 .*|\1|p')"
		named=$("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
j = json.load(sys.stdin)["jit"]
print("all" if j["samples"] > 50 and j["named"] >= 0.95 * j["samples"] else j)')
		expect "samples in the child's code that have a name" all "$named"
	fi
	for host in fakejit fakejit-descriptor; do
		run 15 "$B/hosts/$host" "$B/hosts/libfakejit.so" "$dir/some.o" &&
			expect "$host: ELFs of a JIT that is loaded three times" 3 "$(dump | grep -c ' IMAGE load_bias=0 flags=1 ')"
	done
	if run 14 "$B/hosts/frames" where; then
		expect "records of call-frame information" 3 "$(dump | grep -c ' EH_FRAME ')"
		last=$(dump | sed -n 's/.* EH_FRAME address=\([^ ]*\) .*/\1/p' | tail -n 1)
		expect "the last one's address" "0x$(head -n 1 "$dir/out")" "$last"
	fi
	if run 16 "$B/hosts/c11"; then
		threads=$("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
print(sum(t["samples"] > 10 for t in json.load(sys.stdin)["threads"]))')
		expect "C11 threads with samples" 3 "$threads"
	fi
done
exit $bad
