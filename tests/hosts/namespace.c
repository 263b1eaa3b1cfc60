/* SPDX-License-Identifier: MIT */
/* A library in a namespace of its own (dlmopen), used and closed again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *h = dlmopen(LM_ID_NEWLM, "libz.so.1", RTLD_NOW);
	unsigned long (*checksum)(unsigned long, const char *, unsigned) = h ? (unsigned long (*)(unsigned long, const char *, unsigned))
		dlsym(h, "crc32") : NULL;
	unsigned long sum = 0;

	if (!checksum)
		return 77;
	for (int i = 0; i < 200000; i++)
		sum = checksum(sum, "some text that is long enough to take a while, again and again", 62);
	printf("%lx\n", sum);
	return dlclose(h) ? 1 : 12;
}
