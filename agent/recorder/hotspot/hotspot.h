/* SPDX-License-Identifier: MIT */
/*
 * A running JVM (HotSpot 17 or later) writes a perf map of its compiled code when it is asked through its attach mechanism, as by `jcmd
 * PID Compiler.perfmap`.  It is asked only where nothing but that can come of it.  Context: thread.
 */
#ifndef TAILOR_HOTSPOT_H
#define TAILOR_HOTSPOT_H

#include "agent/recorder/process/attach_target.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hotspot {
	pid_t pid, living, own_pid; /* as attach_target's */
	uint64_t library;	    /* where libjvm.so is mapped */
	uid_t uid;		    /* its effective user and group */
	gid_t gid;
	int pidfd, tmp_fd; /* the process, and its /tmp */
	bool has_map;	   /* there is a perf map that was written on our request */
};

/* false: the process is no JVM.  Nothing of it is touched. */
bool hotspot_find(struct hotspot *h, const struct attach_target *t);

/* Does a compiler of Java's name its code otherwise than by methods, in a perf map only? */
bool hotspot_has_names_of_its_own(const struct hotspot *h);

/*
 * Asks for a perf map, a new one if there is one already that came of an earlier request.  meanwhile(context) is called while the answer is
 * waited for.  0, or -errno with the reason why there is none, in a phrase.
 */
int hotspot_write_perf_map(struct hotspot *h, bool (*meanwhile)(void *context), void *context, struct diag *d);

/* Removes the perf map that was written on our request. */
void hotspot_close(struct hotspot *h);

#endif
