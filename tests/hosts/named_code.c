/* SPDX-License-Identifier: MIT */
/* A JIT that tells of its code in a perf map only, late, and puts other code at the same address: named_code [SECONDS [silent]].
 * Prints the bytes of both.  silent: it tells nobody. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov rax, rdi; mov ecx, 1000000; loop: <step>; dec ecx; jnz loop; ret */
static const unsigned char first[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x0f, 0xaf, 0xc7,
				       0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };
static const unsigned char second[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x31, 0xf8, 0x48, 0xd1,
					0xc0, 0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf3, 0xc3 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(const char *name, const unsigned char *bytes, size_t nr)
{
	printf("%s ", name);
	for (size_t i = 0; i < nr; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2, begin = now();
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*function)(uint64_t) = (uint64_t (*)(uint64_t))(uintptr_t)code, x = 3;
	char path[64];
	FILE *f;

	if (code == MAP_FAILED)
		return 2;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(argc > 2 ? "/dev/null" : path, "w");
	if (!f)
		return 2;
	memcpy(code, first, sizeof(first));
	while (now() < begin + seconds / 8)
		x = function(x);
	fprintf(f, "%lx %zx first\n", (unsigned long)(uintptr_t)code, sizeof(first));
	fflush(f);
	while (now() < begin + (argc > 2 ? seconds : seconds / 2))
		x = function(x);
	memcpy(code, second, sizeof(second));
	fprintf(f, "%lx %zx second\n", (unsigned long)(uintptr_t)code, sizeof(second));
	fflush(f);
	while (now() < begin + seconds)
		x = function(x);
	fclose(f);
	unlink(path);
	put("first", first, sizeof(first));
	put("second", second, sizeof(second));
	return x == 0;
}
