/* SPDX-License-Identifier: MIT */
/*
 * This module reads the JVMs (HotSpot) of a recording from outside while they run. It reads frames of their generated code, methods that
 * their interpreter runs, and what their compilers compile. If no agent registers them, it also reads names and lines of the generated
 * code, and names of threads. Nothing in the JVMs is changed, asked or stopped. Context: thread.
 */
#ifndef TAILOR_JVMS_H
#define TAILOR_JVMS_H

#include "agent/recorder/perf/name_source.h"

#include <stdbool.h>
#include <stdint.h>

struct jvms;

/* note_mapping() finds JVMs. settle() writes what is new in all of them, for about 5 ms, or if last for up to a second. What is left is
 * written by the next calls. Once an agent has registered code of a JVM (note_code()), its generated code and threads get no names here. */
extern const struct name_source jvms_source;

/* Notes that a thread of pid has a new name.  tid: the number in the JVM's own PID namespace.  j may be NULL, here and below. */
void jvms_note_comm(struct jvms *j, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Can the code cache of the JVM pid be read?  Called for a JVM that is attached to.  An agent in it has not seen all of its code, so its
 * registrations are not waited for.  Looks at the code cache if that has not been done yet. */
bool jvms_can_read(struct jvms *j, uint32_t pid, uint64_t now_ns);

#endif
