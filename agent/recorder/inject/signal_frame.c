/* SPDX-License-Identifier: MIT */
/*
 * Writes the frame from which a stopped thread resumes without the recorder.  It lies below the thread's stack pointer and is what the
 * kernel would have put there for a signal handler (registers and signal mask).  The calls made in the thread return to libc's `mov $15,
 * %rax; syscall`, as handlers do.  A recorder that is alive stops the thread at that system call and restores everything itself, which also
 * keeps the kernel's restart state of an interrupted call.  If the recorder was killed, the thread makes the system call, and the kernel
 * restores its state.  The relative timeout of an interrupted call then starts again.
 *
 * No code is put into the process and no memory is mapped in it.  This file supports x86-64 only.
 */
#include "agent/recorder/inject/internal.h"

#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#define RED_ZONE 128u
#define SYSCALL_BYTES 2 /* size of the instruction */
#define SW_RESERVED 464 /* offset in the FXSAVE area of the part reserved for software */
#define FXSAVE_BYTES 512
#define XSAVE_BYTES_MIN (FXSAVE_BYTES + 64)
#define NO_SUCH_STACK 0xff /* invalid ss_flags, which are refused, so that the signal stack stays as it is */
#define UC_FLAGS 7	   /* extended state is present, ss is valid, ss is to be taken literally */

_Static_assert(offsetof(ucontext_t, uc_mcontext) == 40 && offsetof(ucontext_t, uc_sigmask) == 296, "the kernel's struct ucontext");

static bool system_call_was_interrupted(const struct user_regs_struct *r)
{
	int64_t result = (int64_t)r->rax;

	return (int64_t)r->orig_rax >= 0 && (result == -EINTR || (result <= -512 && result >= -516));
}

void inject_frame_restart_call(struct user_regs_struct *r)
{
	r->rax = r->orig_rax;
	r->orig_rax = UINT64_MAX;
	r->rip -= SYSCALL_BYTES;
}

/* Writes the extended state in the kernel's layout for signals, which has the parts in use, their content, and two magic numbers.  Returns
 * the number of bytes written, or 0 if the saved state is too short for that. */
static size_t write_frame_xstate(unsigned char *to, const struct inject_thread *t)
{
	struct _fpx_sw_bytes sw = { .magic1 = FP_XSTATE_MAGIC1 };
	const uint32_t magic2 = FP_XSTATE_MAGIC2;
	uint32_t bytes = XSAVE_BYTES_MIN, a, b, c, d;
	uint64_t in_use;

	if (t->xstate_bytes < XSAVE_BYTES_MIN)
		return 0;
	memcpy(&in_use, t->xstate + FXSAVE_BYTES, sizeof(in_use));
	for (unsigned i = 2; i < 63; i++)
		if (in_use >> i & 1) {
			__cpuid_count(0xd, i, a, b, c, d);
			if (a + b > bytes)
				bytes = a + b;
		}
	if (bytes > t->xstate_bytes)
		return 0;
	sw.xstate_size = bytes;
	sw.extended_size = bytes + (uint32_t)sizeof(magic2);
	sw.xstate_bv = in_use | 3;
	memcpy(to, t->xstate, bytes);
	memcpy(to + SW_RESERVED, &sw, sizeof(sw));
	memcpy(to + bytes, &magic2, sizeof(magic2));
	return bytes + sizeof(magic2);
}

static void write_frame_registers(unsigned char *to, const struct inject_thread *t, uint64_t xstate)
{
	struct user_regs_struct r = t->registers;
	ucontext_t u = { .uc_flags = UC_FLAGS, .uc_stack.ss_flags = NO_SUCH_STACK };
	greg_t *g = u.uc_mcontext.gregs;

	if (system_call_was_interrupted(&r))
		inject_frame_restart_call(&r);
	g[REG_R8] = (greg_t)r.r8;
	g[REG_R9] = (greg_t)r.r9;
	g[REG_R10] = (greg_t)r.r10;
	g[REG_R11] = (greg_t)r.r11;
	g[REG_R12] = (greg_t)r.r12;
	g[REG_R13] = (greg_t)r.r13;
	g[REG_R14] = (greg_t)r.r14;
	g[REG_R15] = (greg_t)r.r15;
	g[REG_RDI] = (greg_t)r.rdi;
	g[REG_RSI] = (greg_t)r.rsi;
	g[REG_RBP] = (greg_t)r.rbp;
	g[REG_RBX] = (greg_t)r.rbx;
	g[REG_RDX] = (greg_t)r.rdx;
	g[REG_RAX] = (greg_t)r.rax;
	g[REG_RCX] = (greg_t)r.rcx;
	g[REG_RSP] = (greg_t)r.rsp;
	g[REG_RIP] = (greg_t)r.rip;
	g[REG_EFL] = (greg_t)r.eflags;
	g[REG_CSGSFS] = (greg_t)(r.cs | r.gs << 16 | r.fs << 32 | r.ss << 48);
	memcpy(&u.uc_mcontext.fpregs, &xstate, sizeof(xstate));
	memcpy(&u.uc_sigmask, &t->mask, sizeof(t->mask));
	memcpy(to, &u, sizeof(u));
}

int inject_frame_write(struct inject_thread *t, const char *library, const char *socket)
{
	uint64_t top = (t->registers.rsp - RED_ZONE) & ~63ull, bottom = (top - sizeof(t->block)) & ~63ull, xstate, start;
	struct iovec here, there;
	size_t bytes;

	/* The block has, from the top down, texts, extended state, registers, and the return address of calls. */
	memset(t->block, 0, sizeof(t->block));
	t->socket = top - INJECT_SOCKET_BYTES - 64;
	t->library = t->socket - PATH_MAX;
	if (strlen(library) >= PATH_MAX || strlen(socket) >= INJECT_SOCKET_BYTES)
		return -ENAMETOOLONG;
	xstate = (t->library - INJECT_XSTATE_BYTES + 4096) & ~63ull;
	t->frame = (xstate - sizeof(ucontext_t)) & ~15ull;
	start = t->frame - sizeof(uint64_t);
	if (start < bottom)
		return -E2BIG;
	bytes = t->library - xstate;
	if (t->xstate_bytes + sizeof(uint64_t) > bytes || !write_frame_xstate(t->block + (xstate - bottom), t))
		return -E2BIG;
	write_frame_registers(t->block + (t->frame - bottom), t, xstate);
	memcpy(t->block + (start - bottom), &t->process->sigreturn, sizeof(uint64_t));
	strcpy((char *)t->block + (t->library - bottom), library);
	strcpy((char *)t->block + (t->socket - bottom), socket);
	here = (struct iovec){ t->block + (start - bottom), top - start };
	there = (struct iovec){ (void *)(uintptr_t)start, top - start };
	return process_vm_writev(t->process->pid, &here, 1, &there, 1, 0) == (ssize_t)here.iov_len ? 0 : -EFAULT;
}
