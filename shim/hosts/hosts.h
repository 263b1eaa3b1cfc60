/* SPDX-License-Identifier: MIT */
/*
 * Each adapter makes one kind of host register more of its code than it does by default. An adapter checks every loaded object and
 * recognises its host by symbols or by the name of a library. In other hosts it does nothing. TAILOR_NO_ADAPT disables them, and those of
 * shim/libraries and shim/engines, but has no effect in an agent that was injected. Context, unless another is given: any (the loader may
 * hold its lock), under the guard. Hooks that they put into a host have the context that is given there.
 */
#ifndef TAILOR_HOSTS_H
#define TAILOR_HOSTS_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* Passes each new object to all adapters, before the object's code runs where possible. */
void hosts_hook_object(const struct object *o);
/* Tells the adapters that executable memory was mapped. fd is -1 without a file. Context: any, also signal, outside the guard. */
void hosts_note_mapping(const void *address, size_t bytes, int fd);
/*
 * Tells the adapters that code of mapper made a range executable that was not known as executable. Context: any, also signal, under the
 * guard.
 */
void hosts_note_region(const struct object *mapper, uint64_t address, uint64_t bytes);
/*
 * Adapts hosts after the agent was loaded into a running process. may_call: the hosts that the calling thread may call
 * (INJECTED_MAY_CALL_*). Context: thread, outside the guard.
 */
void hosts_adapt_injected(unsigned may_call);
/* Resets adapters in the child after fork. Context: any, outside the guard. */
void hosts_reset_in_child(void);
/*
 * Tells the adapters that mprotect() or pkey_mprotect() made memory executable, perhaps again. Context: any, also signal, outside the
 * guard.
 */
void hosts_note_executable(const void *address, size_t bytes);
/*
 * Tells the adapters of an mprotect() with PROT_WRITE that made no memory executable, also if the call failed. Hosts make so many of these
 * calls that this must cost next to nothing. Context: any, also signal, outside the guard.
 */
void hosts_note_writable(void);

/*
 * This is nonzero while LuaJIT's adapter waits for an object to be relocated. hosts_retry_waiting_hooks() is called at each mapping then.
 * Context: any, also signal, under the guard.
 */
extern int hosts_waiting;
void hosts_retry_waiting_hooks(void);

/*
 * These are the functions of each adapter. Those above call them in their own context, except erlang_is_host() (called by gdb_jit.c) and
 * fixed_frame_register() (called by ruby_code.c).
 */
void deno_hook_object(const struct object *o);
void erlang_hook_object(const struct object *o);
bool erlang_is_host(void);
void java_hook_object(const struct object *o);
void javascriptcore_hook_object(const struct object *o);
void javascriptcore_note_mapping(int fd);
void luajit_hook_object(const struct object *o);
void luajit_retry_callers(void);
void mono_hook_object(const struct object *o);
void fixed_frame_note_object(const struct object *o);
/* Registers the frames of a piece of code by rules of their own, for code that does not always have the one frame that fixed_frame.c
 * knows. */
#define FIXED_FRAME_BYTES 32
void fixed_frame_register(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules);
void fixed_frame_note_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void php_hook_object(const struct object *o);
void postgres_hook_object(const struct object *o);
void pypy_hook_object(const struct object *o);
void pypy_note_mapping(const void *address, size_t bytes);
void ruby_note_executable(const void *address, size_t bytes);
void ruby_hook_object(const struct object *o);
void ruby_note_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void v8_hook_object(const struct object *o);
void v8_adapt_injected(void);

#endif
