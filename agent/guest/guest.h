/* SPDX-License-Identifier: MIT */
/*
 * The agent inside the host: what its files share.  libtailor.so is this folder, shim/ and nothing else; it links nothing
 * but libc, has no thread and no file, and never uses the heap.  Whatever fails switches it off for good, and the host runs
 * on.
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
	void (*start)(void);	    /* register what is loaded, and install the hooks.  Context: init. */
	void (*announce_all)(void); /* register again all that is loaded, for a new recorder.  Context: any. */
	void (*injected)(unsigned may_call); /* the calling thread was borrowed, and holds no lock of these hosts.  Context: thread. */
	void (*in_child)(void);	    /* after fork: resets what another thread had begun.  Context: any. */
};
extern const struct guest_listeners guest_listeners;

/* Has this process a recorder?  A load and a branch.  Context: any, also signal. */
bool guest_is_on(void);
/* Is the log this process's own, not its parent's?  Context: any, also signal. */
bool guest_owns_log(void);
/* Is the memory that we see this process's own, not that of the parent of a vfork?  Context: any, also signal. */
bool guest_owns_memory(void);
/* Were we loaded behind libc, into a process that ran already?  Then nothing of it is hooked, patched or adapted: only what it
 * says by jitreg_emit() is passed on.  Context: any, also signal. */
bool guest_was_loaded_late(void);
/* May the calling thread make no system calls any more (confine.c)?  Context: any, also signal. */
bool guest_is_confined(void);
/* Has this process a recorder and a log of its own?  The agent is started, or a child gets its log, if need be.  Context: any. */
bool guest_is_ready(void);
/* The recorder's socket. */
const char *guest_socket_name(void);
/* Disable the agent for good; error is sent to the recorder.  Context: any. */
void guest_switch_off(int error);

/*
 * One thread is inside the agent at most once: hooks that we call or that call us back must not come in again.  Saves and
 * restores errno.  Never held across a call into the program.  Context: any.
 */
bool guard_enter(void);
void guard_leave(void);

/* printf to stderr if TAILOR_DEBUG is set, by one write(2).  Context: any. */
void guest_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool guest_debugging(void);

/* ---- channel.c: the handshake (jitreg/protocol/log.h).  Bounded by CHANNEL_WAIT_MS, where the recorder does not run by SILENT_MS;
 * -EAGAIN: the recorder did not get to run, and may be asked another time; -EHOSTDOWN: so, as another process has found out, and it
 * was not waited for.  Context: any. */
/* Connect to the recorder; on success the log is mapped.  0 or -errno (-ECONNREFUSED: no listener). */
int channel_send_hello(const char *socket, bool child, struct wire_answer *answer, struct log_head **log, uint64_t *log_bytes);
/* Hand a thread's descriptors (nr may be 0, with the error) over and wait until they count. */
int channel_send_counters(const char *socket, const int *fds, int nr, int error);
void channel_report_stop(const char *socket, int error);
/* bytes of memory that the recorder reads, mapped, and its number there.  0 or -errno. */
int channel_request_counter_memory(const char *socket, uint64_t bytes, unsigned char **base, uint32_t *number);
/* Bytes that this process has mapped, by /proc; 0: not known.  Context: any, also signal. */
uint64_t guest_used_address_space(void);
/* Did a wait for the recorder time out, with no heartbeat since (of a process without a log: is it too early to try again)? */
bool channel_recorder_is_stopped(void);

/* ---- log.c: the registration log.  Context: any. */
void log_attach(struct log_head *log, uint64_t log_bytes);
void log_detach(void);
/* Its recorder has exited, and a new one connects: what a thread is in the middle of stays mapped until the next time.  Context: any. */
void log_abandon(void);
/*
 * Unmaps all logs of a process that is the calling thread alone, and has its own memory.  false: this thread is in the middle of an append.
 * Context: any, also signal.
 */
bool log_unmap(void);
/* What was said before there was a log will be said again: it is not lost.  Context: init. */
void log_forget_missed(void);
/* Increments while the recorder works; 0: unknown yet.  Context: any. */
uint64_t log_heartbeats(void);
/* Is it drained no more?  Context: any. */
bool log_is_ended(void);
/* As jitreg_emit(). */
int log_append(const struct iovec *parts, int nr_parts);
/* A sample; the stack's bytes may be changing.  0, -ENOSYS or -ENOBUFS (counted).  Context: any, also signal. */
int log_append_sample(const struct log_sample *s, const void *stack);
/* Counts an entry dropped because one of the agent's fixed tables is full. */
void log_count_full(void);

/* ---- threads.c: each thread sees to its own counters.  Context: init; thread. */
void threads_start(const struct wire_answer *answer, const char *socket);
/* The thread that calls (the main thread, a fork's child). */
void threads_count_me(void);

