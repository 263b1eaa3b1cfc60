/* SPDX-License-Identifier: MIT */
/*
 * Finds the service that a process works for: the systemd unit or the container whose control group it is in, or the name that it gives
 * itself for OpenTelemetry, as /proc/PID/cgroup and /proc/PID/environ have it.  Context: thread.
 */
#ifndef TAILOR_SERVICE_H
#define TAILOR_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#define SERVICE_GROUP_BYTES 1024
#define SERVICE_NAME_BYTES 256

struct service {
	char group[SERVICE_GROUP_BYTES]; /* path of its control group, of version 2 or, if that is the root, of another; "": the root */
	char name[SERVICE_NAME_BYTES];	 /* OTEL_SERVICE_NAME, NAME.service, or the first 12 digits of a container's id; "": none */
};
/* Reads the service of a process.  false: the process is gone. */
bool service_read(pid_t pid, struct service *out);

/* A unit (NAME.service, NAME.scope, NAME.slice; without an ending it is a service), or a container, by its id (at least the first 12
 * digits) or by its name, which docker, podman, LXC and systemd-nspawn keep where root can read it.  The other member is NULL. */
struct service_wanted {
	const char *unit, *container;
};
/* Does this group, or one above it, belong to the wanted service?  Ids of containers that have the name are looked up at the first call. */
bool service_is_wanted(const struct service_wanted *w, const char *group);
/* Is this process in such a group?  false also where it has ended. */
bool service_has_process(const struct service_wanted *w, pid_t pid);
/* Calls each(context, pid) for all processes of the service, until it returns nonzero, and returns that; 0; -errno. */
int service_each_process(const struct service_wanted *w, int (*each)(void *context, pid_t pid), void *context);

#endif
