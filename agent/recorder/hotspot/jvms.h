/* SPDX-License-Identifier: MIT */
/*
 * JVMs (HotSpot) of a recording, read from outside while they run: names and frames of their generated code, unless an agent
 * registers it, and the methods that their interpreter runs.  Nothing in them is changed, asked or stopped.  Context: thread.
 */
#ifndef TAILOR_JVMS_H
#define TAILOR_JVMS_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jvms;

/* told(context, ...): a LOAD without its code was written. */
struct jvms *jvms_create(struct trace_writer *w, void (*told)(void *context, uint32_t pid, uint64_t address, uint64_t bytes,
							      uint64_t time_ns), void *context);
/* NULL is fine, here and below. */
void jvms_destroy(struct jvms *j);

/* pid has mapped code of a file of that name.  It is a JVM where that is HotSpot's library. */
void jvms_note_mapping(struct jvms *j, uint32_t pid, const char *path, size_t path_bytes, uint64_t time_ns);
/* An agent in pid registers its code. */
void jvms_note_told(struct jvms *j, uint32_t pid);
/* A thread of pid has a new name; tid: as the JVM itself sees it, where it is not in a namespace of its own. */
void jvms_note_comm(struct jvms *j, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* pid has ended, or runs another program. */
void jvms_forget(struct jvms *j, uint32_t pid);
/* Hot. */
void jvms_note_sample(struct jvms *j, const struct sample_seen *s);

/* Writes what is new: for some milliseconds, or all of it, as far as that takes a second. */
void jvms_settle(struct jvms *j, uint64_t now_ns, bool last);
/* Can the code of the JVM pid be read, which has no agent that heard it from its beginning?  It is looked at for the first time if need
 * be. */
bool jvms_can_read(struct jvms *j, uint32_t pid, uint64_t now_ns);

#endif
