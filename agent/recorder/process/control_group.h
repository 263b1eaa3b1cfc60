/* SPDX-License-Identifier: MIT */
/* A process's control groups, as /proc/PID/cgroup has them.  Context: thread. */
#ifndef TAILOR_CONTROL_GROUP_H
#define TAILOR_CONTROL_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls each(context, controllers, path) for each of them: controllers are "" for version 2's one hierarchy, "cpu,cpuacct" or
 * "name=systemd" for one of version 1's; path begins with "/".  Both live as long as the call.  false: the process is gone. */
bool control_group_each(pid_t pid, void (*each)(void *context, const char *controllers, const char *path), void *context);

#endif
