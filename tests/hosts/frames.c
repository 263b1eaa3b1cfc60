/* SPDX-License-Identifier: MIT */
/* Registers call-frame information as JITs do: a list that ends, one whose end is missing and behind which nothing may be
 * read, and an FDE alone (LLVM's libunwind wants those).  Prints where the last one's CIE lies, in hex, if asked to. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void __register_frame(void *);

static const unsigned char cie[] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0 };
static const unsigned char fde[] = { 20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

static unsigned char *put_list(unsigned char *at)
{
	memcpy(at, cie, sizeof(cie));
	memcpy(at + sizeof(cie), fde, sizeof(fde));
	return at;
}

int main(int argc, char **argv)
{
	unsigned char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *lone;

	(void)argv;
	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		return 1;
	__register_frame(put_list(page)); /* zeros follow */
	__register_frame(put_list(page + 4096 - sizeof(cie) - sizeof(fde)));
	lone = put_list(page + 3 * 4096 - sizeof(cie) - sizeof(fde));
	__register_frame(lone + sizeof(cie));
	if (argc > 1)
		printf("%lx\n", (unsigned long)(uintptr_t)lone);
	puts("registered");
	return 14;
}
