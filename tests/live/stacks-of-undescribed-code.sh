#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated code that comes without unwind information, and keeps no frame pointer: nearly every stack reaches the thread's root, by
# reading the code (LLVM's nounwind functions), or by what an adapter knows of its frames.
. tests/live/begin.bash

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
int main(int argc, char **argv)
{
	do
		deeper(5);
	while (clock() < atof(argv[argc - 1]) * CLOCKS_PER_SEC);
	return 0;
}
END
gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$dir/undescribed" "$dir/undescribed.c" || exit 1

rate=$(allowed_rate 4000)
record() { # SECONDS of processor time
	"$B/tailor" run -q --stack 8192 --rate "$rate" -o "$dir/t.tlr" -- "$dir/undescribed" "$1" &&
		"$B/tailor" unwind --check "$dir/t.tlr" >"$dir/out" || {
		fail "tailor run --stack 8192, unwind --check: exit $?: $(cat "$dir/out")"
		return 1
	}
	n=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' "$dir/out") complete=$(sed -n 's/^memo: \([0-9]*\) complete.*/\1/p' "$dir/out")
}
# A recording.  Nearly every stack is complete (all of 500, and of 5,000); without what is read from code next to none is: one
# block that agrees is enough.
block() {
	gather 500 record || { [ "$bad" = 0 ] && return 77 || return 2; }
	echo "FIGURE a program without unwind information: ${complete:-0} of $n stacks complete"
	[ $((100 * ${complete:-0})) -ge $((98 * n)) ] && grep -q '^frames by analysis of function prologues' "$dir/out" ||
		{ echo "unwind --check: expected 98 % or more of $n stacks complete, by prologues, got: $(cat "$dir/out")"; return 1; }
}
decide --sure "stacks of code without unwind information are complete" block

# Generated code that nothing registers, called by functions that keep no frame pointer (framed), or one (leaf, which has no frame).
cat >"$dir/generated.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
typedef void (*code)(long);
/* push rbp; mov rbp, rsp; 1: dec rdi; jnz 1b; pop rbp; ret */
static const unsigned char framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
/* 1: dec rdi; jnz 1b; ret */
static const unsigned char leaf[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
__attribute__((noinline, optimize("omit-frame-pointer"))) void without(code f, volatile long *x)
{
	for (long i = 0; i < 100; i++) {
		f(10000);
		*x += i;
	}
}
__attribute__((noinline, optimize("no-omit-frame-pointer"))) void with(code f, volatile long *x)
{
	for (long i = 0; i < 100; i++) {
		f(10000);
		*x += i;
	}
}
int main(int argc, char **argv)
{
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile long x = argc;

	memcpy(p, *argv[1] == 'f' ? framed : leaf, *argv[1] == 'f' ? sizeof(framed) : sizeof(leaf));
	do
		(*argv[1] == 'f' ? without : with)((code)p, &x);
	while (clock() < atof(argv[2]) * CLOCKS_PER_SEC);
	return 0;
}
END
gcc -O2 -o "$dir/generated" "$dir/generated.c" || exit 1
generated() { # KIND SECONDS
	"$B/tailor" run -q --stack 8192 --rate "$rate" -o "$dir/t.tlr" -- "$dir/generated" "$1" "$2" &&
		"$B/tailor" unwind --check "$dir/t.tlr" >"$dir/out" || {
		fail "tailor run --stack 8192, unwind --check: exit $?: $(cat "$dir/out")"
		return 1
	}
	n=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' "$dir/out") complete=$(sed -n 's/^memo: \([0-9]*\) complete.*/\1/p' "$dir/out")
}
# Of the first, nearly all stacks are complete, or none; of the second none may be by its frame pointer, which is its caller's.
framed() {
	gather 500 generated framed || { [ "$bad" = 0 ] && return 77 || return 2; }
	echo "FIGURE generated code with frame pointers that nothing registers: ${complete:-0} of $n stacks complete"
	[ $((100 * ${complete:-0})) -ge $((95 * n)) ] ||
		{ echo "unwind --check: expected 95 % or more of $n stacks complete, got: $(cat "$dir/out")"; return 1; }
}
decide --sure "stacks of unregistered code with frame pointers are complete" framed
if gather 500 generated leaf; then
	by_pointer=$(sed -n 's/^frames by frame pointer: \([0-9]*\).*/\1/p' "$dir/out")
	[ $((100 * ${by_pointer:-0})) -le $((2 * n)) ] ||
		fail "a leaf without a frame: expected its caller's frame pointer not to be taken for its own, got: $(cat "$dir/out")"
fi

judge /usr/bin/python3 tests/hosts/jits.py "$B" --check --stacks numba:gdb faust "pocl:image" "guile:perf map" ruby:adapter
finish
