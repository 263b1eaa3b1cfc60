/* SPDX-License-Identifier: MIT */
/*
 * This file reports processor time that no timer's sample stands for. Timers expire at the kernel's tick, and take no sample at the end of
 * their threads. Threads shorter than a tick, and what other threads run after their last sample, are in no sample. A process's clock has
 * the processor time of all of its threads, also of those that ended, and is read as long as the process exists. The time without samples
 * is reported as a thread with the number 0 that had no sample.
 */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <time.h>

#define LOOK_NS 10000000ull
#define LOOK_EACH_NS 1000000ull /* per process, because reading one clock takes a microsecond or two */

/* Reads the processor time of a process.  Returns false if it cannot be read, as after the process's end. */
static bool read_process_clock(uint32_t pid, uint64_t *ns)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)pid, &clock) || clock_gettime(clock, &t))
		return false;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

void counting_time_process(struct counting *c, uint32_t pid)
{
	struct timed_processes *t = &c->timed;
	uint64_t ns;

	if (c->sampler != WIRE_SAMPLER_TIMER || hash_map_find(&t->of_pid, pid, 0) || !read_process_clock(pid, &ns))
		return;
	if (ARRAY_GROW(*t) && hash_map_set(&t->of_pid, pid, 0, t->nr + 1))
		t->at[t->nr++] = (struct timed_process){ .pid = pid, .first_ns = ns, .last_ns = ns };
}

void counting_add_timed_sample(struct counting *c, uint32_t pid, uint64_t weight)
{
	uint32_t i = hash_map_find(&c->timed.of_pid, pid, 0);

	if (!i)
		return;
	c->timed.at[i - 1].samples++;
	c->timed.at[i - 1].weight += weight;
}

static void look_at_processes(struct timed_processes *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		uint64_t ns;

		if (read_process_clock(t->at[i].pid, &ns) && ns > t->at[i].last_ns)
			t->at[i].last_ns = ns;
	}
}

void counting_look_at_timed_processes(struct counting *c, uint64_t now_ns)
{
	struct timed_processes *t = &c->timed;
	uint64_t interval_ns = t->nr * LOOK_EACH_NS > LOOK_NS ? t->nr * LOOK_EACH_NS : LOOK_NS;

	if (c->paused || now_ns - t->looked_ns < interval_ns)
		return;
	t->looked_ns = now_ns;
	look_at_processes(t);
}

void counting_end_timed_processes(struct counting *c)
{
	struct timed_processes *t = &c->timed;

	look_at_processes(t);
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct timed_process *p = &t->at[i];
		uint64_t took = p->last_ns - p->first_ns, value = took > p->weight ? took : p->weight;

		c->sink.ended(c->sink.context, &(struct counter_end){ .pid = p->pid, .cpu = -1, .value = value, .enabled_ns = value,
								      .running_ns = value, .samples = p->samples, .weight = p->weight });
		if (value > p->weight)
			c->sink.thread_ended(c->sink.context, &(struct thread_end){ .pid = p->pid, .cpu = UINT32_MAX,
										    .value = value - p->weight,
										    .time_ns = clock_now_ns() });
	}
	counting_release_timed_processes(c);
}

void counting_release_timed_processes(struct counting *c)
{
	hash_map_fini(&c->timed.of_pid);
	ARRAY_FREE(c->timed);
}
