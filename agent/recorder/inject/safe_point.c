/* SPDX-License-Identifier: MIT */
/*
 * A thread is at a safe point if it holds no lock that dlopen needs and its stack has room.  The conditions are as follows.
 *  - it runs code of the program (not of the loader, libc or an allocator), or sleeps in a call in which these never sleep while they
 *    hold a lock;
 *  - it is on the stack that libc allocated (not on a coroutine's, whose end is unknown, or on a signal's);
 *  - no handler of a signal is on that stack, and no signal is about to be delivered;
 *  - no thread is in the loader, and its list is complete (a thread that walks that list may wait for this one);
 *  - it is in no restartable sequence, which could not be continued.
 * The file also decides which hosts the agent may call in such a thread.  It supports x86-64 and glibc only.
 */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define SCAN_BYTES 65536u
#define USER_64_BIT 0x33
#define RED_ZONE 128u
#define ERESTARTSYS_ 512 /* internal results of the kernel, which never reach a program */
#define ERESTART_RESTARTBLOCK_ 516
#define CS_WORD ((8 + 40 + 18 * 8) / 8) /* word of uc_mcontext.gregs[REG_CSGSFS], counted from the return address */
#define FUTEX_COMMAND 0x7f
#define FUTEX_WAIT_BITSET_ 9 /* conditions, semaphores and joins use it, while locks of the loader and of malloc use FUTEX_WAIT */

/* Returns the type of the file that a descriptor refers to, or 0. */
static mode_t type_of_descriptor(pid_t pid, uint64_t fd)
{
	char path[64];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", (int)pid, (unsigned long long)fd);
	return stat(path, &s) == 0 ? s.st_mode & S_IFMT : 0;
}

/* Is it a pipe, a socket or a character device?  A thread that reads from one is not in the loader, which reads libraries from files. */
static bool is_not_file_descriptor(pid_t pid, uint64_t fd)
{
	mode_t kind = type_of_descriptor(pid, fd);

	return kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR;
}

bool inject_sleeps_safely(pid_t pid, uint64_t call, uint64_t first, uint64_t second)
{
	switch (call) {
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_pause:
	case SYS_rt_sigsuspend:
		return true;
	case SYS_read:
		return is_not_file_descriptor(pid, first);
	case SYS_futex:
		return (second & FUTEX_COMMAND) == FUTEX_WAIT_BITSET_;
	default:
		return false;
	}
}

/* Some calls fail with EINTR even without a signal, so the recorder makes them again, with the timeout that they had at first. */
bool inject_restart_keeps_timeout(pid_t pid, uint64_t call, uint64_t first, uint64_t fourth)
{
	switch (call) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int32_t)fourth < 0; /* the call has no timeout */
	case SYS_epoll_pwait2:
		return !fourth;
	case SYS_accept: /* may have a timeout by SO_RCVTIMEO */
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
		return false;
	case SYS_read:
		return type_of_descriptor(pid, first) != S_IFSOCK;
	default:
		return true;
	}
}

static bool is_in_system_call(const struct inject_thread *t)
{
	return (int64_t)t->registers.orig_rax >= 0;
}

static bool sleeps_in_safe_call(const struct inject_thread *t)
{
	const struct user_regs_struct *r = &t->registers;
	int64_t result = (int64_t)r->rax;

	return is_in_system_call(t) && (result == -EINTR || (result <= -ERESTARTSYS_ && result >= -ERESTART_RESTARTBLOCK_)) &&
	       inject_sleeps_safely(t->process->pid, r->orig_rax, r->rdi, r->rsi);
}

/* Are signals waiting to be delivered to the thread, so that the kernel is right to end its call?  True also if that cannot be read. */
static bool has_deliverable_signal(const struct inject_thread *t)
{
	struct proc_status s;

	return proc_status(t->process->pid, t->tid, &s) || s.pending_signals & ~t->mask;
}

bool inject_must_restart_call(const struct inject_thread *t)
{
	int64_t result = (int64_t)t->registers.rax;

	if (t->restart_is_lost && is_in_system_call(t) && result == -ERESTART_RESTARTBLOCK_)
		return true;
	return result == -EINTR && sleeps_in_safe_call(t) && (t->frame || !has_deliverable_signal(t));
}

struct finding {
	const struct inject_thread *t;
	struct inject_range stack;
	bool is_first; /* the stack of the first thread, which grows */
};

static int find_thread_stack(void *context, const struct proc_mapping *m)
{
	struct finding *f = context;
	uint64_t at = f->t->registers.rsp, own = f->t->registers.fs_base;

	if (at < m->start || at >= m->end)
		return 0;
	f->stack = (struct inject_range){ m->start, m->end };
	f->is_first = strcmp(m->path, "[stack]") == 0;
	/* glibc stores a thread's own data at the upper end of its stack */
	return (m->prot & PROT_WRITE) && (f->is_first || (own > at && own < m->end)) ? 1 : -ENOENT;
}

