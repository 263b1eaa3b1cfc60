/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CPU_RING_BYTES (4u << 20)
#define THREAD_RING_BYTES (512u << 10)
#define RINGS_BYTES (256u << 20) /* of all of them together, down to RING_BYTES_MIN each */
#define RING_BYTES_MIN (16u << 10)

static int add_ring(struct session *s, int fd, size_t bytes)
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
		s->nr_rings++;
	return ret;
}

/* A power of two that leaves as much to each of nr rings. */
static size_t ring_share(size_t bytes, size_t nr)
{
	while (bytes > RING_BYTES_MIN && bytes > RINGS_BYTES / nr)
		bytes /= 2;
	return bytes;
}

int session_count(struct session *s, pid_t pid, bool on_exec, struct diag *d)
{
	struct perf_event_attr a = s->event.attr;
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF), opened = 0, error = ENODEV, cpu;
	size_t bytes = ring_share(CPU_RING_BYTES, nr_cpus > 0 ? (size_t)nr_cpus : 1);

	s->root = pid;
	session_write_process(s, pid, on_exec);
	if (!on_exec)
		session_write_maps(s, pid);
	if (s->options.scope_thread)
		return 0; /* the guest's threads come with their own */
	a.inherit = 1;
	a.enable_on_exec = on_exec;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)bytes / 2;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = event_open(&a, pid, cpu, 0), ret;

		if (fd < 0 && errno == ENODEV)
			continue; /* a CPU that is offline */
		if (fd < 0) {
			error = errno;
			break;
		}
		ret = add_ring(s, fd, bytes);
		if (ret) {
			error = -ret;
			close(fd);
			break;
		}
		opened++;
	}
	/* counting on some CPUs only would be a profile of those */
	if (cpu < nr_cpus || !opened)
		return diag_fail(d, error, "%s cannot be counted for process %d: %s", s->event.name, (int)pid, strerror(error));
	for (size_t i = 0; i < s->nr_rings && !on_exec; i++)
		ioctl(s->ring[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

int session_add_thread(struct session *s, int fd)
{
	int ret = add_ring(s, fd, ring_share(THREAD_RING_BYTES, s->nr_rings + 1));

	/* only now: what it counts before there is a ring would be lost uncounted */
	if (ret == 0)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return ret;
}

void session_control(struct session *s, uint64_t action)
{
	unsigned long request = action == JITREG_CONTROL_START ? PERF_EVENT_IOC_ENABLE :
				action == JITREG_CONTROL_STOP  ? PERF_EVENT_IOC_DISABLE : 0;

	for (size_t i = 0; request && i < s->nr_rings; i++)
		ioctl(s->ring[i].fd, request, 0);
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

	if (s->event.attr.read_format && read(r->fd, &count, sizeof(count)) == sizeof(count) && count.lost > r->lost) {
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
