/* SPDX-License-Identifier: MIT */
/*
 * What the files of `attach --inject` share.  The recorder may be killed at any moment; the stopped thread then resumes by itself
 * (signal_frame.c).
 */
#ifndef TAILOR_INJECT_INTERNAL_H
#define TAILOR_INJECT_INTERNAL_H

#include "agent/recorder/inject/inject.h"

#include "jitreg/protocol/log.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#define INJECT_LIBRARY "libtailor.so"
#define INJECT_SOCKET_BYTES 64
#define INJECT_UNSAFE_MAX 64
#define INJECT_XSTATE_BYTES 32768
#define INJECT_BLOCK_BYTES (INJECT_XSTATE_BYTES + PATH_MAX + 4096)
#define INJECT_PENDING 1 /* the agent's result, until there is one */
#define INJECT_ROOM_BYTES 65536ull /* of stack, for the calls: dlopen and a handshake */

struct inject_range {
	uint64_t start, end;
};

/* The process: where things are in it. */
struct inject_process {
	pid_t pid;
	struct inject_range unsafe[INJECT_UNSAFE_MAX]; /* code of the loader, libc and allocators */
	int nr_unsafe;
	struct inject_range loader; /* the whole of it */
	uint64_t dlopen, mode;	    /* the function, and the mode that it is called with */
	uint64_t sigreturn;	    /* libc's `mov $15, %rax; syscall` */
	uint64_t r_debug;	    /* the loader's, for debuggers */
	uint64_t locks;		    /* the loader's mutexes, side by side */
	int nr_locks;
	uint64_t errno_at;	    /* from the thread pointer on; 0: not known */
	bool has_v8;		    /* V8 is in it, and its interface is exported */
	struct inject_range python;	/* the object that CPython is in, or 0 */
	struct inject_range evaluate[2]; /* CPython's function that evaluates frames, and the part that a compiler put elsewhere */
	uint64_t agent;		    /* the first page of libtailor.so, or 0 */
};

/* A thread of it that is stopped. */
struct inject_thread {
	const struct inject_process *process;
	pid_t tid;
	struct user_regs_struct registers; /* as it was */
	unsigned char xstate[INJECT_XSTATE_BYTES];
	size_t xstate_bytes;
	uint64_t mask;
	int error; /* its errno */
	bool restart_is_lost; /* the kernel's restart block is of another call by now */
	/* what it needs to resume by itself, on its own stack */
	uint64_t frame, library, socket;
	unsigned char block[INJECT_BLOCK_BYTES];
	void (*meanwhile)(void *context);
	void *context;
};

/* ---- process.c.  0, -errno (-E2BIG: too many libraries). */
int inject_process_learn(struct inject_process *p, pid_t pid);
/* Has the agent been loaded meanwhile? */
bool inject_process_find_agent(struct inject_process *p);
/* Was everything found that is needed? */
bool inject_process_is_known(const struct inject_process *p);
/* Is no thread loading libraries or reading their list? */
bool inject_loader_is_free(const struct inject_process *p);

/* ---- python.c: p->python and p->evaluate.  base: where the first page of the object is mapped that has CPython's function for frames. */
void inject_learn_python(struct inject_process *p, uint64_t base, uint64_t function);

/* ---- thread.c: stop and resume.  -EAGAIN: try another thread, or later. */
int inject_thread_stop(struct inject_thread *t);
/* Restores the thread's state at its next stop for signals, and detaches. */
void inject_thread_resume(struct inject_thread *t);
/* Wait for it to stop.  0, -ESRCH, -ETIMEDOUT or -errno. */
int inject_thread_wait_for_stop(struct inject_thread *t, int64_t until_ms, int *status);
int64_t inject_now_ms(void);

/* ---- safe_point.c: is the thread at a safe point? */
bool inject_is_at_safe_point(struct inject_thread *t);
/* The hosts of which a thread at a safe point holds no lock either (INJECTED_MAY_CALL_*), because it sleeps or runs code of the program. */
unsigned inject_may_call(const struct inject_thread *t);
/* Does it sleep in a call that can be interrupted and restarted without effect on the program? */
bool inject_sleeps_safely(pid_t pid, uint64_t call, uint64_t first, uint64_t second);
/* Can such a call be restarted without a longer timeout? */
bool inject_restart_keeps_timeout(pid_t pid, uint64_t call, uint64_t first, uint64_t fourth);
/* Was it interrupted in a call that would fail with EINTR without a signal, and has to be called again? */
bool inject_must_restart_call(const struct inject_thread *t);

/* ---- signal_frame.c: write the frame from which the thread resumes by itself.  0 or -errno (nothing relevant was changed). */
int inject_frame_write(struct inject_thread *t, const char *library, const char *socket);
/* The registers for calling an interrupted call again. */
void inject_frame_restart_call(struct user_regs_struct *r);

/* ---- remote_call.c
 * Calls function(first, second) in the thread, on its own stack; the function must not need the recorder.  0: returned, at its frame;
 * -EBUSY: it would have waited for the loader, at its frame; -ETIMEDOUT: it runs on, and resumes by itself; -EFAULT: it faulted, and is
 * stopped there; -ESRCH.
 */
int inject_call_function(struct inject_thread *t, uint64_t function, uint64_t first, uint64_t second);
/* From a frame to where inject_thread_resume() can be called.  0 or -errno. */
int inject_call_stop_at_sigreturn(struct inject_thread *t);
/* The agent's tailor_injected(socket, may_call), from a frame to where inject_thread_resume() can be called.  Else as
 * inject_call_function(). */
int inject_call_agent(struct inject_thread *t, uint64_t function, unsigned may_call, uint64_t where, int *result);

#endif
