/* SPDX-License-Identifier: MIT */
/*
 * Calls dlopen and then the agent's function in a stopped thread.  Both calls return to its frame (signal_frame.c).
 *
 * During dlopen the thread is stopped at each of its system calls, up to the one of the frame.  If the first one waits for the loader's
 * lock, dlopen has done nothing yet, and the call is taken back at once, because the thread that holds the lock may wait for this very
 * thread.
 *
 * The agent's function talks to the recorder, so it runs freely.  It stores a number in memory when it is done, and then waits a moment to
 * be stopped.  This file supports x86-64 only.
 */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define CALL_MS 10000
#define DIRECTION_FLAG 0x400ull
#define TRAP_FLAG 0x100ull
#define IN_CALL (SIGTRAP | 0x80)
#define FUTEX_COMMAND 0x7f
#define FUTEX_WAIT_ 0

static bool waits_for_loader_lock(const struct inject_thread *t, const struct user_regs_struct *r)
{
	return r->orig_rax == SYS_futex && (r->rsi & FUTEX_COMMAND) == FUTEX_WAIT_ && r->rdi >= t->process->loader.start &&
	       r->rdi < t->process->loader.end;
}

/* Does the call make the kernel forget how to continue the one that was interrupted? */
static bool call_forgets_restart(uint64_t call)
{
	return call == SYS_nanosleep || call == SYS_clock_nanosleep;
}

/* Runs the thread up to the frame's system call.  Returns what inject_call_function() returns. */
static int run_to_frame_return(struct inject_thread *t)
{
	int64_t until_ms = inject_now_ms() + CALL_MS;
	struct user_regs_struct r;
	bool is_first = true;
	int status, ret, pass = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, t->tid, NULL, (void *)(uintptr_t)pass))
			return -ESRCH;
		ret = inject_thread_wait_for_stop(t, until_ms, &status);
		if (ret)
			return ret;
		pass = 0;
		if (status >> 16 == PTRACE_EVENT_STOP) { /* the process is being stopped, and so is this thread once it has resumed */
			t->restart_is_lost = true;
		} else if (WSTOPSIG(status) == SIGSTOP) { /* SIGSTOP cannot be blocked */
			t->restart_is_lost = true;
			pass = SIGSTOP;
		} else if (WSTOPSIG(status) != IN_CALL) {
			return -EFAULT;
		} else {
			if (ptrace(PTRACE_GETREGS, t->tid, NULL, &r))
				return -ESRCH;
			if (r.orig_rax == SYS_rt_sigreturn && r.rsp == t->frame)
				return 0;
			if (is_first && waits_for_loader_lock(t, &r))
				return -EBUSY;
			is_first = false;
			t->restart_is_lost |= call_forgets_restart(r.orig_rax);
		}
	}
}

static int begin_remote_call(struct inject_thread *t, uint64_t function, uint64_t first, uint64_t second)
{
	const uint64_t all = UINT64_MAX & ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) |
					    1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1));
	struct iovec here = { (void *)(uintptr_t)&t->process->sigreturn, sizeof(uint64_t) };
	struct iovec there = { (void *)(uintptr_t)(t->frame - sizeof(uint64_t)), sizeof(uint64_t) };
	struct user_regs_struct r = t->registers;

	r.rsp = t->frame - sizeof(uint64_t);
	r.rip = function;
	r.rdi = first;
	r.rsi = second;
	r.rax = 0;
	r.rbp = 0;
	r.orig_rax = UINT64_MAX; /* no interrupted system call is restarted now */
	r.eflags &= ~(DIRECTION_FLAG | TRAP_FLAG);
	if (process_vm_writev(t->process->pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(uint64_t))
		return -ESRCH;
	/* The registers are set first, because the frame to which the call returns restores the mask. */
	if (ptrace(PTRACE_SETREGS, t->tid, NULL, &r) || ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(all), &all))
		return -ESRCH;
	return 0;
}

int inject_call_function(struct inject_thread *t, uint64_t function, uint64_t first, uint64_t second)
{
	int ret = begin_remote_call(t, function, first, second);

	return ret ? ret : run_to_frame_return(t);
}

/*
 * The caller has stopped the thread by PTRACE_INTERRUPT. tailor_injected() waits only a moment to be stopped. If the stop came later, the
 * thread has returned through its signal frame and runs the program again. Its present registers are kept then, and t->frame is 0, because
 * there is nothing to restore.
 */
static int note_if_thread_returned(struct inject_thread *t)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &r))
		return -ESRCH;
	if (r.rsp > t->frame) {
		t->registers = r;
		t->frame = 0;
	}
	return 0;
}

int inject_call_agent(struct inject_thread *t, uint64_t function, unsigned may_call, uint64_t where, int *result)
{
	int64_t until_ms = inject_now_ms() + CALL_MS;
	struct iovec here = { result, sizeof(*result) }, there = { (void *)(uintptr_t)where, sizeof(*result) };
	bool interrupted = false;
	int status, pass = 0, ret;

	*result = INJECT_PENDING;
	if (process_vm_writev(t->process->pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(*result))
		return -ENOEXEC;
	ret = begin_remote_call(t, function, t->socket, may_call);
	while (ret == 0) {
		if (ptrace(PTRACE_CONT, t->tid, NULL, (void *)(uintptr_t)pass))
			return -ESRCH;
		do {
			ret = inject_thread_wait_for_stop(t, inject_now_ms(), &status);
			if (ret == -ETIMEDOUT && !interrupted &&
			    (proc_mem_read(t->process->pid, where, result, sizeof(*result)) || *result != INJECT_PENDING))
				interrupted = ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) == 0;
		} while (ret == -ETIMEDOUT && inject_now_ms() < until_ms);
		if (ret)
			return ret;
		if (status >> 16 == PTRACE_EVENT_STOP && interrupted)
			return note_if_thread_returned(t);
		pass = WSTOPSIG(status) == SIGSTOP && status >> 16 == 0 ? SIGSTOP : 0;
		t->restart_is_lost = true; /* unless this is a fault, the process is being stopped, and so is the thread once it resumes */
		if (!pass && status >> 16 != PTRACE_EVENT_STOP)
			ret = -EFAULT;
	}
	return ret;
}

/* Runs the thread to a stop for signals, because the kernel restarts interrupted calls where it delivers signals.  So the registers have to
 * be restored there. */
int inject_call_stop_at_sigreturn(struct inject_thread *t)
{
	int64_t until_ms = inject_now_ms() + CALL_MS;
	struct user_regs_struct r;
	int status, ret, pass = 0;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &r))
		return -ESRCH;
	r.orig_rax = UINT64_MAX; /* the interrupted call is not restarted */
	r.rip = t->process->sigreturn; /* the thread continues there if the recorder is killed */
	r.rsp = t->frame;
	if (ptrace(PTRACE_SETREGS, t->tid, NULL, &r) || ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL))
		return -ESRCH;
	for (;;) {
		if (ptrace(PTRACE_CONT, t->tid, NULL, (void *)(uintptr_t)pass))
			return -ESRCH;
		ret = inject_thread_wait_for_stop(t, until_ms, &status);
		if (ret || status >> 16 == PTRACE_EVENT_STOP)
			return ret;
		pass = WSTOPSIG(status) == SIGSTOP ? SIGSTOP : 0;
	}
}
