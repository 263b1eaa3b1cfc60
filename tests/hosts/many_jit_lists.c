/* SPDX-License-Identifier: MIT */
/* A JIT that makes it hard to read its lists for debuggers: many_jit_lists OBJECT.  The list that the program exports is a ring; another
 * one, which no symbol leads to, has 300,000 entries, the oldest of which is the function hidden_hot, from the object file; 200,000 words
 * that look like a list stand before it.  Runs hidden_hot until it is killed; says on stderr when it has begun. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define ENTRIES 300000
#define VALID 1000 /* of these; the others have no object: a report on so many would take long */
#define DECOYS 200000

struct entry {
	struct entry *next, *prev;
	const void *symfile;
	uint64_t bytes;
};

struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};

struct descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };
static struct {
	struct descriptor decoy[DECOYS], list;
} data;
static char elf[1 << 16], odd[64];
static Elf64_Ehdr empty = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 }, .e_type = ET_REL, .e_machine = EM_X86_64,
			    .e_version = 1, .e_ehsize = sizeof(empty) };

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	size_t bytes = f ? fread(elf, 1, sizeof(elf), f) : 0;
	Elf64_Ehdr *h = (Elf64_Ehdr *)elf;
	Elf64_Shdr *s = (Elf64_Shdr *)(elf + h->e_shoff);
	uint64_t (*hot)(uint64_t) = NULL, x = 88172645463325252ull;
	struct entry *entry = calloc(ENTRIES, sizeof(*entry)), *ring = calloc(3, sizeof(*ring));
	char *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where only parents may look into a process */
	if (bytes < sizeof(*h) || code == MAP_FAILED || !entry || !ring)
		return 2;
	for (int i = 0; i < h->e_shnum; i++)
		if ((s[i].sh_flags & SHF_EXECINSTR) && s[i].sh_size) {
			memcpy(code, elf + s[i].sh_offset, s[i].sh_size);
			s[i].sh_addr = (uint64_t)(uintptr_t)code;
			hot = (uint64_t (*)(uint64_t))(uintptr_t)code;
		}
	if (!hot || mprotect(code, 65536, PROT_READ | PROT_EXEC))
		return 2;
	for (int i = 0; i < ENTRIES; i++)
		entry[i] = (struct entry){ i + 1 < ENTRIES ? &entry[i + 1] : NULL, i ? &entry[i - 1] : NULL,
					   i < VALID ? (void *)&empty : odd, sizeof(empty) };
	entry[ENTRIES - 1].symfile = elf;
	entry[ENTRIES - 1].bytes = bytes;
	for (int i = 0; i < 3; i++)
		ring[i] = (struct entry){ &ring[(i + 1) % 3], &ring[(i + 2) % 3], &empty, sizeof(empty) };
	for (int i = 0; i < DECOYS; i++)
		data.decoy[i] = (struct descriptor){ 1, 0, NULL, i % 2 ? &entry[1] : (void *)odd };
	__jit_debug_descriptor.first = ring;
	data.list = (struct descriptor){ 1, 0, NULL, entry };
	__asm__ volatile("" : : "r"(&data) : "memory"); /* others read it */
	fputs("begun\n", stderr);
	for (;;)
		x = hot(x);
}
