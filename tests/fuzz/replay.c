/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target on every file of a corpus folder and on mutations of it: replay CORPUS [ROUNDS [SEED MUTATION]].  The mutations are
 * the same every time, so a failure can be run again; with a seed's name and the number of one of its mutations, that one alone.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define INPUT_MAX (4u << 20)

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t n)
{
	return n ? (size_t)(next_random() % n) : 0;
}

/* A few of: flip a bit, set a byte or word to something that lengths are, cut, repeat a piece. */
static size_t mutate(uint8_t *data, size_t size)
{
	static const uint32_t words[] = { 0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0 };

	for (size_t n = 1 + below(6); n > 0 && size > 8; n--) {
		size_t at = below(size);

		switch (below(6)) {
		case 0:
		case 1:
			data[at] ^= (uint8_t)(1u << below(8));
			break;
		case 2:
			data[at] = (uint8_t)next_random();
			break;
		case 3:
			at = below(size - 4);
			memcpy(data + at, &words[below(sizeof(words) / sizeof(words[0]))], 4);
			break;
		case 4:
			size = 1 + at;
			break;
		case 5: {
			size_t from = below(size), bytes = below(size - (from > at ? from : at));

			memmove(data + at, data + from, bytes);
			break;
		}
		}
	}
	return size;
}

static double slowest_s;
static char slowest[300]; /* the seed and the number of its mutation that took slowest_s */

static void run_input(const char *seed, long mutation, const uint8_t *data, size_t size)
{
	clock_t begin = clock();
	double took_s;

	LLVMFuzzerTestOneInput(data, size);
	took_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
	if (took_s <= slowest_s)
		return;
	slowest_s = took_s;
	snprintf(slowest, sizeof(slowest), "%s %ld", seed, mutation);
}

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? atol(argv[2]) : 200, only = argc > 4 ? atol(argv[4]) : -1, files = 0, inputs = 0;
	static uint8_t seed[INPUT_MAX], data[INPUT_MAX];
	struct rusage used;
	struct dirent *e;
	DIR *d;

	if (argc < 2 || !(d = opendir(argv[1]))) {
		fprintf(stderr, "usage: %s CORPUS [ROUNDS [SEED MUTATION]]\n", argv[0]);
		return 2;
	}
	while ((e = readdir(d))) {
		char path[4096];
		size_t size;
		FILE *f;

		if (e->d_name[0] == '.' || (only >= 0 && strcmp(e->d_name, argv[3]) != 0))
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		f = fopen(path, "rb");
		if (!f)
			return 1;
		size = fread(seed, 1, sizeof(seed), f);
		fclose(f);
		files++;
		for (long n = only > 0 ? only : 0; n <= (only >= 0 ? only : rounds); n++) {
			/* Each mutation is made of its number: ROUNDS does not change the earlier ones.  Number 0 is the seed. */
			state = 0x9e3779b97f4a7c15ull * (uint64_t)n;
			memcpy(data, seed, size);
			run_input(e->d_name, n, data, n ? mutate(data, size) : size);
			inputs++;
		}
	}
	closedir(d);
	getrusage(RUSAGE_SELF, &used);
	printf("%ld seeds, %ld inputs, at most %.1f s of processor time each (%s) and %ld MiB\n", files, inputs, slowest_s,
	       slowest, used.ru_maxrss >> 10);
	return files ? 0 : 1;
}
