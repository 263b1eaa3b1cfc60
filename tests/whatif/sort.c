/* SPDX-License-Identifier: MIT */
/*
 * OpenMP's tasks: sort COUNT THREADS.  Makes so many numbers, sorts them by merging, each half a task, and counts the different ones.
 * Prints how long it took, in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALONE 20000 /* numbers that one task sorts */

static void merge(const uint32_t *from, size_t middle, size_t nr, uint32_t *to)
{
	size_t a = 0, b = middle;

	for (size_t i = 0; i < nr; i++)
		to[i] = b == nr || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(uint32_t *numbers, size_t nr, uint32_t *room)
{
	const size_t middle = nr / 2;

	if (nr <= ALONE) {
		qsort(numbers, nr, sizeof(*numbers), compare);
		return;
	}
#pragma omp task
	sort(numbers, middle, room);
	sort(numbers + middle, nr - middle, room + middle);
#pragma omp taskwait
	merge(numbers, middle, nr, room);
	memcpy(numbers, room, nr * sizeof(*numbers));
}

static long sort_and_count(size_t nr, int threads)
{
	uint32_t *numbers = malloc(nr * sizeof(*numbers)), *room = malloc(nr * sizeof(*room));
	uint32_t state = 1;
	long different = 1;

	if (!numbers || !room)
		exit(1);
	for (size_t i = 0; i < nr; i++)
		numbers[i] = (state = state * 1103515245u + 12345u) >> 8;
#pragma omp parallel num_threads(threads)
#pragma omp single
	sort(numbers, nr, room);
	for (size_t i = 1; i < nr; i++)
		different += numbers[i] != numbers[i - 1];
	free(numbers);
	free(room);
	return different;
}

int main(int argc, char **argv)
{
	struct timespec from, to;
	long different = 0;

	if (argc != 3 || atol(argv[1]) < 1 || atoi(argv[2]) < 1)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 5; i++)
		different = sort_and_count((size_t)atol(argv[1]), atoi(argv[2]));
	clock_gettime(CLOCK_MONOTONIC, &to);
	fprintf(stderr, "%ld\n", different);
	printf("%lld\n", (long long)(to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
	return 0;
}
