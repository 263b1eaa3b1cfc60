/* SPDX-License-Identifier: MIT */
/* This module reads a process's control groups from /proc/PID/cgroup. Context: thread. */
#ifndef TAILOR_CONTROL_GROUP_H
#define TAILOR_CONTROL_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls each(context, controllers, path) for each group.  controllers is "" for the one hierarchy of version 2, and "cpu,cpuacct" or
 * "name=systemd", for example, for one of version 1.  path begins with "/".  Both are valid during the call.  Groups behind the first
 * 16 KiB of the file are not read.  Returns false if the process is gone or the file cannot be read. */
bool control_group_each(pid_t pid, void (*each)(void *context, const char *controllers, const char *path), void *context);

#endif
