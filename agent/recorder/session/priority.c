/* SPDX-License-Identifier: MIT */
/*
 * The host may keep every processor busy with more threads than there are, and a ring overflows in a tenth of a second.  So the recorder
 * comes first, for the one hundredth of a processor that draining needs.  Among thousands of threads niceness is too little, since it is a
 * share.  A real-time policy is enough, and the kernel keeps a twentieth of each processor for all others.  Without the privilege for
 * either, the recorder asks at least for a short time slice, which Linux 6.12 and later schedule the sooner.
 */
#include "agent/recorder/session/internal.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE (-20) /* a seventh of a processor, beside 500 busy threads on it */
#define SLICE_NS 100000 /* the least that the kernel takes */

/* sched_setattr(2). */
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
