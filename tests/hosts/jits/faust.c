/* SPDX-License-Identifier: MIT */
/* Faust: faust SECONDS ROUNDS_FILE.  Compiles an effect with its LLVM back end and computes blocks. */
#include <faust/dsp/llvm-dsp-c.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAMES 4096

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	static float in[FRAMES], out[FRAMES], *ins[] = { in }, *outs[] = { out };
	const char *options[] = { "-vec" };
	char error[4096];
	llvm_dsp_factory *factory;
	llvm_dsp *dsp;
	long rounds = 0;
	double end;
	FILE *f;

	if (argc < 3)
		return 1;
	factory = createCDSPFactoryFromString("effect", "process = seq(i, 40, _ <: _, *(0.3) :> + ~ *(0.5));", 0, options, "", error, -1);
	if (!factory) {
		fputs(error, stderr);
		return 1;
	}
	dsp = createCDSPInstance(factory);
	initCDSPInstance(dsp, 48000);
	end = now() + atof(argv[1]);
	while (now() < end) {
		for (int i = 0; i < FRAMES; i++)
			in[i] = (float)(i % 7);
		computeCDSPInstance(dsp, FRAMES, ins, outs);
		rounds++;
	}
	printf("computed\n");
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