static bool stack_has_room(const struct finding *f)
{
	uint64_t at = f->t->registers.rsp, needed = INJECT_ROOM_BYTES;

	if (!f->is_first)
		return at - f->stack.start >= INJECT_BLOCK_BYTES + needed;
	return at - f->stack.start >= INJECT_BLOCK_BYTES + RED_ZONE &&
	       f->stack.end - at + INJECT_BLOCK_BYTES + needed < proc_limit(f->t->process->pid, "Max stack size");
}

/* Is the frame of a signal handler on the stack?  The frame has the handler's return address, and behind it struct ucontext.  True also if
 * the stack cannot be read. */
static bool is_in_signal_handler(const struct inject_thread *t, uint64_t end)
{
	uint64_t *words = malloc(SCAN_BYTES);
	bool found = !words;

	for (uint64_t at = t->registers.rsp & ~7ull; !found && at < end;) {
		size_t bytes = end - at < SCAN_BYTES ? (size_t)(end - at) : SCAN_BYTES;

		found = proc_mem_read(t->process->pid, at, words, bytes) != 0;
		for (size_t i = 0; i < bytes / 8 && !found; i++)
			found = words[i] == t->process->sigreturn &&
				(i + CS_WORD >= bytes / 8 || (words[i + CS_WORD] & 0xffff) == USER_64_BIT);
		at += bytes;
	}
	free(words);
	return found;
}

/* Is the thread in a restartable sequence (linux/rseq.h)?  The kernel restarts a sequence only if the thread returns into it from the stop,
 * and forgets the sequence if dlopen is called instead. Kernels before 5.13 do not report it, and the answer is no then. It is yes if the
 * process's memory cannot be read. */
static bool is_in_restartable_sequence(const struct inject_thread *t)
{
	struct {
		uint64_t pointer;
		uint32_t bytes, signature, flags, pad;
	} area = { 0 };
	struct {
		uint32_t version, flags;
		uint64_t start, bytes, abort;
	} sequence;
	uint64_t at;

	if (ptrace((enum __ptrace_request)0x420f /* PTRACE_GET_RSEQ_CONFIGURATION */, t->tid, (void *)sizeof(area), &area) < 0 ||
	    !area.pointer)
		return false;
	if (proc_mem_read(t->process->pid, area.pointer + 8, &at, sizeof(at)))
		return true;
	if (!at)
		return false;
	return proc_mem_read(t->process->pid, at, &sequence, sizeof(sequence)) ||
	       t->registers.rip - sequence.start < sequence.bytes;
}

static int is_in_anonymous_code(void *context, const struct proc_mapping *m)
{
	const struct inject_thread *t = context;

	return t->registers.rip >= m->start && t->registers.rip < m->end ? (m->prot & PROT_EXEC && !*m->path ? 1 : -ENOENT) : 0;
}

static bool may_call_v8(const struct inject_thread *t)
{
	const struct user_regs_struct *r = &t->registers;

	if (sleeps_in_safe_call(t))
		return r->orig_rax == SYS_epoll_wait || r->orig_rax == SYS_epoll_pwait || r->orig_rax == SYS_epoll_pwait2;
	return !is_in_system_call(t) && proc_each_mapping(t->process->pid, is_in_anonymous_code, (void *)(uintptr_t)t) == 1;
}

static bool is_in_range(uint64_t address, const struct inject_range *r)
{
	return address >= r->start && address < r->end;
}

/*
 * CPython holds the lock of its pending calls for some instructions.  The functions that do so never sleep, call nothing but libc, and are
 * not the function that evaluates.
 */
static bool may_call_python(const struct inject_thread *t)
{
	const struct inject_process *p = t->process;
	uint64_t at = t->registers.rip;

	return sleeps_in_safe_call(t) || !is_in_range(at, &p->python) || is_in_range(at, &p->evaluate[0]) ||
	       is_in_range(at, &p->evaluate[1]);
}

unsigned inject_may_call(const struct inject_thread *t)
{
	return (t->process->has_v8 && may_call_v8(t) ? INJECTED_MAY_CALL_V8 : 0u) |
	       (t->process->python.start && may_call_python(t) ? INJECTED_MAY_CALL_PYTHON : 0u);
}

bool inject_is_at_safe_point(struct inject_thread *t)
{
	const struct user_regs_struct *r = &t->registers;
	const struct inject_process *p = t->process;
	struct finding f = { .t = t };
	bool sleeps = sleeps_in_safe_call(t);
	uint32_t r_state; /* r_debug has version, map, brk, state */
	uint64_t self = 0;

	if (r->cs != USER_64_BIT || proc_mem_read(p->pid, r->fs_base, &self, sizeof(self)) || self != r->fs_base)
		return false;
	if (is_in_system_call(t) && !sleeps)
		return false;
	for (int i = 0; i < p->nr_unsafe; i++)
		if (!sleeps && r->rip >= p->unsafe[i].start && r->rip < p->unsafe[i].end)
			return false;
	if (proc_mem_read(p->pid, p->r_debug + 24, &r_state, sizeof(r_state)) || r_state != 0 || !inject_loader_is_free(p))
		return false;
	return !is_in_restartable_sequence(t) && proc_each_mapping(p->pid, find_thread_stack, &f) == 1 && stack_has_room(&f) &&
	       !is_in_signal_handler(t, f.stack.end) && !has_deliverable_signal(t);
}
