/* SPDX-License-Identifier: MIT */
#include "jitreg/base/clock.h"

#include "jitreg/base/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NOT_READ INT64_MIN
#define SECONDS_MAX (INT64_MAX / 2000000000)

int64_t clock_parse_offsets(const char *text)
{
	const char *line = strstr(text, "monotonic");
	long long s, ns;

	if (!line || sscanf(line, "monotonic %lld %lld", &s, &ns) != 2 || s < -SECONDS_MAX || s > SECONDS_MAX || ns < 0 || ns > 999999999)
		return 0;
	return s * 1000000000 + ns;
}

static int64_t read_own_offset(void)
{
	char text[256];

	kernel_file_read("/proc/self/timens_offsets", text, sizeof(text));
	return clock_parse_offsets(text);
}

/* The namespace of a running process of ours does not change, so it is read once. Two threads may both read it, with one result. */
int64_t clock_ahead_ns(void)
{
	static int64_t ahead = NOT_READ;
	int64_t ns = __atomic_load_n(&ahead, __ATOMIC_RELAXED);

	if (ns == NOT_READ) {
		ns = read_own_offset();
		__atomic_store_n(&ahead, ns, __ATOMIC_RELAXED);
	}
	return ns;
}

uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - (uint64_t)clock_ahead_ns();
}
