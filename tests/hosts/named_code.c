/* SPDX-License-Identifier: MIT */
/*
 * A JIT that tells of its code in a perf map only, late, and puts other code at the same address: named_code [silent].  Each step lasts
 * until a byte of standard input: the first function without a name, with its name, the second with its name.  Prints the bytes of
 * both.  silent: it tells nobody, and there is the first function only.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov rax, rdi; mov ecx, 1000000; loop: <step>; dec ecx; jnz loop; ret */
static const unsigned char first[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x0f, 0xaf, 0xc7,
				       0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };
static const unsigned char second[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x31, 0xf8, 0x48, 0xd1,
					0xc0, 0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf3, 0xc3 };

static uint64_t (*function)(uint64_t), x = 3;

static void run_until_told(void)
{
	struct pollfd told = { STDIN_FILENO, POLLIN, 0 };
	char byte;

	do
		x = function(x);
	while (poll(&told, 1, 0) == 0);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		_exit(3); /* nobody is there to tell */
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
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool silent = argc > 1 && strcmp(argv[1], "silent") == 0;
	char path[64];
	FILE *f;

	if (code == MAP_FAILED)
		return 2;
	function = (uint64_t (*)(uint64_t))(uintptr_t)code;
	memcpy(code, first, sizeof(first));
	if (silent) {
		run_until_told();
		return x == 0;
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f)
		return 2;
	run_until_told();
	fprintf(f, "%lx %zx first\n", (unsigned long)(uintptr_t)code, sizeof(first));
	fflush(f);
	run_until_told();
	memcpy(code, second, sizeof(second));
	fprintf(f, "%lx %zx second\n", (unsigned long)(uintptr_t)code, sizeof(second));
	fflush(f);
	run_until_told();
	fclose(f);
	unlink(path);
	put("first", first, sizeof(first));
	put("second", second, sizeof(second));
	return x == 0;
}
