/* SPDX-License-Identifier: MIT */
/*
 * An engine that has the system's compiler translate each query into a library, always of the same path:
 * recompiles PATH MILLISECONDS LIBRARY...: copies each LIBRARY to PATH, in the place of the one before, loads it, calls its work() for so
 * much processor time, and unloads it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char block[4096];
	size_t n;

	while (in && out && (n = fread(block, 1, sizeof(block), in)) > 0)
		fwrite(block, 1, n, out);
	if (!in || !out || fclose(in) || fclose(out)) {
		perror(to);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char *new;

	if (argc < 4 || asprintf(&new, "%s.new", argv[1]) < 0)
		return 2;
	for (int i = 3; i < argc; i++) {
		double end = processor_ms() + atof(argv[2]);
		void (*work)(void);
		void *library;

		copy(argv[i], new);
		if (rename(new, argv[1]))
			return 1;
		library = dlopen(argv[1], RTLD_NOW);
		work = library ? (void (*)(void))dlsym(library, "work") : NULL;
		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		while (processor_ms() < end)
			work();
		dlclose(library);
	}
	free(new);
	return 0;
}
