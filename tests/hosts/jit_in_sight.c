/* SPDX-License-Identifier: MIT */
/*
 * A JIT whose compiler saw the empty function of the GDB JIT interface, and so calls it with values in registers that a call may clobber
 * by the ABI, and with any stack.  jit_in_sight ROUNDS: exit status 0 if all of them are as before in each round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Defines a function that calls with wide registers, and compares all of their bytes. */
#define CALL_WITH(name, feature, move, bytes, A, B, C, last, from_last) \
	__attribute__((noinline, target(feature))) static int name(void) \
	{ \
		unsigned char before[3 * (bytes) + 8], after[sizeof(before)] = { 0 }; \
\
		for (size_t i = 0; i < sizeof(before); i++) \
			before[i] = (unsigned char)(i + 1); \
		__asm__ volatile("movq %%rsp, %%r12\n" \
				 "	subq $256, %%rsp\n" \
				 "	andq $-16, %%rsp\n" \
				 "	" move " 0*" #bytes "(%0), %%" A "\n" \
				 "	" move " 1*" #bytes "(%0), %%" B "\n" \
				 "	" move " 2*" #bytes "(%0), %%" C "\n" \
				 "	" last "\n" \
				 "	call __jit_debug_register_code\n" \
				 "	" move " %%" A ", 0*" #bytes "(%1)\n" \
				 "	" move " %%" B ", 1*" #bytes "(%1)\n" \
				 "	" move " %%" C ", 2*" #bytes "(%1)\n" \
				 "	" from_last "\n" \
				 "	movq %%r12, %%rsp\n" \
				 : \
				 : "b"(before), "r"(after) \
				 : "rax", "r12", "xmm0", "xmm7", "xmm15", "memory"); \
		return memcmp(before, after, sizeof(before)) != 0; \
	}
CALL_WITH(call_avx, "avx", "vmovdqu", 32, "ymm0", "ymm7", "ymm15", "movq 96(%0), %%rax", "movq %%rax, 96(%1)")
CALL_WITH(call_avx512, "avx512bw", "vmovdqu64", 64, "zmm7", "zmm16", "zmm31", "kmovq 192(%0), %%k3", "kmovq %%k3, 192(%1)")

int main(int argc, char **argv)
{
	static const char elf[512] = "\177ELF that has nothing, and is copied by wide registers";
	static struct entry entries[] = { { NULL, NULL, "no object that is known", 23 }, { NULL, NULL, elf, sizeof(elf) } };
	int bad = 0;

	__builtin_cpu_init();
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
		__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = &entries[i % 2];
		__jit_debug_descriptor.action = 1;
		bad |= call(i % 2 ? 8 : 0);
		bad |= __builtin_cpu_supports("avx") && call_avx();
		bad |= __builtin_cpu_supports("avx512bw") && call_avx512();
	}
	puts(bad ? "a register has another value" : "all as before");
	return bad;
}
