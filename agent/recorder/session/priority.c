/* SPDX-License-Identifier: MIT */
/*
 * The host may have more busy threads than there are processors, and a ring may overflow in a tenth of a second.  So the recorder comes
 * before other processes, for the one hundredth of a processor that draining needs.  Niceness gives it only a share, which is too little
 * among thousands of threads.  A real-time policy is enough, and the kernel by default keeps a twentieth of each processor for other
 * processes.  Without the privilege for that, niceness is tried.  Without the privilege for either, the recorder asks for a short time
 * slice, with which Linux 6.12 and later schedule it sooner.
 */
#include "agent/recorder/session/internal.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE (-20) /* beside 500 busy threads on a processor, this is a share of a seventh */
#define SLICE_NS 100000 /* the shortest slice that the kernel accepts */

/* This is struct sched_attr of sched_setattr(2), which glibc may not declare. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

void session_raise_priority(void)
{
	struct scheduling a = { .size = sizeof(a), .policy = SCHED_RR, .priority = 1 };

	if (syscall(SYS_sched_setattr, 0, &a, 0))
		session_lower_priority();
}

void session_lower_priority(void)
{
	struct scheduling a = { .size = sizeof(a), .policy = SCHED_OTHER, .nice = NICE, .runtime_ns = SLICE_NS };

	if (syscall(SYS_sched_setattr, 0, &a, 0)) {
		a.nice = getpriority(PRIO_PROCESS, 0);
		syscall(SYS_sched_setattr, 0, &a, 0);
	}
}
