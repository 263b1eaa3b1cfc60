/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/control_group.h"

#include "jitreg/base/regular_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_BYTES 16384

bool control_group_each(pid_t pid, void (*each)(void *context, const char *controllers, const char *path), void *context)
{
	char path[64], text[GROUPS_BYTES];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = regular_file_open(path);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = 0;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) { /* a line is N:CONTROLLERS:PATH */
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group = 0;
		each(context, controllers + 1, group + 1);
	}
	return true;
}
