/* SPDX-License-Identifier: MIT */
/*
 * Reads the JVMs (HotSpot) of a recording from outside while they run: frames of their generated code, methods that their interpreter runs,
 * and what their compilers compile.  If no agent registers them, it also reads names and lines of the generated code, and names of threads.
 * Nothing in the JVMs is changed, asked or stopped.  Context: thread.
 */
#ifndef TAILOR_JVMS_H
#define TAILOR_JVMS_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jvms;

/* told(context, ...) is called when a LOAD without its code was written.  Returns NULL if memory runs out. */
struct jvms *jvms_create(struct trace_writer *w, void (*told)(void *context, uint32_t pid, uint64_t address, uint64_t bytes,
							      uint64_t time_ns), void *context);
/* j may be NULL, here and below. */
void jvms_destroy(struct jvms *j);

/* Notes that pid has mapped code of a file of this name.  A process that maps libjvm.so is a JVM. */
void jvms_note_mapping(struct jvms *j, uint32_t pid, const char *path, size_t path_bytes, uint64_t time_ns);
/* Notes that an agent in pid registers its code. */
void jvms_note_told(struct jvms *j, uint32_t pid);
/* Notes that a thread of pid has a new name.  tid: the number in the JVM's own PID namespace. */
void jvms_note_comm(struct jvms *j, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Forgets pid, which has ended or runs another program. */
void jvms_forget(struct jvms *j, uint32_t pid);
/* Notes interpreted methods and compilations in a sample's stack.  Called for each sample, so it has to be fast. */
void jvms_note_sample(struct jvms *j, const struct sample_seen *s);

/* Writes what is new in all JVMs, for about 5 ms, or if last for up to a second.  What is left is written by the next calls. */
void jvms_settle(struct jvms *j, uint64_t now_ns, bool last);
/* Can the code cache of the JVM pid be read?  Called for a JVM that is attached to.  An agent in it has not seen all of its code, so its
 * registrations are not waited for.  Looks at the code cache if that has not been done yet. */
bool jvms_can_read(struct jvms *j, uint32_t pid, uint64_t now_ns);

#endif
