/* SPDX-License-Identifier: MIT */
/* ORC, the Oil Runtime Compiler: orc SECONDS ROUNDS_FILE.  Two programs over arrays, one run three times as often. */
#include <orc/orc.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 4000

static OrcProgram *compile(const char *name)
{
	OrcProgram *p = orc_program_new_dss(2, 2, 2);

	orc_program_set_name(p, name);
	orc_program_add_temporary(p, 2, "t");
	orc_program_append_str(p, "mullw", "t", "s1", "s2");
	for (int i = 0; i < 3; i++) {
		orc_program_append_str(p, "mullw", "t", "t", "s2");
		orc_program_append_str(p, "addw", "t", "t", "s1");
	}
	orc_program_append_ds_str(p, "copyw", "d1", "t");
	if (!ORC_COMPILE_RESULT_IS_SUCCESSFUL(orc_program_compile(p)))
		exit(1);
	return p;
}

static void run(OrcProgram *p, short *d, short *a, short *b)
{
	OrcExecutor *e = orc_executor_new(p);

	orc_executor_set_n(e, N);
	orc_executor_set_array_str(e, "d1", d);
	orc_executor_set_array_str(e, "s1", a);
	orc_executor_set_array_str(e, "s2", b);
	for (int i = 0; i < 200; i++)
		orc_executor_run(e);
	orc_executor_free(e);
}

int main(int argc, char **argv)
{
	static short a[N], b[N], d[N];
	OrcProgram *fib, *bif;
	long rounds = 0;
	clock_t end;
	FILE *f;

	if (argc < 3)
		return 1;
	orc_init();
	fib = compile("fib");
	bif = compile("bif");
	for (int i = 0; i < N; i++) {
		a[i] = (short)i;
		b[i] = (short)(i % 7);
	}
	end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	do {
		run(fib, d, a, b);
		run(fib, d, a, b);
		run(fib, d, a, b);
		run(bif, d, a, b);
		rounds++;
	} while (clock() < end);
	printf("computed %d\n", d[7]);
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
