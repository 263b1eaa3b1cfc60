/* SPDX-License-Identifier: MIT */
/* Lets the kernel work, for so many tenths of a second of its own processor time: kernel_work faults|calls TENTHS. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BYTES (16u << 20)

__attribute__((noinline)) static int faults(void)
{
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	madvise(p, BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BYTES; i += 4096)
		p[i] = 1;
	return munmap(p, BYTES);
}

__attribute__((noinline)) static int calls(int zero)
{
	static char to[4096];

	for (int i = 0; i < 1000; i++) {
		if (syscall(SYS_getpid) < 0 || read(zero, to, sizeof(to)) != sizeof(to))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (argc < 3 || zero < 0)
		return 2;
	while (clock() < atof(argv[2]) * CLOCKS_PER_SEC / 10)
		if (strcmp(argv[1], "calls") ? faults() : calls(zero))
			return 1;
	return 0;
}
