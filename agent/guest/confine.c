/* SPDX-License-Identifier: MIT */
/*
 * A thread in SECCOMP_MODE_STRICT may call read, write, exit and sigreturn.  The kernel kills it at any other system call, and at reading
 * the time stamp counter, which is how clock_gettime() tells the time. From then on the agent does nothing in that thread and the sampling
 * signal is blocked there, but the kernel's own samples continue. Threads enter that mode by libc's prctl() or syscall(), so both are
 * hooked. System calls made past libc are not seen.
 *
 * Context: any, also signal (as libc's own).
 */
#include "agent/guest/guest.h"

#include "agent/guest/overflow.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#define OPERATION_STRICT 0 /* SECCOMP_SET_MODE_STRICT, as the assembler code below compares it */
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && PR_SET_SECCOMP == 22 && SECCOMP_MODE_STRICT == 1 &&
	       SECCOMP_SET_MODE_STRICT == OPERATION_STRICT, "numbers in syscall()");

typedef int (*prctl_function)(int, unsigned long, unsigned long, unsigned long, unsigned long);

static __thread bool confined __attribute__((tls_model("initial-exec")));
static void *next_prctl;

bool guest_is_confined(void)
{
	return confined;
}

/* Callers pass true before the kernel confines the thread, because nothing can be done afterwards, and false if the kernel has refused. */
static void set_thread_confined(bool is)
{
	uint64_t mask = 1ull << (OVERFLOW_SIGNAL - 1);

	confined = is;
	if (overflow_is_on())
		sys_call(SYS_rt_sigprocmask, is ? SIG_BLOCK : SIG_UNBLOCK, (long)&mask, 0, sizeof(mask), 0, 0);
}

API int prctl(int option, ...)
{
	prctl_function next = (prctl_function)objects_find_next_cached("prctl", &next_prctl);
	unsigned long a[4];
	va_list list;
	bool strict;
	int ret;

	va_start(list, option);
	for (int i = 0; i < 4; i++) /* arguments that the caller did not pass are what the registers hold, as in libc's own function */
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	strict = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT;
	if (strict)
		set_thread_confined(true);
	ret = next(option, a[0], a[1], a[2], a[3]);
	if (strict && ret)
		set_thread_confined(false);
	return ret;
}

/* Stands in for libc's syscall() for the two calls that confine the thread. */
__attribute__((used)) static long confine_by_syscall(long number, long a, long b, long c, long d, long e)
{
	long ret;

	set_thread_confined(true);
	ret = sys_call(number, a, b, c, d, e, 0);
	if (ret >= 0)
		return ret;
	set_thread_confined(false);
	errno = (int)-ret;
	return -1;
}

/* Stands in for libc's syscall() for all other calls, until that has been looked up. */
static long call_past_libc(long number, long a, long b, long c, long d, long e, long f)
{
	long ret = sys_call(number, a, b, c, d, e, f);

	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

__attribute__((used)) static void *next_syscall = (void *)call_past_libc;

void confine_find_next_functions(void)
{
	void *found = NULL;

	objects_find_next_cached("prctl", &next_prctl);
	if (objects_find_next_cached("syscall", &found))
		next_syscall = found;
}

/*
 * This is long syscall(long number, ...).  The arguments stay where they are, and there is no stack frame, because clone(2) may return on
 * another stack.
 */
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	cmpq	$317, %rdi\n"	/* SYS_seccomp */
	"	je	1f\n"
	"	cmpq	$157, %rdi\n"	/* SYS_prctl */
	"	jne	2f\n"
	"	cmpl	$22, %esi\n"	/* PR_SET_SECCOMP */
	"	jne	2f\n"
	"	cmpq	$1, %rdx\n"	/* SECCOMP_MODE_STRICT */
	"	jne	2f\n"
	"	jmp	confine_by_syscall\n"
	"1:	testl	%esi, %esi\n"	/* SECCOMP_SET_MODE_STRICT */
	"	jz	confine_by_syscall\n"
	"2:	jmp	*next_syscall(%rip)\n"
	".size syscall, . - syscall\n");
