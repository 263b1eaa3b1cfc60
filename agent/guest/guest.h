/* SPDX-License-Identifier: MIT */
/*
 * This header is the interface between the files of the agent inside the host. libtailor.so links nothing but libc, has no thread, and
 * keeps no file open. It does not use the heap, except where an adapter opens a stream for its host. If the recorder has exited or refuses
 * the process, the agent is disabled for good, unless another recorder injects into the process. A recorder that merely does not answer is
 * asked again later. The host runs on in any case.
 *
 * Context is given for each function; `any` means any thread and any moment except a signal handler.
 */
#ifndef TAILOR_GUEST_H
#define TAILOR_GUEST_H

#include "jitreg/protocol/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define API __attribute__((visibility("default")))

/* The guest calls the hooks of shim/ through this table only. */
struct guest_listeners {
	void (*start)(void);	    /* Registers the loaded objects, and hooks JITs in them.  Context: init. */
	void (*announce_all)(void); /* Registers the loaded objects again, in a log of this process's own.  Context: any. */
	void (*injected)(unsigned may_call); /* Adapts V8 and CPython, in a thread that was borrowed for it. Context: thread. */
	void (*in_child)(void);	    /* Resets in the child after fork what other threads had begun. Context: any. */
};
extern const struct guest_listeners guest_listeners;

/* Is the agent enabled?  It may have no log yet, if it is a forked child's, or if the recorder did not answer.  Costs a load and a branch.
 * Context: any, also signal. */
bool guest_is_on(void);
/*
 * Does this process have a log of its own? A forked child has none at first, nor has a process whose recorder has not answered. Callers
 * have checked that the agent is enabled. Context: any, also signal.
 */
bool guest_owns_log(void);
/* Is the visible memory this process's own, not that of the parent of a vfork? In a process that the agent was injected into, the answer is
 * always no. In the children that such a process forks later, it is yes. Context: any, also signal. */
bool guest_owns_memory(void);
/* Was the agent loaded into a running process? It comes after libc in the order of lookup then. The process's calls are not hooked and its
 * code is not patched, and only V8 and CPython are adapted (hosts_adapt_injected()). Context: any, also signal. */
bool guest_was_loaded_late(void);
/* Is the calling thread in seccomp's strict mode, in which the kernel kills it at nearly all system calls (confine.c)? The agent does
 * nothing in it then. Context: any, also signal. */
bool guest_is_confined(void);
/* Starts the agent if it has not started, and asks the recorder for a log if this process has none of its own. Returns false if the agent
 * is disabled or is still starting, or if the calling thread is confined. True does not mean that there is a log, because the recorder may
 * not have answered, or may have refused. Context: any. */
bool guest_is_ready(void);
/* Returns the name of the recorder's socket, which stays valid, or "" before the agent has one. */
const char *guest_socket_name(void);
/* Disables the agent in this process.  The error, a positive errno, is sent to the recorder unless it is 0.  Only a recorder that injects
 * into the process enables the agent again.  Context: any. */
void guest_switch_off(int error);

/*
 * A thread is inside the agent at most once, because hooked functions that the agent itself calls must not enter it again.
 * guard_enter() returns false if the thread is inside already or confined, or if the agent is disabled.  guard_leave() restores the errno
 * of guard_enter().  The guard is never held across a call into the program.  Context: any.
 */
bool guard_enter(void);
void guard_leave(void);

/* Prints one line to stderr by one write(2), if TAILOR_DEBUG is set and no earlier write failed. A line is cut at 511 bytes. Context:
 * any. */
void guest_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Does guest_debug() print? */
bool guest_debugging(void);

/*
 * ---- channel.c: the handshake (jitreg/protocol/log.h). Each wait is bounded by CHANNEL_WAIT_MS, or by a shorter time if the recorder does
 * not work. -EAGAIN means that the recorder did not answer in time, and may be asked again later. -EHOSTDOWN means the same, but another
 * process had found it out before, so this one has not waited. Context: any.
 */
/* Asks the recorder for a log, and maps it. The caller owns the mapping. child: the process began by fork, and not by exec. Returns 0 or
 * -errno (-ECONNREFUSED: no listener). */
int channel_send_hello(const char *socket, bool child, struct wire_answer *answer, struct log_head **log, uint64_t *log_bytes);
/*
 * Passes the descriptors of the calling thread's counters to the recorder, and waits for its answer, because the counters count from then
 * on. The caller closes its descriptors. If counters or a timer could not be set up, nr is 0 and error a positive errno. Returns 0 or
 * -errno.
 */
int channel_send_counters(const char *socket, const int *fds, int nr, int error);
/* Tells the recorder that the agent stops. error: the reason, a positive errno. A failure to tell it is ignored. */
void channel_report_stop(const char *socket, int error);
/* Asks the recorder for memory that both share, maps it, and gets the number by which the recorder knows it.  Returns 0 or -errno. */
int channel_request_counter_memory(const char *socket, uint64_t bytes, unsigned char **base, uint32_t *number);
/* Returns the size of this process's address space in bytes, from /proc, or 0 if it is not known.  Context: any, also signal. */
uint64_t guest_used_address_space(void);
/*
 * Was the recorder found not to work, with no heartbeat since? If there are no heartbeats to read, the answer is yes while it is too early
 * for another attempt.
 */
