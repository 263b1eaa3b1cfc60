/* SPDX-License-Identifier: MIT */
/*
 * Registers call-frame information as JITs do: a list that ends, one whose end is missing and behind which nothing may be read, and an FDE
 * alone (LLVM's libunwind wants those).  libgcc 13 and later read to the end at once: there is one then, and the list without is left out.
 * Prints how many were registered, and where the last one's CIE lies, in hex, if asked to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
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

/* libgcc 13 and later look for the end of what is registered at once. */
static int reads_at_once(void)
{
	return dlvsym(RTLD_DEFAULT, "__extendbfsf2", "GCC_13.0.0") || dlvsym(RTLD_DEFAULT, "__truncsfbf2", "GCC_13.0.0");
}

int main(int argc, char **argv)
{
	unsigned char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *lone;
	int nr = 0;

	(void)argv;
	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		return 1;
	__register_frame(put_list(page)); /* zeros follow */
	nr++;
	if (!reads_at_once()) {
		__register_frame(put_list(page + 4096 - sizeof(cie) - sizeof(fde)));
		nr++;
	}
	lone = put_list(page + 3 * 4096 - sizeof(cie) - sizeof(fde) - (reads_at_once() ? 8 : 0));
	__register_frame(lone + sizeof(cie));
	nr++;
	if (argc > 1)
		printf("%lx\n", (unsigned long)(uintptr_t)lone);
	printf("registered %d\n", nr);
	return 14;
}
