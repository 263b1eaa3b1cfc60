/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPU_RING_BYTES (4u << 20)
#define THREAD_RING_BYTES (512u << 10)
#define RINGS_BYTES (256u << 20) /* of all of them together, down to RING_BYTES_MIN each */
#define RING_BYTES_MIN (16u << 10)
#define THREADS_SHARE 32 /* a thread's ring takes at most one of so many parts of what is left */
#define MLOCK_FILE "/proc/sys/kernel/perf_event_mlock_kb"

int session_add_ring(struct session *s, int fd, int cpu, size_t bytes)
{
	int ret;

	if (s->nr_rings == s->rings_capacity) {
		size_t capacity = s->rings_capacity ? 2 * s->rings_capacity : 16;
		struct ring *bigger = realloc(s->ring, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->ring = bigger;
		s->rings_capacity = capacity;
	}
	ret = ring_open(&s->ring[s->nr_rings], fd, bytes, RING_BYTES_MIN);
	if (ret == 0)
		s->ring[s->nr_rings++].cpu = cpu;
	return ret;
}

/* What the kernel lets us lock for rings: perf_event_mlock_kb per CPU, and RLIMIT_MEMLOCK; root has no limit. */
static size_t rings_budget(void)
{
	size_t budget = RINGS_BYTES;
	unsigned long long kib = 516; /* the kernel's default */
	struct rlimit r;
	FILE *f;

	if (geteuid() == 0)
		return budget;
	f = fopen(MLOCK_FILE, "re");
	if (f) {
		if (fscanf(f, "%llu", &kib) != 1)
			kib = 0;
		fclose(f);
	}
	kib *= (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN);
	if (getrlimit(RLIMIT_MEMLOCK, &r) == 0)
		kib += r.rlim_cur / 1024;
	return kib < budget / 1024 ? (size_t)kib * 1024 : budget;
}

static size_t at_most(size_t bytes, size_t limit)
{
	while (bytes > RING_BYTES_MIN && bytes > limit)
		bytes /= 2;
	return bytes;
}

static size_t cpu_ring_bytes(struct session *s)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	s->rings_budget = rings_budget();
	return at_most(CPU_RING_BYTES, s->rings_budget / (size_t)(nr_cpus > 0 ? nr_cpus : 1));
}

struct perf_event_attr session_cpu_attr(struct session *s, size_t *ring_bytes)
{
	struct perf_event_attr a = s->event.attr;

	*ring_bytes = cpu_ring_bytes(s);
	a.inherit = 1;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)*ring_bytes / 2;
	return a;
}

static int count_from_exec(struct session *s, pid_t pid)
{
	size_t bytes;
	struct perf_event_attr a = session_cpu_attr(s, &bytes);
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	a.enable_on_exec = 1;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = event_open(&a, pid, cpu, 0), ret;

		if (fd < 0 && errno == ENODEV)
			continue; /* a CPU that is offline */
		if (fd < 0)
			return -errno; /* counting on some CPUs only would be a profile of those */
		ret = session_add_ring(s, fd, cpu, bytes);
		if (ret) {
			close(fd);
			return ret;
		}
	}
	return s->nr_rings ? 0 : -ENODEV;
}

int session_count(struct session *s, pid_t pid, bool on_exec, struct diag *d)
{
	uint64_t begin_ns = session_now_ns();
	int ret = 0;

	s->root = pid;
	session_write_process(s, pid, on_exec);
	s->nr_processes++; /* further ones as the kernel reports their fork */
	if (s->sampler != WIRE_SAMPLER_NONE)
		s->rings_budget = rings_budget(); /* the guest's threads come with their own */
	else
		ret = on_exec ? count_from_exec(s, pid) : session_attach(s, pid);
	if (ret)
		return diag_fail(d, -ret, "%s cannot be counted for process %d: %s", s->event.name, (int)pid, strerror(-ret));
	/* after the counters, which tell of later mappings, and as of before them */
	if (!on_exec) {
		session_write_maps(s, pid, begin_ns);
		session_write_threads(s, pid, begin_ns);
	}
	return 0;
}

int session_add_thread(struct session *s, int fd, uint32_t pid, uint32_t tid)
{
	size_t left = s->rings_budget;
	int ret;

	if (s->sampler == WIRE_SAMPLER_SIGNAL)
		return session_hold(s, fd, pid, tid);
	for (size_t i = 0; i < s->nr_rings; i++)
		left -= s->ring[i].bytes < left ? s->ring[i].bytes : left;
	ret = session_add_ring(s, fd, -1, at_most(THREAD_RING_BYTES, left / THREADS_SHARE));

	/* only now: what it counts before there is a ring would be lost uncounted */
	if (ret == 0 && !s->paused)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return ret;
}

void session_control(struct session *s, uint64_t action)
{
	if (action != JITREG_CONTROL_START && action != JITREG_CONTROL_STOP)
		return;
	s->paused = action == JITREG_CONTROL_STOP;
	/* with all that is inherited from them */
	for (size_t i = 0; i < s->nr_rings; i++)
		ioctl(s->ring[i].fd, s->paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < s->nr_held; i++)
		ioctl(s->held[i].fd, s->paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	session_switch_attached(s, !s->paused);
}

/*
 * The kernel says what it dropped when the next record finds room, so the last losses are never said in the ring; the count
 * of the event (and of those inherited from it) has them all.
 */
static void count_lost(struct session *s, struct ring *r)
{
	struct {
		uint64_t value, lost;
	} count;

	if (!s->event.attr.read_format || read(r->fd, &count, sizeof(count)) != sizeof(count))
		return;
	count.lost += session_attached_lost(s, r->fd);
	if (count.lost > r->lost) {
		s->loss[LOSS_RING_FULL] += count.lost - r->lost;
		r->lost = count.lost;
	}
}

void session_end_ring(struct session *s, struct ring *r)
{
	session_drain_ring(s, r);
	count_lost(s, r);
	ring_close(r);
}