bool channel_recorder_is_stopped(void);

/* ---- log.c: the registration log.  Context: any. */
/* Makes this the current log, and takes over its mapping. log_bytes: size of the ring behind the head. */
void log_attach(struct log_head *log, uint64_t log_bytes);
/*
 * Detaches the current log, which is the parent's in a forked child. It stays mapped, and heartbeats are read from it until the child has
 * its own log.
 */
void log_detach(void);
/*
 * Detaches and unmaps the log of the previous recorder, because a new one connects. A log that a thread reads or writes at that moment
 * stays mapped until old logs are unmapped the next time.
 */
void log_abandon(void);
/*
 * Unmaps all logs of a process that has one thread and its own memory.  Returns false, and does nothing, if a signal handler calls it while
 * this thread reads or writes a log.  Context: any, also signal.
 */
bool log_unmap(void);
/* Resets the number of records that were lost before there was a log, because hosts that can do so register them again. Context: init. */
void log_forget_missed(void);
/* Returns a number that the recorder increments while it works, or 0 if there is no log or the number has not grown yet. Context: any. */
uint64_t log_heartbeats(void);
/* Has the recorder stopped draining the log, or is there no log?  Context: any. */
bool log_is_ended(void);
/* Appends a record, and waits up to 1 ms if the log is full. Returns 0, or -ENOSYS (no log, or its recorder has gone), -ENOBUFS (no space,
 * record larger than the log, or given up by the recorder) or -EINVAL (malformed), as jitreg_emit() does. If the recorder has gone, this
 * disables the agent. */
int log_append(const struct iovec *parts, int nr_parts);
/* Appends a sample with a copy of the stack's bytes, which may change while they are copied. Never waits. Returns 0, or -ENOSYS without a
 * recorder. Returns -ENOBUFS if there is no space or the recorder gave the sample up, which is counted as dropped then. Context: any, also
 * signal. */
int log_append_sample(const struct log_sample *s, const void *stack);
/* Tells the recorder, by a counter in the log, that the agent has left something out: a fixed table was full or locked, memory was
 * unavailable, or a JIT's entry could not be read. Does nothing without a log. Context: any, also signal. */
void log_count_full(void);

/* ---- threads.c: each thread opens its own counters, or starts its timer, as the recorder's answer says.  Context: init; thread. */
void threads_start(const struct wire_answer *answer, const char *socket);
/* Opens the counters of the calling thread and passes them to the recorder, or starts the thread's timer. A failure is only sent to the
 * recorder. */
void threads_count_me(void);

/* ---- overflow.c: samples taken by a signal handler. */
/* Installs the handler, once in a process.  Returns 0 or -errno (-EBUSY: the host has its own use for the signal).  Context: init. */
int overflow_start(const struct wire_answer *answer);
/* Is the handler installed? Context: any, also signal. */
bool overflow_is_on(void);
/* Makes a counter of the calling thread send that thread the signal.  Returns 0 or -errno.  Context: thread. */
int overflow_send_signal_to_me(int perf_fd);
/* Makes a timer on the calling thread's processor time send that thread the signal.  Returns 0 or -errno.  Context: thread. */
int overflow_start_thread_timer(void);
/*
 * jitreg_emit() calls this for each record while the handler is installed. If the record declares a tag in a thread-local word
 * (JITREG_TAG_MEMORY), the word's offset is stored, so that samples contain its value. Context: any.
 */
void overflow_note_tag(const struct iovec *parts, int nr_parts);

/* ---- confine.c: look up libc's functions that the hooks replace.  Context: init. */
void confine_find_next_functions(void);

/* ---- memory_limit.c: look up libc's functions that the hooks replace.  Context: init. */
void memory_limit_find_next_functions(void);

/* ---- counter_memory.c: a child's counts are separated from its parent's.  Context: in a child, before fork returns. */
void counter_memory_reset_in_child(void);

/* ---- spawn.c: starts a recorder beside the host, and waits up to 10 s until it listens. The name of its socket is written to socket, also
 * on failure. Returns 0 or -errno. Context: init. */
int spawn_recorder(char *socket, size_t bytes);

/* ---- exec.c: look up libc's functions that the hooks replace.  Context: init. */
void exec_find_next_functions(void);

/* ---- objects.c: loaded objects and their symbols.  dlsym is not used, because it would change what dlerror() tells the host.  Context:
 * any. */
struct object {
	uintptr_t bias;
	const void *headers; /* Elf64_Phdr[nr_headers] */
	uint16_t nr_headers;
	const char *name; /* "" for the main program */
};
/* Calls each(context, object) until it returns nonzero, and returns that value, or 0. The object is valid during the call. Takes the
 * loader's list lock. */
