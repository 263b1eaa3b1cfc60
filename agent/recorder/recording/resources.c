/* SPDX-License-Identifier: MIT */
/*
 * Writes values that the kernel has of a process's use of resources, when it is added to the recording or its program begins, and when the
 * recording or the command ends. They are the processors and the quota that it may use, limits of its disks, times of running and of
 * waiting for a processor, bytes that it has read and written, and stalls of the machine (PSI). A report compares its own sums with these.
 * Values that cannot be read are left out.
 */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/process/control_group.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/regular_file.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define RECORDS_MAX 512u /* number of records at which no "start" record is added any more; "end" records are, up to twice as many */
#define VALUES_MAX 24

struct values {
	struct trace_named_value of[VALUES_MAX];
	size_t nr;
};

static void add_value(struct values *v, const char *name, uint64_t value)
{
	if (v->nr < VALUES_MAX)
		v->of[v->nr++] = (struct trace_named_value){ .name = trace_string(name), .value = value };
}

static void add_processors(struct values *v, pid_t pid)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) == 0)
		add_value(v, "processors", (uint64_t)CPU_COUNT(&set));
}

/* Adds numbers from lines "KEY NUMBER" or "KEY: NUMBER" of a file.  names: pairs of a key and the name that the value gets in the trace. */
static void add_lines(struct values *v, const char *path, const char *const names[][2], size_t nr)
{
	int fd = regular_file_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[160], key[64];
	unsigned long long number;

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < nr; i++)
			if (sscanf(line, "%63[^ :]%*[ :]%llu", key, &number) == 2 && strcmp(key, names[i][0]) == 0)
				add_value(v, names[i][1], number);
	if (f)
		fclose(f);
}

struct group {
	const char *controller;
	char folder[448]; /* path of the group's folder, which is in /sys/fs/cgroup; "": there is none */
	bool second; /* the group is of version 2 */
};

static bool has_controller(const char *controllers, const char *name)
{
	for (const char *c = controllers; *c; c += strcspn(c, ",") + (c[strcspn(c, ",")] == ','))
		if (strcspn(c, ",") == strlen(name) && strncmp(c, name, strlen(name)) == 0)
			return true;
	return false;
}

/* Takes the group of version 1 that has the controller, or else that of version 2's one hierarchy. */
static void take_group(void *context, const char *controllers, const char *path)
{
	struct group *g = context;
	const bool first = has_controller(controllers, g->controller);

	path = strcmp(path, "/") ? path : "";
	if (first)
		snprintf(g->folder, sizeof(g->folder), "/sys/fs/cgroup/%.16s%.400s", g->controller, path);
	else if (!*controllers && !*g->folder)
		snprintf(g->folder, sizeof(g->folder), "/sys/fs/cgroup%.400s", path);
	else
		return;
	g->second = !first;
}

static void add_quota(struct values *v, pid_t pid)
{
	static const char *const names[][2] = { { "nr_throttled", "throttled" }, { "throttled_time", "throttled_ns" },
						{ "throttled_usec", "throttled_us" } };
	struct group g = { .controller = "cpu" };
	long long quota = -1, period = 0;
	char path[480];
	FILE *f;

	if (!control_group_each(pid, take_group, &g) || !*g.folder)
		return;
	if (g.second) {
		snprintf(path, sizeof(path), "%s/cpu.max", g.folder);
		f = fopen(path, "re");
		if (f && fscanf(f, "%lld %lld", &quota, &period) != 2)
			quota = -1; /* the file has "max" instead of a number, which means no quota */
		if (f)
			fclose(f);
	} else {
		snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", g.folder);
		proc_read_number(path, &quota);
		snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", g.folder);
		proc_read_number(path, &period);
	}
	if (quota > 0 && period > 0) {
		add_value(v, "quota_us", (uint64_t)quota);
		add_value(v, "quota_period_us", (uint64_t)period);
	}
	snprintf(path, sizeof(path), "%s/cpu.stat", g.folder);
	add_lines(v, path, names, sizeof(names) / sizeof(names[0]));
}

/* Adds the least limit of all devices.  The file has lines "DEVICE NUMBER" (key: " ") or "DEVICE KEY=NUMBER ...", in which a number may be
 * "max".  Adds nothing if there is no limit. */
static void add_least(struct values *v, const char *path, const char *key, const char *name)
{
	FILE *f = fopen(path, "re");
	unsigned long long least = 0, number;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, key);

		if (at && sscanf(at + strlen(key), "%llu", &number) == 1 && number && (!least || number < least))
			least = number;
	}
	if (f)
		fclose(f);
	if (least)
		add_value(v, name, least);
}

static void add_disk_limits(struct values *v, pid_t pid)
{
	static const char *const of[][3] = { { "read", " rbps=", "disk_read_limit" }, { "write", " wbps=", "disk_write_limit" } };
	struct group g = { .controller = "blkio" };
	char path[512];

	if (!control_group_each(pid, take_group, &g) || !*g.folder)
		return;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (g.second)
			snprintf(path, sizeof(path), "%s/io.max", g.folder);
		else
			snprintf(path, sizeof(path), "%s/blkio.throttle.%s_bps_device", g.folder, of[i][0]);
		add_least(v, path, g.second ? of[i][1] : " ", of[i][2]);
	}
}

/* Adds the times of thread pid alone, the first one unless that has ended before others.  The sum of all threads would lack those that have
 * ended. */
static void add_schedule(struct values *v, pid_t pid)
{
	unsigned long long ran, waited;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu %llu", &ran, &waited) == 2) {
		add_value(v, "ran_ns", ran);
		add_value(v, "queued_ns", waited);
	}
	if (f)
		fclose(f);
}

static void add_pressure(struct values *v, const char *what, const char *name)
{
	char path[40], line[160];
	unsigned long long total;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/pressure/%s", what);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) && sscanf(line, "some avg10=%*f avg60=%*f avg300=%*f total=%llu", &total) == 1)
		add_value(v, name, total);
	if (f)
		fclose(f);
}

void recording_write_resources(struct recording *r, uint32_t pid, const char *when, uint64_t time_ns)
{
	static const char *const bytes[][2] = { { "read_bytes", "read_bytes" }, { "write_bytes", "write_bytes" },
						{ "rchar", "read_calls_bytes" }, { "wchar", "write_calls_bytes" } };
	const pid_t here = (pid_t)proc_mem_number_in_proc(pid);
	struct values v = { .nr = 0 };
	char path[64];

	if (r->nr_resource_records >= (strcmp(when, "end") == 0 ? 2 * RECORDS_MAX : RECORDS_MAX))
		return;
	add_processors(&v, here);
	add_quota(&v, here);
	add_disk_limits(&v, here);
	add_schedule(&v, here);
	snprintf(path, sizeof(path), "/proc/%d/io", (int)here);
	add_lines(&v, path, bytes, sizeof(bytes) / sizeof(bytes[0]));
	add_pressure(&v, "cpu", "pressure_cpu_us");
	add_pressure(&v, "io", "pressure_io_us");
	add_pressure(&v, "memory", "pressure_memory_us");
	if (!v.nr)
		return;
	r->nr_resource_records++;
	TRACE_PUT(r->writer, resources, time_ns, pid, 0, .when = trace_string(when), .values = { v.of, v.nr });
}
