#!/bin/bash
# SPDX-License-Identifier: MIT
# Every fuzz target on its corpus and on mutations of it.  FUZZ_ROUNDS: mutations of each seed, of all views of a trace; without it 200,
# but a trace's mutations have all views 25 times, and three, each time others, 200 times, and a store's, of which each is written, asked
# and tended, are 100.
set -u
B=$1
bad=0
ulimit -t 1200 # of processor time each: for what never ends, however busy the machine is
replay() { # NAME ROUNDS
	# a hostile length may ask for more than there is: that must fail, not kill
	ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1000:${ASAN_OPTIONS:-} \
		"$B/fuzz/$1" "tests/fuzz/corpus/${1#fuzz_}" "$2" >"$B/fuzz/$1.log" 2>&1
	local status=$?
	if [ $status = 0 ]; then
		echo "FIGURE $1: $(tail -n 1 "$B/fuzz/$1.log")${FUZZ_VIEWS:+, $FUZZ_VIEWS views each}"
	else
		echo "$B/fuzz/$1 tests/fuzz/corpus/${1#fuzz_}: expected exit 0, got $status:"
		tail -n 40 "$B/fuzz/$1.log"
		bad=1
	fi
}
for target in "$B"/fuzz/fuzz_*; do
	[ -x "$target" ] && [ -f "$target" ] || continue
	name=$(basename "$target")
	if [ "$name" = fuzz_trace ] && [ -z "${FUZZ_ROUNDS:-}" ]; then
		replay "$name" 25
		FUZZ_VIEWS=3 replay "$name" 200
	elif [ "$name" = fuzz_store ]; then
		replay "$name" "${FUZZ_ROUNDS:-100}"
	else
		replay "$name" "${FUZZ_ROUNDS:-200}"
	fi
done
exit $bad
