/* SPDX-License-Identifier: MIT */
/*
 * This file counts the samples of each thread on each processor, and reports them when the thread ends. A thread begins with a whole
 * period, so a thread that lives for less has no sample, and what a thread runs after its last sample is in none either. Inherited counters
 * have only the total of all their threads. The analyzer computes the parts from how many threads ended, and with how many samples.
 */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the sums of a thread for an event on a processor, or adds them.  Returns NULL if there are none, or no memory to add them.  Thread
 * numbers are reused, and so are their sums, which counting_end_thread() clears. */
static struct thread_sum *find_thread_sum(struct thread_counts *t, uint32_t tid, int cpu, uint32_t event, bool add)
{
	uint64_t place = (uint64_t)event << 32 | (uint32_t)cpu;
	uint32_t i = hash_map_find(&t->at, tid, place);

	if (i)
		return &t->sums.at[i - 1];
	if (!add || !ARRAY_GROW(t->sums) || !hash_map_set(&t->at, tid, place, t->sums.nr + 1))
		return NULL;
	return ARRAY_ADD(t->sums);
}

/* Reads the thread's number, which stands in a sample after its id and its instruction address.  Returns false if samples have no such
 * number. */
static bool read_sample_tid(uint64_t sample_type, const struct perf_event_header *h, uint32_t *tid)
{
	size_t at = sizeof(*h) + 8 * (size_t)(!!(sample_type & PERF_SAMPLE_IDENTIFIER) + !!(sample_type & PERF_SAMPLE_IP)) + sizeof(*tid);

	if (!(sample_type & PERF_SAMPLE_TID) || h->size < at + sizeof(*tid))
		return false;
	memcpy(tid, (const char *)h + at, sizeof(*tid));
	return true;
}

bool counting_sample_is_idle(const struct counting *c, uint32_t event, const struct perf_event_header *h)
{
	uint32_t tid;

	return read_sample_tid(c->events.event[event].attr.sample_type, h, &tid) && tid == 0;
}

/* Is each occurrence of the event a sample?  Then no sample is missing, and threads are not counted. */
static bool samples_each(const struct perf_event_attr *a)
{
	return !a->freq && a->sample_period <= 1;
}

void counting_count_thread_sample(struct counting *c, int cpu, uint32_t event, const struct perf_event_header *h, uint64_t weight)
{
	const struct perf_event_attr *a = &c->events.event[event].attr;
	struct thread_sum *s;
	uint32_t tid;

	if (cpu < 0 || samples_each(a) || !read_sample_tid(a->sample_type, h, &tid))
		return;
	s = find_thread_sum(&c->threads, tid, cpu, event, true);
	if (!s)
		return;
	s->samples++;
	s->weight += weight;
}

static void tell_end(const struct counting *c, uint32_t event, int cpu, const struct kernel_task *t, const struct thread_sum *s)
{
	c->sink.thread_ended(c->sink.context, &(struct thread_end){ .event = event, .pid = t->pid, .tid = t->tid, .cpu = (uint32_t)cpu,
								    .time_ns = t->time_ns, .samples = s->samples, .weight = s->weight });
}

static void end_thread_of_event(struct counting *c, uint32_t event, int cpu, int nr_cpus, const struct kernel_task *t)
{
	bool any = false;

	for (int i = 0; i < nr_cpus; i++) {
		struct thread_sum *s = find_thread_sum(&c->threads, t->tid, i, event, false);

		if (!s || !s->samples)
			continue;
		tell_end(c, event, i, t, s);
		*s = (struct thread_sum){ 0, 0 };
		any = true;
	}
	if (!any)
		tell_end(c, event, cpu, t, &(struct thread_sum){ 0, 0 });
}

void counting_end_thread(struct counting *c, int cpu, const struct kernel_task *t)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	for (uint32_t event = 0; cpu >= 0 && event < (uint32_t)c->events.nr; event++)
		if (!samples_each(&c->events.event[event].attr))
			end_thread_of_event(c, event, cpu, nr_cpus, t);
}

void counting_forget_thread_samples(struct counting *c)
{
	hash_map_fini(&c->threads.at);
	c->threads.sums.nr = 0;
}

void counting_release_threads(struct counting *c)
{
	hash_map_fini(&c->threads.at);
	free(c->threads.sums.at);
}