/* ---- overflow.c: samples taken by a signal handler. */
/* 0 or -errno (-EBUSY: the host has its own use for the signal).  Context: init. */
int overflow_start(const struct wire_answer *answer);
bool overflow_is_on(void);
/* A counter of the calling thread sends it the signal from now on.  0 or -errno.  Context: thread. */
int overflow_send_signal_to_me(int perf_fd);
/* A timer on the calling thread's processor time does.  0 or -errno.  Context: thread. */
int overflow_start_thread_timer(void);
/* The host declares its tag: stored if it is a thread-local word.  Context: any. */
void overflow_note_tag(const struct iovec *parts, int nr_parts);

/* ---- confine.c: look up libc's functions that ours stand before.  Context: init. */
void confine_find_next_functions(void);

/* ---- memory_limit.c: look up libc's functions that ours stand before.  Context: init. */
void memory_limit_find_next_functions(void);

/* ---- counter_memory.c: what a child counts from now on is not its parent's.  Context: in a child, before fork returns. */
void counter_memory_reset_in_child(void);

/* ---- spawn.c: start a recorder beside us, and wait until it listens.  Writes the socket's name.  0 or -errno.
 * Context: init. */
int spawn_recorder(char *socket, size_t bytes);

/* ---- exec.c: the functions behind its hooks.  Context: init. */
void exec_find_next_functions(void);

/* ---- objects.c: loaded objects and their symbols, without dlsym (its errors are the host's).  Context: any. */
struct object {
	uintptr_t bias;
	const void *headers; /* Elf64_Phdr[] */
	uint16_t nr_headers;
	const char *name; /* "" for the main program */
};
/* Calls each(context, object) until it returns nonzero, and returns that.  Takes the loader's list lock. */
int objects_each(int (*each)(void *context, const struct object *o), void *context);
/* objects_each() that also visits the objects in the namespaces that dlmopen made. */
int objects_each_in_all_namespaces(int (*each)(void *context, const struct object *o), void *context);
/* Does the calling thread have the process for itself?  Then no lock is taken.  Context: in a child, before fork returns. */
void objects_set_single_thread(bool is_alone);
/* How often an object was loaded and unloaded in the life of the process. */
void objects_read_load_counts(uint64_t *loaded, uint64_t *unloaded);
/* Address of a symbol that o defines and exports, or NULL. */
void *object_find_symbol(const struct object *o, const char *name);
/* Calls see() with each symbol that o defines and exports, until that returns false.  It takes a millisecond where there are 50,000. */
void object_each_symbol(const struct object *o, bool (*see)(void *context, const char *name, uint64_t address), void *context);
/* Does all of [address, address + bytes) lie in one of its segments? */
bool object_contains(const struct object *o, const void *address, size_t bytes);
/* Does it say that it needs a library whose name begins so (DT_NEEDED)? */
bool object_needs_library(const struct object *o, const char *library);
/* The name by which others need it (DT_SONAME); false: it has none, or a longer one. */
bool object_read_soname(const struct object *o, char *name, size_t capacity);
/* The definition of name that comes behind ours in the order of lookup (when we are late: or the first one), or NULL. */
void *objects_find_next_symbol(const char *name);
/* objects_find_next_symbol(), looked for once and remembered in *cache (static, NULL at first). */
void *objects_find_next_cached(const char *name, void **cache);

/* ---- patch.c
 * Replace the first bytes of an empty function by a jump.  0, -EILSEQ when it is not empty, or -errno.  Context: init. */
int patch_empty_function(void *function, void *to);
/* Write to memory that may be read-only, without making it writable.  0 or -errno.  Context: any. */
int patch_write_memory(void *to, const void *from, size_t bytes);

/* ---- slots.c
 * Where o keeps the address of a function that it imports, or NULL.  Context: any. */
void **object_find_slot(const struct object *o, const char *name);
/* Calls of o to name go to `to`; *before (a function pointer): where they went.  0, -ENOENT or -errno.  Context: any. */
int slot_replace(const struct object *o, const char *name, void *to, void *before);

/*
 * Is o relocated: are its own addresses in its memory?  slot: of a function that o itself defines.  Objects that dlopen brings are
 * announced before they are.  Context: any.
 */
static inline bool object_is_relocated(const struct object *o, void *const *slot)
{
	return object_contains(o, *slot, 1);
}
/* Is o relocated?  slot: of a function that o imports.  Before, there is nothing in it, or an address that lacks o's bias. */
static inline bool object_is_bound(const struct object *o, void *const *slot)
{
	return !o->bias || (*slot && !object_contains(o, (const char *)*slot + o->bias, 1));
}
/* init is called when o was relocated, before its constructors, and calls *before, which was to be called then.  0, or -errno (-ENOENT: it
 * has no such function).  Context: the loader's signal. */
typedef void object_init_function(int argc, char **argv, char **env);
int object_replace_init(const struct object *o, object_init_function *init, object_init_function **before);

/* Is libc before us in the order of lookup?  Context: init. */
bool objects_agent_loaded_late(void);

#endif
