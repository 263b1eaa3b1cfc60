/* SPDX-License-Identifier: MIT */
/*
 * The interface between the files of the agent inside the host.  libtailor.so is this folder, shim/ and nothing else.  It links nothing but
 * libc, has no thread and no file, and never uses the heap.  Any failure disables it for good, and the host runs on.
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

/* The hooks of shim/, which the guest calls through this table only. */
struct guest_listeners {
	void (*start)(void);	    /* Registers all loaded code and installs the hooks.  Context: init. */
	void (*announce_all)(void); /* Registers all loaded code again, for a new recorder.  Context: any. */
	void (*injected)(unsigned may_call); /* The calling thread was borrowed, and holds no lock of these hosts.  Context: thread. */
	void (*in_child)(void);	    /* Called after fork.  Resets what another thread had begun.  Context: any. */
};
extern const struct guest_listeners guest_listeners;

/* Does this process have a recorder?  Costs a load and a branch.  Context: any, also signal. */
bool guest_is_on(void);
/* Is the log this process's own, not its parent's?  Context: any, also signal. */
bool guest_owns_log(void);
/* Is the visible memory this process's own, not that of the parent of a vfork?  Context: any, also signal. */
bool guest_owns_memory(void);
/* Was the agent loaded behind libc, into a running process?  Then nothing of that process is hooked, patched or adapted, and only records
 * of jitreg_emit() are passed on.  Context: any, also signal. */
bool guest_was_loaded_late(void);
/* Is the calling thread confined, so that it may make no more system calls (confine.c)?  Context: any, also signal. */
bool guest_is_confined(void);
/* Does this process have a recorder and a log of its own?  Starts the agent, or gets a child its log, if need be.  Context: any. */
bool guest_is_ready(void);
/* The name of the recorder's socket. */
const char *guest_socket_name(void);
/* Disable the agent for good.  The error is sent to the recorder.  Context: any. */
void guest_switch_off(int error);

/*
 * A thread is inside the agent at most once, because hooks that the agent calls or that call it back must not enter it again.  Saves and
 * restores errno.  Never held across a call into the program.  Context: any.
 */
bool guard_enter(void);
void guard_leave(void);

/* printf to stderr by one write(2), if TAILOR_DEBUG is set.  Context: any. */
void guest_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool guest_debugging(void);

/* ---- channel.c: the handshake (jitreg/protocol/log.h).  Waits are bounded by CHANNEL_WAIT_MS, or by SILENT_MS where the recorder does not
 * run.  -EAGAIN means that the recorder did not get to run, and may be asked another time.  -EHOSTDOWN means the same, but another process
 * found it out, and this one did not wait.  Context: any. */
/* Connect to the recorder and map its log.  0 or -errno (-ECONNREFUSED: no listener). */
int channel_send_hello(const char *socket, bool child, struct wire_answer *answer, struct log_head **log, uint64_t *log_bytes);
/* Pass a thread's descriptors to the recorder and wait until they count.  nr may be 0, with the error. */
int channel_send_counters(const char *socket, const int *fds, int nr, int error);
void channel_report_stop(const char *socket, int error);
/* Map memory that the recorder reads, and get the recorder's number for it.  0 or -errno. */
int channel_request_counter_memory(const char *socket, uint64_t bytes, unsigned char **base, uint32_t *number);
/* Size of the address space of this process in bytes, from /proc.  0 if it is not known.  Context: any, also signal. */
uint64_t guest_used_address_space(void);
/* Did a wait for the recorder time out, with no heartbeat since?  In a process without a log: is it too early for another attempt? */
bool channel_recorder_is_stopped(void);

/* ---- log.c: the registration log.  Context: any. */
void log_attach(struct log_head *log, uint64_t log_bytes);
void log_detach(void);
/* Closes the log of a recorder that has exited, because a new one connects.  A log that a thread reads or writes stays mapped until the
 * next call.  Context: any. */
void log_abandon(void);
/*
 * Unmaps all logs of a process that has one thread and its own memory.  Returns false if this thread is in the middle of an append.
 * Context: any, also signal.
 */
bool log_unmap(void);
/* Records from before there was a log will be registered again, so they do not count as lost.  Context: init. */
void log_forget_missed(void);
/* A number that increments while the recorder works.  0 if it is not known yet.  Context: any. */
uint64_t log_heartbeats(void);
/* Has the recorder stopped draining the log?  Context: any. */
bool log_is_ended(void);
/* Appends a record, for jitreg_emit(), and returns its result. */
int log_append(const struct iovec *parts, int nr_parts);
/* Appends a sample.  The stack's bytes may change meanwhile.  0, -ENOSYS or -ENOBUFS (counted).  Context: any, also signal. */
int log_append_sample(const struct log_sample *s, const void *stack);
/* Counts an entry dropped because one of the agent's fixed tables is full. */
void log_count_full(void);

/* ---- threads.c: each thread opens its own counters.  Context: init; thread. */
void threads_start(const struct wire_answer *answer, const char *socket);
/* Opens the counters of the calling thread (the main thread, or that of a forked child). */
void threads_count_me(void);

