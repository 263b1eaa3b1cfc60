/* SPDX-License-Identifier: MIT */
/*
 * This header is the interface between the files of `attach --inject`. The recorder may be killed at any moment, and the stopped thread
 * then resumes by itself (signal_frame.c).
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
#define INJECT_PENDING 1 /* value of the agent's result while there is none */
#define INJECT_ROOM_BYTES 65536ull /* stack for the calls, which are dlopen and a handshake */

struct inject_range {
	uint64_t start, end;
};

/* This is the process, with the addresses that are needed. */
struct inject_process {
	pid_t pid;
	struct inject_range unsafe[INJECT_UNSAFE_MAX]; /* code of the loader, libc and allocators */
	int nr_unsafe;
	struct inject_range loader; /* all mappings of the loader */
	uint64_t dlopen, mode;	    /* the function's address, and the mode for the call */
	uint64_t sigreturn;	    /* address of libc's `mov $15, %rax; syscall` */
	uint64_t r_debug;	    /* _r_debug of the loader */
	uint64_t locks;		    /* address of the loader's mutexes, which are side by side */
	int nr_locks;
	uint64_t errno_at;	    /* offset of errno from the thread pointer; 0: not known */
	bool has_v8;		    /* V8 with an exported interface is there, and is to be asked */
	struct inject_range python;	/* the object that contains CPython, if that is to be asked, or 0 */
	struct inject_range evaluate[2]; /* CPython's function that evaluates frames, and the part of it that a compiler put elsewhere */
	uint64_t agent;		    /* address of the first page of libtailor.so, or 0 */
};

/* This is a stopped thread of the process, with the state to which it is restored. */
struct inject_thread {
	const struct inject_process *process;
	pid_t tid;
	struct user_regs_struct registers; /* registers in the program's own code, with which the thread resumes */
	unsigned char xstate[INJECT_XSTATE_BYTES];
	size_t xstate_bytes;
	uint64_t mask;
	int error; /* errno of the thread */
	bool restart_is_lost; /* the kernel's restart block may belong to another call by now */
	/* addresses on its own stack of the frame from which it resumes by itself (0: there is none), and of texts for the calls */
	uint64_t frame, library, socket;
	unsigned char block[INJECT_BLOCK_BYTES];
	void (*meanwhile)(void *context);
	void *context;
};

/* ---- process.c: finds the addresses in a process that are needed.  Returns 0 or -errno (-E2BIG: too many libraries).  A part that is
 * missing is no error (inject_process_is_known()). */
int inject_process_learn(struct inject_process *p, pid_t pid);
/* Sets p->agent if the process has loaded the agent by now.  Returns false if it has not, or its mappings cannot be read. */
bool inject_process_find_agent(struct inject_process *p);
/* Was everything found that is needed? */
bool inject_process_is_known(const struct inject_process *p);
/* Is no thread loading libraries or reading their list? The answer is no if the loader's locks cannot be read. */
bool inject_loader_is_free(const struct inject_process *p);

/* ---- python.c: sets p->python and p->evaluate.  base: the address of the first page of the object that has CPython's function for
 * frames. */
void inject_learn_python(struct inject_process *p, uint64_t base, uint64_t function);

/* ---- thread.c: stops a thread and saves its state.  Returns 0 or -errno.  -EAGAIN means that this thread cannot be stopped now, but
 * another one, or the same one later, may be.  -ETIMEDOUT means that it did not stop in time, and inject_thread_give_up() was called. */
int inject_thread_stop(struct inject_thread *t);
/* Restores the thread's state, and detaches from it.  It must be at a stop for signals, where the kernel restarts interrupted calls. */
void inject_thread_resume(struct inject_thread *t);
/* Waits for the thread to stop, until until_ms on the clock of inject_now_ms(), and calls t->meanwhile() again and again until it does.
 * Returns 0, -ESRCH (the thread is gone), -ETIMEDOUT or another -errno. */
int inject_thread_wait_for_stop(struct inject_thread *t, int64_t until_ms, int *status);
/* Returns CLOCK_MONOTONIC in milliseconds. */
int64_t inject_now_ms(void);

/* ---- safe_point.c: is the thread at a safe point? */
bool inject_is_at_safe_point(struct inject_thread *t);
/*
 * Returns the hosts that the agent may call in a thread at a safe point (INJECTED_MAY_CALL_*), because the thread holds none of their
 * locks.
 */
unsigned inject_may_call(const struct inject_thread *t);
/* Is this a call in which the loader and allocators never sleep while they hold a lock, and which can be interrupted and restarted without
 * effect on the program? first, second: its arguments. */
bool inject_sleeps_safely(pid_t pid, uint64_t call, uint64_t first, uint64_t second);
/* Can such a call be restarted without a longer timeout? */
bool inject_restart_keeps_timeout(pid_t pid, uint64_t call, uint64_t first, uint64_t fourth);
/* Was the thread interrupted in a call that has to be made again?  Such a call would fail with EINTR although there is no signal, or the
 * kernel cannot continue it because its restart block is lost. */
bool inject_must_restart_call(const struct inject_thread *t);

/* ---- signal_frame.c: writes the frame from which the thread resumes by itself.  Returns 0 or -errno.  After an error at most memory below
 * the thread's stack pointer was changed. */
int inject_frame_write(struct inject_thread *t, const char *library, const char *socket);
/* Sets the registers for making an interrupted call again. */
void inject_frame_restart_call(struct user_regs_struct *r);

/*
 * ---- remote_call.c
 *
 * Calls function(first, second) in the thread, on its own stack.  The function must not need the recorder.  0 means that it returned, and
 * the thread is stopped in front of the system call that restores its state from its frame.  -EBUSY means that it would have waited for
 * the loader's lock, and the thread is stopped in front of that wait (futex).  After both, the caller goes on with
 * inject_call_stop_at_sigreturn(), or after 0 with inject_call_agent().  -ETIMEDOUT means that it has not returned within 10 s.  It is left
 * to itself then, and resumes by its frame, but it remains traced, so the caller calls inject_thread_give_up().  -EFAULT means that it
 * faulted, and is stopped there.  -ESRCH means that the thread is gone.
 */
int inject_call_function(struct inject_thread *t, uint64_t function, uint64_t first, uint64_t second);
/* Takes the thread from the stop that inject_call_function() leaves it at to one where inject_thread_resume() can be called.  Returns 0,
 * -ESRCH, or -ETIMEDOUT as inject_call_function() does. */
int inject_call_stop_at_sigreturn(struct inject_thread *t);
/* Calls the agent's tailor_injected(socket, may_call) in the thread, and gets it to a stop where inject_thread_resume() can be called.
 * where: the address of the agent's result (0 or -errno), which is read to *result.  Errors are those of inject_call_function() without
 * -EBUSY.  -ENOEXEC means that the result's memory cannot be written, and the thread is where inject_call_function() left it. */
int inject_call_agent(struct inject_thread *t, uint64_t function, unsigned may_call, uint64_t where, int *result);

/* Notes a thread that did not stop in time and stays seized, so that inject_release_late_threads() detaches it.  At most 64 are noted. */
void inject_thread_give_up(const struct inject_thread *t);

#endif