int objects_each(int (*each)(void *context, const struct object *o), void *context);
/*
 * Does the same, and also visits the objects in the namespaces that dlmopen made (with glibc 2.35 or later). Returns 1 in place of each()'s
 * nonzero value where each() returned it for one of these, or while objects_set_single_thread() is in force.
 */
int objects_each_in_all_namespaces(int (*each)(void *context, const struct object *o), void *context);
/* While is_alone is set, objects_each_in_all_namespaces() takes no lock, because another thread of the parent may have held it at fork, and
 * it is never released in the child.  Context: in a child, before fork returns. */
void objects_set_single_thread(bool is_alone);
/* Reads how many objects the loader has loaded and unloaded in the life of the process. */
void objects_read_load_counts(uint64_t *loaded, uint64_t *unloaded);
/* Returns the address of a function or variable that o defines and exports, or NULL. IFUNCs, thread-local variables and old versions of
 * symbols are not found. */
void *object_find_symbol(const struct object *o, const char *name);
/* Calls see() with each symbol that object_find_symbol() could find, until see() returns false. It takes a millisecond for 50,000
 * symbols. */
void object_each_symbol(const struct object *o, bool (*see)(void *context, const char *name, uint64_t address), void *context);
/* Does all of [address, address + bytes) lie in one segment of o? */
bool object_contains(const struct object *o, const void *address, size_t bytes);
/* Does o need (DT_NEEDED) a library whose name begins with `library`? */
bool object_needs_library(const struct object *o, const char *library);
/* Reads the name by which other objects need o (DT_SONAME).  Returns false if it has none, or one that does not fit. */
bool object_read_soname(const struct object *o, char *name, size_t capacity);
/* Returns the definition of name that follows the agent in the order of lookup, or NULL.  If the agent was loaded late and none follows it,
 * the first definition of all objects is returned. */
void *objects_find_next_symbol(const char *name);
/* Returns the result of objects_find_next_symbol(), and stores it in *cache (static, NULL at first), so that the next call does not look it
 * up again. */
void *objects_find_next_cached(const char *name, void **cache);

/* ---- patch.c: replaces the first bytes of an empty function (one that only returns) by a jump. Returns 0, also if this jump is there
 * already. Returns -EILSEQ if the function is not empty or has no room for the jump, or another -errno. Context: any. */
int patch_empty_function(void *function, void *to);
/* Writes to memory that may be read-only, without making it writable.  Returns 0 or -errno.  Context: any. */
int patch_write_memory(void *to, const void *from, size_t bytes);

/* ---- slots.c: returns the slot in which o keeps the address of a function that it imports, or NULL.  Context: any. */
void **object_find_slot(const struct object *o, const char *name);
/* Makes calls from o to the function `name` go to `to`. *before (a function pointer) gets the previous target. Returns 0, -ENOENT (no such
 * slot or function), -EAGAIN (relocation would change the slot, so o has to be waited for), or -errno. Context: any. */
int slot_replace(const struct object *o, const char *name, void *to, void *before);

/*
 * Is o relocated, so that its slots and pointers have their final values?  Objects that dlopen loads are announced before they are
 * relocated.  slot: o's slot of a function that o itself defines.  Context: any.
 */
static inline bool object_is_relocated(const struct object *o, void *const *slot)
{
	return object_contains(o, *slot, 1);
}
/* Is o relocated? slot: o's slot of a function that it imports. Before relocation it is empty, or has an address that lacks o's bias. An
 * object whose bias is 0 counts as relocated. */
static inline bool object_is_bound(const struct object *o, void *const *slot)
{
	return !o->bias || (*slot && !object_contains(o, (const char *)*slot + o->bias, 1));
}
/* Is o still to be relocated?  Of an object that imports nothing the answer is no.  Context: any. */
bool object_awaits_relocation(const struct object *o);
/* Makes the loader call init after o was relocated and before its constructors run.  init must call *before, the replaced function.
 * Returns 0, or -errno (-ENOENT: o has no such function).  Context: while the loader announces o, before it relocates it. */
typedef void object_init_function(int argc, char **argv, char **env);
int object_replace_init(const struct object *o, object_init_function *init, object_init_function **before);

/*
 * ---- relocation.c: returns false if o is relocated. Otherwise hook(o) is called when o is relocated and the loader has called the init
 * function of one of the objects that wait, which may be o. o's constructors have not run then, unless that object is initialized after o.
 * The hook is lost if none of these objects has an init function, or if the table of waiting objects is full or locked. Context: while the
 * loader announces o.
 */
typedef void object_hook(const struct object *o);
bool object_hook_when_relocated(const struct object *o, object_hook *hook);
/* Forgets the hook of the object with this load bias, which was unloaded, perhaps before it was relocated. Context: any. */
void object_forget_hook(uintptr_t bias);
/* Releases the lock, which another thread of the parent may have held.  Context: in a child, before fork returns. */
void object_hooks_reset_in_child(void);

/* Does libc precede the agent in the order of lookup?  Context: init. */
bool objects_agent_loaded_late(void);

#endif
