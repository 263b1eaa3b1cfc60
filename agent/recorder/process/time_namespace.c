/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/time_namespace.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/kernel_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINK_BYTES 64

/* Reads which namespace this is, such as "time:[4026531834]", or returns false. process: a number, or "self". */
static bool read_link(const char *process, const char *name, char link[LINK_BYTES])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, name);
	n = readlink(path, link, LINK_BYTES - 1);
	link[n > 0 ? n : 0] = 0;
	return n > 0;
}

static int64_t read_offset(const char *process)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", process);
	kernel_file_read(path, text, sizeof(text));
	return clock_parse_offsets(text);
}

/* The kernel shows the offsets of the namespace that the process's children are to have. After unshare(2) that is another one than its own,
 * which is then its parent's. */
int64_t time_namespace_ahead_ns(pid_t pid)
{
	char process[16], own[LINK_BYTES], next[LINK_BYTES], ours[LINK_BYTES];

	snprintf(process, sizeof(process), "%d", (int)pid);
	if (!read_link(process, "time", own) || !read_link(process, "time_for_children", next))
		return read_offset(process);
	if (read_link("self", "time", ours) && strcmp(own, ours) == 0)
		return clock_ahead_ns();
	return strcmp(own, next) == 0 ? read_offset(process) : 0;
}

uint64_t time_namespace_convert(uint64_t time_ns, int64_t ahead_ns)
{
	if (ahead_ns > 0 && time_ns <= (uint64_t)ahead_ns)
		return time_ns;
	return time_ns - (uint64_t)ahead_ns;
}
