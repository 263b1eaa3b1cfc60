/* SPDX-License-Identifier: MIT */
#include "agent/recorder/counting/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICKS_A_SECOND_MAX 1000000

/* "cpuN user nice system idle iowait ...", in ticks (proc_stat(5)). */
static bool read_idle_ticks(FILE *f, int cpu, uint64_t *ticks)
{
	char *line = NULL;
	size_t capacity = 0;
	uint64_t idle, iowait;
	bool found = false;
	int of;

	while (!found && getline(&line, &capacity, f) > 0 && strncmp(line, "cpu", 3) == 0)
		found = sscanf(line, "cpu%d %*u %*u %*u %" SCNu64 " %" SCNu64, &of, &idle, &iowait) == 3 && of == cpu;
	free(line);
	*ticks = found ? idle + iowait : 0;
	return found;
}

uint64_t counting_idle_time_ns(int cpu)
{
	long ticks_a_second = sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	uint64_t ticks = 0;

	if (f && ticks_a_second > 0 && ticks_a_second <= TICKS_A_SECOND_MAX)
		read_idle_ticks(f, cpu, &ticks);
	if (f)
		fclose(f);
	return ticks ? ticks * (1000000000ull / (uint64_t)ticks_a_second) : 0;
}

void counting_begin_idle_time(struct ring *r)
{
	r->idle.since_ns = counting_idle_time_ns(r->cpu);
}

void counting_end_idle_time(struct ring *r)
{
	uint64_t now_ns = counting_idle_time_ns(r->cpu);

	r->idle.ns += now_ns > r->idle.since_ns ? now_ns - r->idle.since_ns : 0;
	r->idle.since_ns = now_ns;
}

uint64_t counting_unsampled_idle_time(struct ring *r, int event, uint64_t value, uint64_t weight)
{
	struct ring_idle *i = &r->idle;
	uint64_t idle_ns = i->ns - i->told_ns[event], sampled = i->weight[event] - i->told_weight[event];
	uint64_t missing = idle_ns > sampled ? idle_ns - sampled : 0, room = value > weight ? value - weight : 0;

	i->told_ns[event] = i->ns;
	i->told_weight[event] = i->weight[event];
	return missing < room ? missing : room;
}
