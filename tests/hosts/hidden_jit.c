/* SPDX-License-Identifier: MIT */
/* A JIT whose list for debuggers no symbol leads to: hidden_jit OBJECT SECONDS.  "Compiles" the function hidden_hot, from an object
 * file, runs it once, registers it, and runs it for SECONDS of processor time; beside the list stands what looks like one and is none.
 * Says on stderr when it has begun, and stays until its stdin has ended.  UNPATCHED: the list is exported, and the function that tells
 * debuggers of it is not empty. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef HOT
uint64_t hidden_hot(uint64_t x)
{
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}
#else
struct entry {
	struct entry *next, *prev;
	const char *symfile;
	uint64_t bytes;
};
struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};
static char elf[1 << 16];
static const char text[4096] = "no ELF";
static struct entry others[3] = {
	{ NULL, NULL, text, sizeof(text) }, { NULL, &others[0], elf, sizeof(elf) }, { &others[2], &others[2], elf, sizeof(elf) },
};
static struct descriptor decoys[3] = {
	{ 1, 1, &others[0], &others[0] }, { 1, 1, &others[1], &others[1] }, { 1, 0, NULL, &others[2] },
};
#ifdef UNPATCHED
#define list __jit_debug_descriptor
struct descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };
int jit_calls;
__attribute__((noinline)) void __jit_debug_register_code(void)
{
	jit_calls++;
}
#else
static struct descriptor list = { 1, 0, NULL, NULL };
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	size_t bytes = f ? fread(elf, 1, sizeof(elf), f) : 0;
	double end = now() + (argc > 2 ? atof(argv[2]) : 2);
	Elf64_Ehdr *h = (Elf64_Ehdr *)elf;
	Elf64_Shdr *s = (Elf64_Shdr *)(elf + h->e_shoff);
	uint64_t (*hot)(uint64_t) = NULL, x = 88172645463325252ull;
	static struct entry mine;
	char *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where only parents may look into a process */
	if (bytes < sizeof(*h) || code == MAP_FAILED)
		return 2;
	for (int i = 0; i < h->e_shnum; i++)
		if ((s[i].sh_flags & SHF_EXECINSTR) && s[i].sh_size) {
			memcpy(code, elf + s[i].sh_offset, s[i].sh_size);
			s[i].sh_addr = (uint64_t)(uintptr_t)code;
			hot = (uint64_t (*)(uint64_t))(uintptr_t)code;
		}
	if (!hot || mprotect(code, 65536, PROT_READ | PROT_EXEC))
		return 2;
	decoys[2].version = decoys[0].version; /* they are not constants */
	x = hot(x);
	mine = (struct entry){ NULL, NULL, elf, bytes };
	list.relevant = list.first = &mine;
	list.action = 1;
#ifdef UNPATCHED
	__jit_debug_register_code();
#endif
	x = hot(x);
	fputs("begun\n", stderr);
	while (now() < end)
		x = hot(x);
	while (getchar() != EOF)
		;
	printf("%d\n", x != 0 && list.first == &mine && decoys[1].first == &others[1]);
	return 0;
}
#endif
