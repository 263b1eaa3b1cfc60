/* SPDX-License-Identifier: MIT */
/*
 * This file records when threads are woken. From then on they wait for a processor, and no longer for what they waited for. Only the
 * tracepoint sched_waking reports this, on the processor of the waker, so it is recorded on all processors, where that is permitted (root).
 * Only wake-ups of threads that were seen to switch are passed on, because only recorded threads are seen to do so.
 */
#include "agent/recorder/counting/internal.h"

#include "agent/recorder/process/proc_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES (1u << 20)

/* This struct is a sample with PERF_SAMPLE_TIME, _CPU and _RAW. data has size bytes of the tracepoint's own. */
struct wakeup_sample {
	struct perf_event_header header;
	uint64_t time_ns;
	uint32_t cpu, reserved, size;
	unsigned char data[];
};

/* These are the first fields of all tracepoints: type, flags, depth of disabled preemption, and the thread that runs. */
struct tracepoint_common {
	uint16_t type;
	uint8_t flags, preempt_count;
	uint32_t pid;
};
#define IN_HARD_INTERRUPT 0x08u /* in flags: an interrupt woke, and the thread that runs has nothing to do with it */
#define IN_SOFT_INTERRUPT 0x10u

/* Returns the waker, which is the thread that ran, or TRACE_WOKEN_BY_INTERRUPT.  Process 1 is taken for an interrupt, because its number
 * means TRACE_WOKEN_BY_UNKNOWN in a trace. */
static uint32_t waker_of_tracepoint(const unsigned char *data)
{
	struct tracepoint_common common;

	memcpy(&common, data, sizeof(common));
	return common.flags & (IN_HARD_INTERRUPT | IN_SOFT_INTERRUPT) || common.pid == TRACE_WOKEN_BY_UNKNOWN ? TRACE_WOKEN_BY_INTERRUPT
													      : common.pid;
}

/* Finds the tracepoint's number, and the offset of the woken thread's number in its data.  Returns false if tracepoints cannot be read. */
static bool find_tracepoint(uint64_t *id, uint32_t *tid_at)
{
	FILE *f = event_open_tracepoint_file(EVENT_WAKING, "id");
	unsigned long long number;
	char line[256];
	bool found = f && fscanf(f, "%llu", &number) == 1;

	if (f)
		fclose(f);
	f = found ? event_open_tracepoint_file(EVENT_WAKING, "format") : NULL;
	for (found = false; f && !found && fgets(line, sizeof(line), f);)
		found = sscanf(line, " field:pid_t pid; offset:%u", tid_at) == 1;
	if (f)
		fclose(f);
	*id = found ? number : 0;
	return found;
}

static int open_wakeup_ring(struct wakeups *w, const struct perf_event_attr *a, int cpu)
{
	int fd = event_open(a, -1, cpu, 0), ret;

	if (fd < 0)
		return -errno;
	ret = ring_open(&w->ring[w->nr], fd, RING_BYTES, RING_BYTES_MIN);
	if (ret)
		close(fd);
	else
		w->nr++;
	return ret;
}

void counting_open_wakeups(struct counting *c)
{
	const struct perf_event_attr *like = &c->events.event[0].attr;
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(a), .sample_period = 1,
				     .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW, .watermark = 1,
				     .wakeup_watermark = RING_BYTES / 2, .use_clockid = like->use_clockid, .clockid = like->clockid };
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF), ret = 0;
	uint64_t id;

	if (!like->context_switch || !proc_is_first_namespace(PROC_NAMESPACE_PID) || !find_tracepoint(&id, &c->wakeups.tid_at))
		return;
	a.config = id;
	c->wakeups.ring = calloc((size_t)nr_cpus, sizeof(*c->wakeups.ring));
	for (int cpu = 0; cpu < nr_cpus && c->wakeups.ring && (ret == 0 || ret == -ENODEV); cpu++)
		ret = open_wakeup_ring(&c->wakeups, &a, cpu);
	if (ret && ret != -ENODEV)
		counting_close_wakeups(c); /* with some processors only, most wake-ups would be missing without notice */
}

void counting_note_switch(struct counting *c, uint32_t pid, uint32_t tid)
{
	if (c->wakeups.nr)
		hash_map_set(&c->wakeups.pid_of, tid, 0, pid);
}

static void handle_wakeup(void *counting, const struct perf_event_header *h)
{
	const struct wakeup_sample *s = (const void *)h;
	struct counting *c = counting;
	const size_t at = offsetof(struct wakeup_sample, data);
	uint32_t tid, pid;

	if (h->type == PERF_RECORD_LOST && h->size >= 3 * sizeof(uint64_t)) {
		c->sink.lost(c->sink.context, LOSS_RING_FULL, 0, 0, ((const uint64_t *)h)[2]);
		return;
	}
	if (h->type != PERF_RECORD_SAMPLE || h->size < at || s->size > h->size - at || s->size < sizeof(struct tracepoint_common) ||
	    s->size - sizeof(tid) < c->wakeups.tid_at)
		return;
	memcpy(&tid, s->data + c->wakeups.tid_at, sizeof(tid));
	pid = hash_map_find(&c->wakeups.pid_of, tid, 0);
	if (pid)
		c->sink.woken(c->sink.context,
			      &(struct record_id){ .pid = pid, .tid = tid, .cpu = s->cpu, .time_ns = record_time(&c->layout, s->time_ns) },
			      waker_of_tracepoint(s->data));
}

void counting_drain_wakeups(struct counting *c)
{
	if (c->wakeups.nr && c->clock.used)
		perf_clock_add_pair(&c->clock.perf, &c->clock.pairs);
	for (int i = 0; i < c->wakeups.nr; i++)
		ring_drain(&c->wakeups.ring[i], handle_wakeup, c);
}

void counting_close_wakeups(struct counting *c)
{
	for (int i = 0; i < c->wakeups.nr; i++)
		ring_close(&c->wakeups.ring[i]);
	hash_map_fini(&c->wakeups.pid_of);
	free(c->wakeups.ring);
	c->wakeups.ring = NULL;
	c->wakeups.nr = 0;
}
