/* SPDX-License-Identifier: MIT */
/* This file chooses the sizes of rings, within the limit of locked memory. */
#include "agent/recorder/counting/internal.h"

#include "agent/recorder/process/proc_file.h"

#include <sys/resource.h>
#include <unistd.h>

#define CPU_RING_BYTES (4u << 20)
#define DEEP_RING_BYTES (8u << 20) /* 128 of the longest stacks, 32 ms at the default rate */
#define DEEP_STACK_BYTES 16384u /* if samples have more stack bytes, a CPU's ring has DEEP_RING_BYTES */
#define THREAD_RING_BYTES (256u << 10)
#define RINGS_BYTES (256u << 20) /* all rings together, but no less than RING_BYTES_MIN each */
#define THREADS_SHARE 32 /* a thread's ring takes at most 1/THREADS_SHARE of what is left */
#define MLOCK_FILE "/proc/sys/kernel/perf_event_mlock_kb"

/* The kernel lets a user lock perf_event_mlock_kb per CPU plus RLIMIT_MEMLOCK of memory for rings. Root has no limit. */
size_t counting_rings_budget(void)
{
	size_t budget = RINGS_BYTES;
	long long of_cpu = 516; /* the kernel's default */
	unsigned long long kib;
	struct rlimit r;

	if (geteuid() == 0)
		return budget;
	proc_read_number(MLOCK_FILE, &of_cpu);
	kib = (unsigned long long)of_cpu * (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN);
	if (getrlimit(RLIMIT_MEMLOCK, &r) == 0)
		kib += r.rlim_cur / 1024;
	return kib < budget / 1024 ? (size_t)kib * 1024 : budget;
}

static size_t halve_until_at_most(size_t bytes, size_t limit)
{
	while (bytes > RING_BYTES_MIN && bytes > limit)
		bytes /= 2;
	return bytes;
}

size_t counting_cpu_ring_bytes(size_t budget, uint32_t stack_bytes)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	return halve_until_at_most(stack_bytes > DEEP_STACK_BYTES ? DEEP_RING_BYTES : CPU_RING_BYTES,
				   budget / (size_t)(nr_cpus > 0 ? nr_cpus : 1));
}

size_t counting_thread_ring_bytes(size_t left)
{
	return halve_until_at_most(THREAD_RING_BYTES, left / THREADS_SHARE);
}
