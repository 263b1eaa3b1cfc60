/* SPDX-License-Identifier: MIT */
/*
 * Stops one thread of the process, reads its state, and resumes it unchanged. No other thread is stopped. A thread that does not stop in
 * time is detached when it has stopped later.
 *
 * The stop interrupts the call that the thread sleeps in. The kernel restarts or continues most calls. A few fail with EINTR although there
 * is no signal (epoll_wait, calls on sockets with a timeout), and the recorder makes these again, so that the host does not see it.
 */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_US 50
#define STOP_MS 5000 /* long, because a thread runs seldom on a busy machine */

#define LATE_MAX 64

/* These threads were seized and did not stop in time. A thread beyond LATE_MAX stands still from its next stop to the recorder's end. */
static struct {
	pid_t tid[LATE_MAX];
	int nr;
} late;

int64_t inject_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int inject_thread_wait_for_stop(struct inject_thread *t, int64_t until_ms, int *status)
{
	for (;;) {
		pid_t got = waitpid(t->tid, status, __WALL | WNOHANG);

		if (got == t->tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return errno == ECHILD ? -ESRCH : -errno;
		t->meanwhile(t->context);
		usleep(NAP_US);
		if (inject_now_ms() >= until_ms)
			return -ETIMEDOUT;
	}
}

void inject_thread_give_up(const struct inject_thread *t)
{
	if (late.nr < LATE_MAX)
		late.tid[late.nr++] = t->tid;
}

/* Detaches a thread if it has stopped by now, and passes on the signal for which it stopped.  The call that it was made to run ends by
 * itself (signal_frame.c).  Returns false if the thread has neither stopped nor ended. */
static bool release(pid_t tid)
{
	int status;
	pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
	bool is_signal;

	if (got != tid)
		return got < 0 && errno == ECHILD;
	if (!WIFSTOPPED(status))
		return true;
	is_signal = !(status >> 16) && !(WSTOPSIG(status) & 0x80);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)(is_signal ? WSTOPSIG(status) : 0));
	return true;
}

void inject_release_late_threads(void)
{
	for (int i = 0; i < late.nr;)
		if (release(late.tid[i]))
			late.tid[i] = late.tid[--late.nr];
		else
			i++;
}

static int save_thread_state(struct inject_thread *t)
{
	struct iovec x = { t->xstate, sizeof(t->xstate) };

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->registers) ||
	    ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_X86_XSTATE, &x) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask))
		return -errno;
	if (x.iov_len == sizeof(t->xstate))
		return -E2BIG;
	if (proc_mem_read(t->process->pid, t->registers.fs_base + t->process->errno_at, &t->error, sizeof(t->error)))
		return -EFAULT;
	t->xstate_bytes = x.iov_len;
	t->restart_is_lost = false;
	t->frame = 0;
	return 0;
}

/* The registers are set last.  If the recorder is killed before that, the thread still resumes by its frame. */
void inject_thread_resume(struct inject_thread *t)
{
	struct iovec x = { t->xstate, t->xstate_bytes };
	struct user_regs_struct r = t->registers;
	bool anew = inject_must_restart_call(t);

	if (anew)
		inject_frame_restart_call(&r);
	if (t->frame) {
		struct iovec here = { &t->error, sizeof(t->error) };
		struct iovec there = { (void *)(uintptr_t)(r.fs_base + t->process->errno_at), sizeof(t->error) };

		process_vm_writev(t->process->pid, &here, 1, &there, 1, 0);
		ptrace(PTRACE_SETREGSET, t->tid, (void *)(uintptr_t)NT_X86_XSTATE, &x);
		ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask);
	}
	if (t->frame || anew)
		ptrace(PTRACE_SETREGS, t->tid, NULL, &r);
	ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
}

int inject_thread_stop(struct inject_thread *t)
{
	int64_t until_ms = inject_now_ms() + STOP_MS;
	int status, ret;

	/* PTRACE_O_EXITKILL is not set, because the thread has to outlive the recorder. */
	if (ptrace(PTRACE_SEIZE, t->tid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD))
		return errno == ESRCH ? -EAGAIN : -errno;
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL))
		return -EAGAIN;
	for (;;) {
		ret = inject_thread_wait_for_stop(t, until_ms, &status);
		if (ret == -ETIMEDOUT)
			inject_thread_give_up(t);
		if (ret)
			return ret == -ESRCH ? -EAGAIN : ret;
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		ptrace(PTRACE_CONT, t->tid, NULL, (void *)(uintptr_t)WSTOPSIG(status)); /* a signal of the host is delivered first */
	}
	if (WSTOPSIG(status) != SIGTRAP) { /* a signal such as SIGSTOP has stopped the process */
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
		return -EAGAIN;
	}
	if (save_thread_state(t)) {
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
		return -EAGAIN;
	}
	return 0;
}
