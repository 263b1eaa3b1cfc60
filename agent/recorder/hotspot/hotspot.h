/* SPDX-License-Identifier: MIT */
/*
 * This module asks a running JVM (HotSpot 17 or later) for a perf map of its compiled code, through its attach mechanism, as `jcmd PID
 * Compiler.perfmap` does. A JVM is asked only if it would not take the signal that this needs for anything else. A thread and a socket of
 * the mechanism remain in it. Context: thread.
 */
#ifndef TAILOR_HOTSPOT_H
#define TAILOR_HOTSPOT_H

#include "agent/recorder/process/attach_target.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hotspot {
	pid_t pid, living, own_pid; /* numbers as in struct attach_target */
	uint64_t library;	    /* address at which libjvm.so is mapped */
	uid_t uid;		    /* effective user and group of the JVM */
	gid_t gid;
	int pidfd, tmp_fd; /* descriptors of the process and of its /tmp; -1: unavailable */
	bool has_map;	   /* a perf map was written on the recorder's request */
};

/* Finds libjvm.so, user and /tmp of a process, and changes nothing in it.  Returns false if the process has not mapped libjvm.so.
 * Otherwise hotspot_close() closes the descriptors. */
bool hotspot_find(struct hotspot *h, const struct attach_target *t);

/* May the JVM have a compiler written in Java (-XX:+EnableJVMCI)?  Such a compiler may name its code otherwise than by methods, and then
 * only a perf map has the names.  False also if the flags cannot be read. */
bool hotspot_has_names_of_its_own(const struct hotspot *h);

/* Asks for a perf map, or for a new one if an earlier request has made one.  Waits for the answer for 10 s at most, and calls
 * meanwhile(context) until that returns false (-EINTR).  Returns 0, or -errno with the reason as a phrase.  A map that the JVM may have
 * written before is kept (-EEXIST). */
int hotspot_write_perf_map(struct hotspot *h, bool (*meanwhile)(void *context), void *context, struct diag *d);

/* Removes the perf map that was written on request, and closes descriptors. */
void hotspot_close(struct hotspot *h);

#endif
