/* SPDX-License-Identifier: MIT */
/*
 * Code that no interface names, for SECONDS of processor time: nameless_code SECONDS [FILE].  Its memory is anonymous; with a FILE, that
 * file, which is deleted ("deleted": it has no name any more), or may be written.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BYTES 4096

/* mov ecx, 1000000; dec ecx; jnz -4; ret */
static const unsigned char code[] = { 0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
	int fd = argc > 2 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	void (*work)(void);
	void *p;

	if (argc > 2 && (fd < 0 || ftruncate(fd, BYTES) || (argc > 3 && strcmp(argv[3], "deleted") == 0 && unlink(argv[2]))))
		return 1;
	if (argc > 3) { /* two mappings: one for writing, one for running */
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			return 1;
		memcpy(p, code, sizeof(code));
		p = mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	} else {
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			memcpy(p, code, sizeof(code));
	}
	if (p == MAP_FAILED)
		return 1;
	*(void **)&work = p;
	do
		work();
	while (clock() < end);
	puts("done");
	return 0;
}
