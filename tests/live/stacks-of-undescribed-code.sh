#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated code that comes without unwind information, and keeps no frame pointer: nearly every stack reaches the thread's root, by
# reading the code (LLVM's nounwind functions), or by what an adapter knows of its frames.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A program of which no compiler says anything: its code comes along in the trace.
cat >"$dir/undescribed.c" <<'END'
#include <stdlib.h>
#include <time.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) int deeper(int n)
{
	static int numbers[20000];

	for (int i = 0; i < 20000; i++)
		numbers[i] = rand();
	if (n > 0)
		return deeper(n - 1) + numbers[n];
	qsort(numbers, 20000, sizeof(int), compare);
	return numbers[7];
}
int main(void)
{
	for (time_t begin = time(NULL); time(NULL) < begin + 2;)
		deeper(5);
	return 0;
}
END
gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$dir/undescribed" "$dir/undescribed.c" || exit 1
timeout 60 "$B/tailor" run -q --stack 8192 --rate 1000 -o "$dir/t.tlr" -- "$dir/undescribed" || exit 1
"$B/tailor" unwind --check "$dir/t.tlr" >"$dir/out" || { cat "$dir/out"; exit 1; }
total=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' "$dir/out") complete=$(sed -n 's/^memo: \([0-9]*\) complete.*/\1/p' "$dir/out")
if [ "${total:-0}" -lt 500 ] || [ $((100 * ${complete:-0})) -lt $((98 * total)) ] ||
	! grep -q '^frames found by reading code' "$dir/out"; then
	echo "tailor unwind --check: expected 98 % or more of 500 or more stacks complete, by reading code, got:"
	cat "$dir/out"
	exit 1
fi
echo "FIGURE a program without unwind information: $complete of $total stacks complete"

out=$(timeout 300 /usr/bin/python3 tests/hosts/jits.py "$B" --check --stacks --seconds 1 \
	numba:gdb faust "pocl:image" "guile:perf map" ruby:adapter)
status=$?
printf '%s\n' "$out"
# the heading is no host
[ "$(printf '%s\n' "$out" | grep -c '^FIGURE')" -gt 1 ] || echo "none of the hosts is installed"
exit $status
