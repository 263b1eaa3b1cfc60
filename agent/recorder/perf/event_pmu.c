/* SPDX-License-Identifier: MIT */
/* This file identifies the processor and how well it can sample, from /proc/cpuinfo, sysfs and the page of a perf event, and opens files of
 * the kernel's tracepoints in tracefs. */
#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/perf_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices"

/* Returns the value of a line "key\t: value", or NULL if the line has another key. */
static const char *value_of_key(const char *line, const char *key)
{
	const char *colon = strchr(line, ':');
	size_t bytes = strlen(key);

	if (strncmp(line, key, bytes) != 0 || !colon || line[bytes + strspn(line + bytes, " \t")] != ':')
		return NULL;
	return colon + 1 + strspn(colon + 1, " \t");
}

static void read_processor_model(struct event_pmu *p)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[1024];
	const char *v;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f) && line[0] != '\n') { /* a blank line ends the first processor's part */
		if ((v = value_of_key(line, "vendor_id")) != NULL)
			p->vendor = strncmp(v, "GenuineIntel", 12) == 0 ? EVENT_VENDOR_INTEL :
				    strncmp(v, "AuthenticAMD", 12) == 0 ? EVENT_VENDOR_AMD : EVENT_VENDOR_OTHER;
		else if ((v = value_of_key(line, "CPU implementer")) != NULL)
			p->vendor = EVENT_VENDOR_ARM, p->family = (uint32_t)strtoul(v, NULL, 0);
		else if ((v = value_of_key(line, "cpu family")) != NULL)
			p->family = (uint32_t)strtoul(v, NULL, 0);
		else if ((v = value_of_key(line, "model")) != NULL || (v = value_of_key(line, "CPU part")) != NULL)
			p->model = (uint32_t)strtoul(v, NULL, 0);
	}
	fclose(f);
}

void event_pmu_read(struct event_pmu *out)
{
	struct perf_clock clock;
	static const char *const pmus[] = { "cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0" };
	char path[128];

	memset(out, 0, sizeof(*out));
	read_processor_model(out);
	out->counters = access(DEVICES, R_OK) != 0; /* without sysfs, counters are assumed until an event cannot be opened */
	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), DEVICES "/%s", pmus[i]);
		if (access(path, F_OK) != 0)
			continue;
		out->counters = true;
		strcat(path, "/caps/max_precise");
		f = fopen(path, "re");
		if (f) {
			if (fscanf(f, "%u", &out->max_precise) != 1 || out->max_precise > 3)
				out->max_precise = 0;
			fclose(f);
		}
		break;
	}
	out->perf_clock = out->vendor == EVENT_VENDOR_INTEL && out->max_precise && perf_clock_read(&clock);
	out->ibs = access(DEVICES "/ibs_op", F_OK) == 0;
	out->hybrid = access(DEVICES "/cpu_core", F_OK) == 0 && access(DEVICES "/cpu_atom", F_OK) == 0;
}

FILE *event_open_tracepoint_file(const char *tracepoint, const char *file)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128];
	FILE *f = NULL;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !f; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s", folders[i], tracepoint, file);
		f = fopen(path, "re");
	}
	return f;
}
