/* SPDX-License-Identifier: MIT */
/* TinyCC as a library: tcc SECONDS ROUNDS_FILE.  Two functions, one called three times as often. */
#include <libtcc.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char source[] =
	"int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
	"int bif(int n) { return n < 2 ? n : bif(n - 1) + bif(n - 2); }\n"
	"int work(void) { return fib(20) + fib(20) + fib(20) + bif(20); }\n";

int main(int argc, char **argv)
{
	TCCState *s = tcc_new();
	int (*work)(void);
	long rounds = 0;
	int result;
	clock_t end;
	FILE *f;

	if (argc < 3)
		return 1;
	tcc_set_options(s, "-nostdlib -nostdinc");
	tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
	if (tcc_compile_string(s, source) || tcc_relocate(s, TCC_RELOCATE_AUTO) < 0)
		return 1;
	*(void **)&work = tcc_get_symbol(s, "work");
	end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	do {
		result = work();
		rounds++;
	} while (clock() < end);
	printf("result %d\n", result);
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
