/* SPDX-License-Identifier: MIT */
/* A library that announces an ELF through the GDB JIT interface, as JITs do; the host (HOST) loads it, has it announce the
 * same ELF, and unloads it, three times. */
#ifndef HOST
#include <stdint.h>

struct entry {
	struct entry *next, *prev;
	const char *address;
	uint64_t bytes;
};
struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = { 1, 0, 0, 0 };

__attribute__((noinline, aligned(16))) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

void announce(const char *elf, uint64_t bytes)
{
	static struct entry e;

	e = (struct entry){ 0, 0, elf, bytes };
	__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = &e;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
}
#else
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#ifdef DESCRIPTOR /* of the program's own: the library uses this one */
struct {
	uint32_t version, action;
	void *relevant, *first;
} __jit_debug_descriptor = { 1, 0, 0, 0 };
__attribute__((noinline, aligned(16))) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

int main(int argc, char **argv)
{
	static char elf[1 << 20];
	FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
	size_t bytes = f ? fread(elf, 1, sizeof(elf), f) : 0;

	if (!bytes)
		return 1;
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*announce)(const char *, uint64_t);

		if (!library || !(*(void **)&announce = dlsym(library, "announce")))
			return 2;
		announce(elf, bytes);
		dlclose(library);
	}
	return 15;
}
#endif