/* ---- overflow.c: samples taken by a signal handler. */
/* 0 or -errno (-EBUSY: the host has its own use for the signal).  Context: init. */
int overflow_start(const struct wire_answer *answer);
bool overflow_is_on(void);
/* Makes a counter of the calling thread send it the signal.  0 or -errno.  Context: thread. */
int overflow_send_signal_to_me(int perf_fd);
/* Makes a timer on the calling thread's processor time send it the signal.  0 or -errno.  Context: thread. */
int overflow_start_thread_timer(void);
/* Stores the tag that the host declares, if it is a thread-local word.  Context: any. */
void overflow_note_tag(const struct iovec *parts, int nr_parts);

/* ---- confine.c: look up libc's functions that the hooks replace.  Context: init. */
void confine_find_next_functions(void);

/* ---- memory_limit.c: look up libc's functions that the hooks replace.  Context: init. */
void memory_limit_find_next_functions(void);

/* ---- counter_memory.c: a child's counts are separated from its parent's.  Context: in a child, before fork returns. */
void counter_memory_reset_in_child(void);

/* ---- spawn.c: start a recorder beside the host, and wait until it listens.  Writes the socket's name.  0 or -errno.  Context: init. */
int spawn_recorder(char *socket, size_t bytes);

/* ---- exec.c: look up libc's functions that the hooks replace.  Context: init. */
void exec_find_next_functions(void);

/* ---- objects.c: loaded objects and their symbols, without dlsym (its errors are the host's).  Context: any. */
struct object {
	uintptr_t bias;
	const void *headers; /* Elf64_Phdr[] */
	uint16_t nr_headers;
	const char *name; /* "" for the main program */
};
/* Calls each(context, object) until it returns nonzero, and returns that value.  Takes the loader's list lock. */
int objects_each(int (*each)(void *context, const struct object *o), void *context);
/* A variant of objects_each() that also visits the objects in the namespaces that dlmopen made. */
int objects_each_in_all_namespaces(int (*each)(void *context, const struct object *o), void *context);
/* Set if the calling thread is the only one of the process.  No lock is taken then.  Context: in a child, before fork returns. */
void objects_set_single_thread(bool is_alone);
/* Numbers of objects loaded and unloaded in the life of the process. */
void objects_read_load_counts(uint64_t *loaded, uint64_t *unloaded);
/* The address of a symbol that o defines and exports, or NULL. */
void *object_find_symbol(const struct object *o, const char *name);
/* Calls see() with each symbol that o defines and exports, until see() returns false.  It takes a millisecond for 50,000 symbols. */
void object_each_symbol(const struct object *o, bool (*see)(void *context, const char *name, uint64_t address), void *context);
/* Does all of [address, address + bytes) lie in one segment of o? */
bool object_contains(const struct object *o, const void *address, size_t bytes);
/* Does o need (DT_NEEDED) a library whose name begins so? */
bool object_needs_library(const struct object *o, const char *library);
/* Reads the name by which other objects need o (DT_SONAME).  Returns false if it has none, or a longer one. */
bool object_read_soname(const struct object *o, char *name, size_t capacity);
/* The definition of name that follows the agent in the order of lookup, or NULL.  An agent that was loaded late gets the first
 * definition. */
void *objects_find_next_symbol(const char *name);
/* The result of objects_find_next_symbol(), which is looked up once and stored in *cache (static, NULL at first). */
void *objects_find_next_cached(const char *name, void **cache);

/* ---- patch.c: replace the first bytes of an empty function by a jump.  0, -EILSEQ if it is not empty, or -errno.  Context: init. */
int patch_empty_function(void *function, void *to);
/* Writes to memory that may be read-only, without making it writable.  0 or -errno.  Context: any. */
int patch_write_memory(void *to, const void *from, size_t bytes);

/* ---- slots.c: the slot in which o keeps the address of a function that it imports, or NULL.  Context: any. */
void **object_find_slot(const struct object *o, const char *name);
/* Makes calls from o to the function `name` go to `to`.  *before (a function pointer) gets the previous target.  0, -ENOENT or -errno.
 * Context: any. */
int slot_replace(const struct object *o, const char *name, void *to, void *before);

/*
 * Is o relocated, so that its memory has its own final addresses?  slot: of a function that o itself defines.  Objects that dlopen loads
 * are announced before they are relocated.  Context: any.
 */
static inline bool object_is_relocated(const struct object *o, void *const *slot)
{
	return object_contains(o, *slot, 1);
}
/* Is o relocated?  slot: of a function that o imports.  Before relocation it is empty, or has an address that lacks o's bias. */
static inline bool object_is_bound(const struct object *o, void *const *slot)
{
	return !o->bias || (*slot && !object_contains(o, (const char *)*slot + o->bias, 1));
}
/* Makes the loader call init after o was relocated and before its constructors run.  init calls *before, the replaced function.  0, or
 * -errno (-ENOENT: o has no such function).  Context: the loader's signal. */
typedef void object_init_function(int argc, char **argv, char **env);
int object_replace_init(const struct object *o, object_init_function *init, object_init_function **before);

/* Does libc precede the agent in the order of lookup?  Context: init. */
bool objects_agent_loaded_late(void);

#endif
