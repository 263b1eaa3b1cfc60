#!/bin/bash
# SPDX-License-Identifier: MIT
# Every fuzz target on its corpus and on mutations of it.  FUZZ_ROUNDS: mutations of each seed.
set -u
bad=0
ulimit -t 1200 # of processor time each: for what never ends, however busy the machine is
for target in "$1"/fuzz/fuzz_*; do
	[ -x "$target" ] && [ -f "$target" ] || continue
	name=$(basename "$target")
	# a hostile length may ask for more than there is: that must fail, not kill
	ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1000:${ASAN_OPTIONS:-} \
		"$target" "tests/fuzz/corpus/${name#fuzz_}" "${FUZZ_ROUNDS:-2000}" >"$1/fuzz/$name.log" 2>&1
	status=$?
	if [ $status = 0 ]; then
		echo "FIGURE $name: $(tail -n 1 "$1/fuzz/$name.log")"
	else
		echo "$target tests/fuzz/corpus/${name#fuzz_}: expected exit 0, got $status:"
		tail -n 40 "$1/fuzz/$name.log"
		bad=1
	fi
done
exit $bad
