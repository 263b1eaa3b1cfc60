#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that confines itself by SECCOMP_MODE_STRICT is killed at any system call but four, and at reading the time: the agent makes none
# in it any more.  What was registered before, and by other threads, is in the trace.
. tests/live/begin.bash
host=$B/hosts/confined
"$host" prctl
[ $? = 6 ] || { echo "skipped, because this machine has no SECCOMP_MODE_STRICT"; exit 77; }
functions() { "$B/tailor" dump "$dir/t.tlr" | grep -c " LOAD .*name=\"$1\""; }
# A host does not wait for a recorder that does not come to run for 80 ms, and is not heard then; so a missing function may be tried again.
for sampler in auto signal timer; do
	for how in prctl seccomp syscall-prctl; do
		for where in "" thread child; do
			for try in 1 2 3 4; do
				timeout "$PATIENCE_S" "$B/tailor" run -q --sampler $sampler -o "$dir/t.tlr" -- \
					"$host" $how $where >"$dir/out" 2>"$dir/err"
				status=$?
				[ $status = 6 ] || fail "sampler $sampler, $how $where: expected exit 6, got $status: $(cat "$dir/err")"
				before=$(functions before) other=$(functions 'other thread')
				[ $status = 6 ] && [ "$before" != 10 ] && [ $try -lt 4 ] || break
			done
			[ "$before" = 10 ] || fail "sampler $sampler, $how $where: expected the 10 functions registered before"
			[ "$where" != thread ] || [ "$other" = 10 ] ||
				fail "sampler $sampler, $how $where: expected the 10 functions of the other thread"
		done
	done
done
timeout "$PATIENCE_S" "$B/tailor" run -q -o "$dir/t.tlr" -- "$host" calls
status=$?
[ $status = 6 ] || fail "system calls by syscall(): expected exit 6, got $status"
[ "$("$B/tailor" dump "$dir/t.tlr" | grep -c ' LOAD .*name="still heard"')" = 10 ] ||
	fail "expected the 10 functions that were registered after a refused SECCOMP_SET_MODE_STRICT"
finish
