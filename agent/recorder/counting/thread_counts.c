/* SPDX-License-Identifier: MIT */
/*
 * What an inherited counter says of each thread when that ends (PERF_RECORD_READ, attr.inherit_stat), beside the samples that the thread
 * has.  A thread begins with a whole period, so one that lives for less is rarely sampled at all: only this tells whose the time is that no
 * sample stands for.
 */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* What a thread has of an event on a processor; NULL: nothing, or no memory.  Thread numbers come again, and so their sums do. */
static struct thread_sum *find_thread_sum(struct thread_counts *t, uint32_t tid, int cpu, uint32_t event, bool add)
{
	uint64_t place = (uint64_t)event << 32 | (uint32_t)cpu;
	uint32_t i = hash_map_find(&t->at, tid, place);

	if (i)
		return &t->sum[i - 1];
	if (!add || !GROW(t->sum, t->nr, t->capacity) || !hash_map_set(&t->at, tid, place, t->nr + 1))
		return NULL;
	t->sum[t->nr] = (struct thread_sum){ 0, 0 };
	return &t->sum[t->nr++];
}

/* Where the thread's number stands in a sample: behind its id and its instruction. */
static bool read_sample_tid(uint64_t sample_type, const struct perf_event_header *h, uint32_t *tid)
{
	size_t at = sizeof(*h) + 8 * (size_t)(!!(sample_type & PERF_SAMPLE_IDENTIFIER) + !!(sample_type & PERF_SAMPLE_IP)) + sizeof(*tid);

	if (!(sample_type & PERF_SAMPLE_TID) || h->size < at + sizeof(*tid))
		return false;
	memcpy(tid, (const char *)h + at, sizeof(*tid));
	return true;
}

void counting_count_thread_sample(struct counting *c, int cpu, uint32_t event, const struct perf_event_header *h, uint64_t weight)
{
	struct thread_sum *s;
	uint32_t tid;

	if (cpu < 0 || !read_sample_tid(c->events.event[event].attr.sample_type, h, &tid))
		return;
	s = find_thread_sum(&c->threads, tid, cpu, event, true);
	if (!s)
		return;
	s->samples++;
	s->weight += weight;
}

void counting_end_thread(struct counting *c, int cpu, uint32_t event, const struct kernel_record *r)
{
	struct thread_sum *s = cpu < 0 ? NULL : find_thread_sum(&c->threads, r->count.tid, cpu, event, false);
	bool is_clock = event_is_clock(&c->events.event[event].attr);
	uint64_t value = is_clock && r->count.running_ns ? r->count.running_ns : r->count.value;
	struct thread_end end = { event, r->count.pid, r->count.tid, (uint32_t)cpu, r->id.time_ns, value, s ? s->samples : 0,
				  s ? s->weight : 0 };

	if (s)
		*s = (struct thread_sum){ 0, 0 };
	if (cpu >= 0 && (end.value || end.samples))
		c->sink.thread_ended(c->sink.context, &end);
}

void counting_release_threads(struct counting *c)
{
	hash_map_fini(&c->threads.at);
	free(c->threads.sum);
}
