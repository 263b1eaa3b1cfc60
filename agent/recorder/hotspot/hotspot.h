/* SPDX-License-Identifier: MIT */
/*
 * Asks a running JVM (HotSpot 17 or later) for a perf map of its compiled code, through its attach mechanism, as `jcmd PID
 * Compiler.perfmap` does.  A JVM is asked only if the request can have no other effect.  Context: thread.
 */
#ifndef TAILOR_HOTSPOT_H
#define TAILOR_HOTSPOT_H

#include "agent/recorder/process/attach_target.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hotspot {
	pid_t pid, living, own_pid; /* as in struct attach_target */
	uint64_t library;	    /* address at which libjvm.so is mapped */
	uid_t uid;		    /* effective user and group of the JVM */
	gid_t gid;
	int pidfd, tmp_fd; /* the process, and its /tmp */
	bool has_map;	   /* a perf map was written on the recorder's request */
};

/* Finds libjvm.so, user and /tmp of a process, and changes nothing in it.  false: the process is no JVM. */
bool hotspot_find(struct hotspot *h, const struct attach_target *t);

/* Does a compiler written in Java name its code otherwise than by methods, in a perf map only? */
bool hotspot_has_names_of_its_own(const struct hotspot *h);

/*
 * Asks for a perf map, or for a new one if an earlier request has made one.  Calls meanwhile(context) while it waits for the answer, until
 * that returns false.  0, or -errno with the reason as a phrase.
 */
int hotspot_write_perf_map(struct hotspot *h, bool (*meanwhile)(void *context), void *context, struct diag *d);

/* Removes the perf map that was written on request, and closes descriptors. */
void hotspot_close(struct hotspot *h);

#endif
