/* SPDX-License-Identifier: MIT */
/*
 * Reads the JVMs (HotSpot) of a recording from outside while they run: names and frames of their generated code, unless an agent registers
 * it, and the methods that their interpreter runs.  Nothing in them is changed, asked or stopped.  Context: thread.
 */
#ifndef TAILOR_JVMS_H
#define TAILOR_JVMS_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jvms;

/* told(context, ...) is called when a LOAD without its code was written. */
struct jvms *jvms_create(struct trace_writer *w, void (*told)(void *context, uint32_t pid, uint64_t address, uint64_t bytes,
							      uint64_t time_ns), void *context);
/* NULL is fine, here and below. */
void jvms_destroy(struct jvms *j);

/* Notes that pid has mapped code of a file of this name.  The process is a JVM if the file is HotSpot's library. */
void jvms_note_mapping(struct jvms *j, uint32_t pid, const char *path, size_t path_bytes, uint64_t time_ns);
/* Notes that an agent in pid registers its code. */
void jvms_note_told(struct jvms *j, uint32_t pid);
/* Notes that a thread of pid has a new name.  tid: the number in the JVM's own PID namespace. */
void jvms_note_comm(struct jvms *j, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Forgets pid, which has ended or runs another program. */
void jvms_forget(struct jvms *j, uint32_t pid);
/* Called for each sample, so it has to be fast. */
void jvms_note_sample(struct jvms *j, const struct sample_seen *s);

/* Writes what is new, for some milliseconds, or if last for up to a second. */
void jvms_settle(struct jvms *j, uint64_t now_ns, bool last);
/*
 * Can the code of the JVM pid be read, which has no agent that has seen all of it?  Looks at the code cache if that has not been done yet.
 */
bool jvms_can_read(struct jvms *j, uint32_t pid, uint64_t now_ns);

#endif
