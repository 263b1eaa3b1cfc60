/* SPDX-License-Identifier: MIT */
/* PCRE2: pcre2 SECONDS ROUNDS_FILE.  Two patterns of the same cost, one matched three times as often. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 20000

static pcre2_code *compile(const char *pattern)
{
	int error;
	size_t at;
	pcre2_code *c = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);

	if (!c || pcre2_jit_compile(c, PCRE2_JIT_COMPLETE))
		exit(1);
	return c;
}

static int count(const pcre2_code *c, const char *text)
{
	pcre2_match_data *m = pcre2_match_data_create_from_pattern(c, NULL);
	size_t at = 0;
	int n = 0;

	while (pcre2_jit_match(c, (PCRE2_SPTR)text, TEXT_BYTES, at, 0, m, NULL) > 0) {
		at = pcre2_get_ovector_pointer(m)[1];
		n++;
	}
	pcre2_match_data_free(m);
	return n;
}

int main(int argc, char **argv)
{
	pcre2_code *fib, *bif;
	static char text[TEXT_BYTES + 1];
	long rounds = 0, result = 0;
	clock_t end;
	FILE *f;

	if (argc < 3)
		return 1;
	fib = compile("[f-m]+?k[g-m]+[01]");
	bif = compile("[f-m]+?k[g-m]+[23]");
	for (int i = 0; i < TEXT_BYTES; i++)
		text[i] = i % 50 == 0 ? ' ' : (char)('g' + i % 6);
	end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	do {
		result = count(fib, text) + count(fib, text) + count(fib, text) + count(bif, text);
		rounds++;
	} while (clock() < end);
	printf("result %ld\n", result);
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
