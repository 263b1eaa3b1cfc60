/* SPDX-License-Identifier: MIT */
/*
 * A JIT whose compiler saw the empty function of the GDB JIT interface, and so calls it with values in registers that a call may clobber
 * by the ABI, and with any stack.  jit_in_sight ROUNDS: exit status 0 if all of them are as before in each round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
	struct entry *next, *prev;
	const char *address;
	uint64_t bytes;
};
extern struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor;
__typeof__(__jit_debug_descriptor) __jit_debug_descriptor = { 1, 0, 0, 0 };

__attribute__((noinline, aligned(16))) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

#define NR 12 /* nine registers, and three of vectors */

__attribute__((noinline, aligned(16))) static int call(uint64_t misaligned)
{
	uint64_t now[NR] = { 0 };
	int bad = 0;

	__asm__ volatile("movq %%rsp, %%r12\n"
			 "	subq $256, %%rsp\n"
			 "	andq $-16, %%rsp\n"
			 "	subq %1, %%rsp\n"
			 "	movq $1, %%rax\n"
			 "	movq $2, %%rcx\n"
			 "	movq $3, %%rdx\n"
			 "	movq $4, %%rsi\n"
			 "	movq $5, %%rdi\n"
			 "	movq $6, %%r8\n"
			 "	movq $7, %%r9\n"
			 "	movq $8, %%r10\n"
			 "	movq $9, %%r11\n"
			 "	movq $10, %%r13\n"
			 "	movq %%r13, %%xmm0\n"
			 "	incq %%r13\n"
			 "	movq %%r13, %%xmm7\n"
			 "	incq %%r13\n"
			 "	movq %%r13, %%xmm15\n"
			 "	call __jit_debug_register_code\n"
			 "	movq %%rax, 0(%0)\n"
			 "	movq %%rcx, 8(%0)\n"
			 "	movq %%rdx, 16(%0)\n"
			 "	movq %%rsi, 24(%0)\n"
			 "	movq %%rdi, 32(%0)\n"
			 "	movq %%r8, 40(%0)\n"
			 "	movq %%r9, 48(%0)\n"
			 "	movq %%r10, 56(%0)\n"
			 "	movq %%r11, 64(%0)\n"
			 "	movq %%xmm0, 72(%0)\n"
			 "	movq %%xmm7, 80(%0)\n"
			 "	movq %%xmm15, 88(%0)\n"
			 "	movq %%r12, %%rsp\n"
			 :
			 : "b"(now), "r"(misaligned)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "xmm0", "xmm7", "xmm15", "memory");
	for (uint64_t i = 0; i < NR; i++)
		bad |= now[i] != i + 1;
	return bad;
}

int main(int argc, char **argv)
{
	static struct entry entry = { NULL, NULL, "no object that is known", 23 };
	int bad = 0;

	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
		__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = &entry;
		__jit_debug_descriptor.action = 1;
		bad |= call(i % 2 ? 8 : 0);
	}
	puts(bad ? "a register has another value" : "all as before");
	return bad;
}
