/* SPDX-License-Identifier: MIT */
/*
 * This file chooses the number of stack bytes that are copied with each sample. The default is the most that the kernel copies. The kernel
 * copies no more than the stack has, so a sample of a shallow stack costs the same, and stacks are stored as changes, so the trace hardly
 * grows. The former default, 16 KiB, reaches the first frame in 95 of 100 samples of git, gcc, python3 and java, but one function of a
 * matrix product or of a sort can have more. The kernel reserves all of it in the ring, whatever the stack has, so where rings are small
 * the number is reduced, or samples would be lost.
 */
#include "agent/recorder/counting/internal.h"

#include <sched.h>
#include <stdio.h>

#define STACK_WANTED 65536u /* the kernel's limit is STACK_MOST */
#define STACK_MOST 65528u
#define STACK_USUAL 16384u /* most stacks have no more; a smaller copy is worth a notice */
#define STACK_LEAST 2048u
#define ROOM_NS 20000000u /* the ring holds the samples of this time, which is the interval of drains; half a ring wakes earlier */
#define ROOM_UNHURRIED_NS 60000000u /* the same for a recorder without real-time priority, which waits for others' time slices */
#define RATE_UNKNOWN 10000u

/* Returns the samples per second of all events together. RATE_UNKNOWN is assumed for each event with a period, and if the list of events is
 * wrong. */
static uint64_t total_sample_rate(const struct event_options *o)
{
	struct event_list list;
	uint64_t rate = 0;

	if (event_parse_list(o->name, &list, NULL))
		return RATE_UNKNOWN;
	for (int i = 0; i < list.nr; i++) {
		const struct event_spec *e = &list.spec[i];

		rate += e->rate ? e->rate : e->period || !o->rate || o->period ? RATE_UNKNOWN : o->rate;
	}
	return rate ? rate : RATE_UNKNOWN;
}

uint32_t counting_choose_stack_bytes(const struct counting *c, char *why, size_t room_for_why)
{
	const struct event_options *o = &c->options.event;
	size_t budget = counting_rings_budget();
	size_t ring = c->options.scope_thread ? counting_thread_ring_bytes(budget) : counting_cpu_ring_bytes(budget, STACK_MOST);
	uint64_t room_ns = sched_getscheduler(0) == SCHED_OTHER ? ROOM_UNHURRIED_NS : ROOM_NS;
	uint64_t room = ring / (1 + total_sample_rate(o) * room_ns / 1000000000);
	uint32_t bytes = STACK_WANTED;

	*why = 0;
	if (o->stack_bytes != EVENT_STACK_AUTO)
		return o->stack_bytes;
	while (bytes > STACK_LEAST && bytes > room)
		bytes /= 2;
	if (bytes < STACK_USUAL)
		snprintf(why, room_for_why, "%u stack bytes per sample unavailable (a ring buffer of %zu KiB is too small at this "
			 "rate%s); using %u", STACK_USUAL, ring / 1024, c->options.scope_thread ? "; --scope cpu has larger ones" : "",
			 bytes);
	return bytes < STACK_MOST ? bytes : STACK_MOST;
}

uint32_t counting_handler_stack_bytes(const struct counting *c)
{
	uint32_t bytes = c->options.event.stack_bytes;

	return bytes == EVENT_STACK_AUTO ? STACK_LEAST : bytes;
}
