/* SPDX-License-Identifier: MIT */
#include "agent/recorder/counting/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note_idle_time(struct ring_idle *i, uint64_t now_ns, bool goes_on)
{
	i->ns += i->since_ns && now_ns > i->since_ns ? now_ns - i->since_ns : 0;
	i->since_ns = goes_on ? now_ns : 0;
}

/* Reads /proc/stat ("cpuN user nice system idle iowait ...", in ticks: proc_stat(5)) once for all processors, because the kernel takes
 * milliseconds to write that file on a large machine. */
void counting_look_at_idle_time(struct counting *c, bool goes_on)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK), idle, iowait;
	FILE *f = c->rings.of_processors ? fopen("/proc/stat", "re") : NULL;
	char *line = NULL;
	size_t capacity = 0;
	int cpu;

	while (f && getline(&line, &capacity, f) > 0 && strncmp(line, "cpu", 3) == 0)
		if (sscanf(line, "cpu%d %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle, &iowait) == 3)
			for (size_t i = 0; i < c->rings.nr; i++)
				if (c->rings.at[i].cpu == cpu)
					note_idle_time(&c->rings.at[i].idle, (idle + iowait) * tick_ns, goes_on);
	free(line);
	if (f)
		fclose(f);
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
