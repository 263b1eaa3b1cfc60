#!/bin/bash
# SPDX-License-Identifier: MIT
# Mutants of a store, in their pages, rows, schema and dates: each through report, check, diff, timeline, changes, add and gc, in 2 s of a
# processor and 512 MiB, or with the budget's sentence; and 3,000 in process under the address and undefined-behaviour sanitizers.
# MUTANTS: how many, of the commands.
set -u
B=$(cd "$1" && pwd)
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || { echo "skipped, because python3-msgpack is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
PYTHONPATH=tests /usr/bin/python3 tests/store_mutants.py "$B/tailor" "$dir" "${MUTANTS:-300}" "${CPU_SECONDS:-2}" || bad=1
make -s -j"$(nproc)" SAN=address,undefined B="$B/san-address" "$B/san-address/fuzz/fuzz_store" >"$dir/log" 2>&1 ||
	{ echo "make SAN=address,undefined:"; tail -n 20 "$dir/log"; exit 1; }
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1000:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
nice "$B/san-address/fuzz/fuzz_store" tests/fuzz/corpus/store 100 >"$dir/log" 2>&1
status=$?
if [ $status != 0 ] || grep -q 'runtime error' "$dir/log"; then
	echo "mutants of stores: expected exit 0 and no finding, got $status:"
	tail -n 60 "$dir/log"
	exit 1
fi
echo "FIGURE mutants of stores under sanitizers: $(tail -n 1 "$dir/log")"
exit $bad
