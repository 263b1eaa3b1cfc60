/* SPDX-License-Identifier: MIT */
/*
 * This module finds the service that a process works for. This is the name that its environment has for OpenTelemetry, or else the systemd
 * unit or the container whose control group it is in. These are read from /proc/PID/environ and /proc/PID/cgroup. The module also finds the
 * processes of a service that the user wants. Context: thread.
 */
#ifndef TAILOR_SERVICE_H
#define TAILOR_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#define SERVICE_GROUP_BYTES 1024
#define SERVICE_NAME_BYTES 256
/* This is what a user is told in a control group namespace, in which /proc shows the groups of a container as the root. */
#define SERVICE_GROUPS_HIDDEN "names of control groups are hidden by a control group namespace; record outside of the container"

struct service {
	char group[SERVICE_GROUP_BYTES]; /* path of its control group, of version 2 or, if that is the root, of another; "": the root */
	char name[SERVICE_NAME_BYTES];	 /* OpenTelemetry's name, NAME.service, or the first 12 digits of a container's id; "": none */
};
/* Reads the service of a process.  Returns false if the process is gone, or its control groups cannot be read. */
bool service_read(pid_t pid, struct service *out);

/* This struct is the service that a user wants, a unit (NAME.service, NAME.scope, NAME.slice; without an ending it is a service) or a
 * container. A container is given by its id (at least the first 12 digits) or by its name, which docker and podman have in files that root
 * can read, and LXC and systemd-nspawn in the name of its control group. The other member is NULL. */
struct service_wanted {
	const char *unit, *container;
};
/* Is this control group, or one above it, that of the wanted service?  The id of a container that is given by its name is looked up only
 * once, also if it is not found. */
bool service_is_wanted(const struct service_wanted *w, const char *group);
/* Is this process in such a group?  Returns false also if its groups cannot be read, as when it is gone. */
bool service_has_process(const struct service_wanted *w, pid_t pid);
/* Calls each(context, pid) for all processes of the service, until it returns nonzero.  Returns what each() returned last, 0, or -errno if
 * /proc cannot be read. */
int service_each_process(const struct service_wanted *w, int (*each)(void *context, pid_t pid), void *context);

#endif
