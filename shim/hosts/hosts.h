/* SPDX-License-Identifier: MIT */
/*
 * Adapters: each makes one kind of host register more of its code than it does by default.  An adapter checks every loaded object
 * and recognises its host by symbols; in other hosts it does nothing.  TAILOR_NO_ADAPT disables them.
 * Context: any (the loader may hold its lock), under the guard; what they put into a host is called as it says.
 */
#ifndef TAILOR_HOSTS_H
#define TAILOR_HOSTS_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* A loaded object is new.  Before its code runs, where possible. */
void hosts_object(const struct object *o);
/* Executable memory was mapped, from fd (-1: from none).  Context: any, also signal. */
void hosts_mapped(const void *address, size_t bytes, int fd);
/* ... or made executable, for the first time, by code of mapper.  Context: any, also signal. */
void hosts_region(const struct object *mapper, uint64_t address, uint64_t bytes);
/* The agent was loaded into a process that runs, and the calling thread may call the host.  Context: thread, outside the guard. */
void hosts_injected(void);
/* After fork.  Context: any. */
void hosts_in_child(void);
/* Mapped memory became executable, perhaps again.  Context: as above. */
void hosts_executable(const void *address, size_t bytes);
/* ... was made writable and not executable.  Context: as above; so often that it must cost next to nothing. */
void hosts_writable(void);

/* An adapter waits for an object to be relocated: hosts_retry() is called at the next mapping.  Context: any, also signal. */
extern int hosts_waiting;
void hosts_retry(void);

/* One per host. */
void deno_object(const struct object *o);
void erlang_object(const struct object *o);
void java_object(const struct object *o);
void javascriptcore_object(const struct object *o);
void javascriptcore_mapped(int fd);
void luajit_object(const struct object *o);
void luajit_retry(void);
void mono_object(const struct object *o);
void fixed_frame_object(const struct object *o);
/* Rules of a piece of such code that differ from its one frame. */
#define FIXED_FRAME_BYTES 32
void fixed_frame_except(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules);
void fixed_frame_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void php_object(const struct object *o);
void postgres_object(const struct object *o);
void pypy_object(const struct object *o);
void pypy_mapped(const void *address, size_t bytes);
void ruby_executable(const void *address, size_t bytes);
void ruby_object(const struct object *o);
void ruby_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void v8_object(const struct object *o);
void v8_injected(void);

#endif
