/* SPDX-License-Identifier: MIT */
/*
 * A JIT that lives for a month in seconds: unloads PAIRS SECONDS.  Loads and unloads PAIRS code objects, keeps 1,000 loaded, says by how
 * much its own memory grew meanwhile, and then burns SECONDS in "kept code" (which it has announced and not taken back).
 */
#include "jitreg.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT 1000
#define SPACING 64

static volatile sig_atomic_t enough;

static void on_signal(int signo)
{
	(void)signo;
	enough = 1;
}

static long resident_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
	/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
	static const unsigned char loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
	unsigned long pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, dropped = 0;
	double seconds = argc > 2 ? atof(argv[2]) : 1;
	int until_signal = argc > 2 && strcmp(argv[2], "until-SIGTERM") == 0;
	unsigned char *code = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec begin, now;
	long before;

	if (code == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < KEPT; i++) {
		char name[32];

		memcpy(code + i * SPACING, loop, sizeof(loop));
		snprintf(name, sizeof(name), "kept_%u", i);
		jitreg_code_load((uintptr_t)(code + i * SPACING), sizeof(loop), i, name, loop);
	}
	if (until_signal)
		signal(SIGTERM, on_signal);
	before = resident_kib();
	for (unsigned long i = 0; i < pairs; i++) {
		unsigned char *at = code + (KEPT + i % 5000) * SPACING;

		dropped += jitreg_code_load((uintptr_t)at, sizeof(loop), KEPT + i, "short_lived", loop) != 0;
		dropped += jitreg_code_unload((uintptr_t)at, sizeof(loop)) != 0;
	}
	printf("dropped %lu grown_kib %ld\n", dropped, resident_kib() - before);
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (unsigned i = 0; i < KEPT; i++)
			((long (*)(long))(uintptr_t)(code + i * SPACING))(20000);
		if (!until_signal)
			clock_gettime(CLOCK_MONOTONIC, &now);
	} while (until_signal ? !enough :
		 (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	return 0;
}
