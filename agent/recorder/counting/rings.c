/* SPDX-License-Identifier: MIT */
/* This file passes the kernel's records in rings on to the sink, and the values of counters at a cut or at their end. It also chooses the
 * clock of the records, and closes rings whose tasks have ended. */
#include "agent/recorder/counting/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct ring_context {
	struct counting *counting;
	struct ring *ring;
	bool has_pair; /* a pair of readings of both clocks was added in this drain; times are converted exactly only between two pairs */
};

static void count_ring_loss(const struct counting *c, enum loss_reason reason, const struct record_id *id, uint64_t count)
{
	c->sink.lost(c->sink.context, reason, id ? id->pid : 0, id ? id->tid : 0, count);
}

/* Do the event's samples stand for all that it counts?  The kernel's clocks count the time in the kernel in any case, so samples of user
 * code alone stand for a part of it. */
static bool counts_what_it_samples(const struct perf_event_attr *a)
{
	return !event_is_clock(a) || (!a->exclude_kernel && !a->exclude_user);
}

/* Finds the event of a sample by the id of its counter, if there are several events.  Returns false if no event has this id. */
static bool find_event_of_id(const struct counting *c, uint64_t id, uint32_t *event)
{
	*event = 0;
	return c->events.nr < 2 || event_ids_find(&c->ids, id, event);
}

/* Passes a sample on to the sink.  With several events, the counter's id stands first in it (PERF_SAMPLE_IDENTIFIER), whatever the event's
 * layout is. */
static void handle_ring_sample(struct ring_context *x, const struct perf_event_header *h)
{
	struct counting *c = x->counting;
	struct random_period *period;
	uint64_t id = 0, weight;
	uint32_t event;

	if (h->size >= sizeof(*h) + sizeof(id))
		memcpy(&id, h + 1, sizeof(id));
	if (!find_event_of_id(c, id, &event)) {
		count_ring_loss(c, LOSS_RING_BAD, NULL, 1);
		return;
	}
	period = &x->ring->random_period[event];
	if (c->rings.are_kept && !random_period_is_once(&c->events.event[event].attr))
		period = counting_find_attached_period(c, event, h);
	weight = c->sink.sample(c->sink.context, event, h, period);
	x->ring->nr_samples[event]++;
	x->ring->weight[event] += weight;
	if (c->rings.of_processors && counting_sample_is_idle(c, event, h))
		x->ring->idle.weight[event] += weight;
	counting_count_thread_sample(c, x->ring->cpu, event, h, weight);
}

/* Reports lost records.  The record names the thread that ran when the kernel wrote it.  In a processor's ring, this thread is the best
 * guess at whose samples were lost. */
static void handle_lost_record(struct ring_context *x, const struct kernel_record *r)
{
	x->ring->lost += r->lost;
	count_ring_loss(x->counting, LOSS_RING_FULL, &r->id, r->lost);
}

static void handle_ring_record(void *context, const struct perf_event_header *h)
{
	struct ring_context *x = context;
	struct counting *c = x->counting;
	struct kernel_record r;
	int ret;

	if (c->clock.used && !x->has_pair) {
		perf_clock_add_pair(&c->clock.perf, &c->clock.pairs);
		x->has_pair = true;
	}
	if (h->type == PERF_RECORD_SAMPLE) {
		handle_ring_sample(x, h);
		return;
	}
	ret = kernel_record(&c->layout, h, &r);
	if (ret == -EBADMSG)
		count_ring_loss(c, LOSS_RING_BAD, NULL, 1);
	if (ret)
		return;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		c->sink.mapping(c->sink.context, &r.mapping, r.id.time_ns);
		break;
	case PERF_RECORD_COMM:
		c->sink.comm(c->sink.context, &r.comm, r.id.time_ns);
		break;
	case PERF_RECORD_FORK:
		counting_attach_note_fork(c, r.task.ptid, r.task.tid);
		c->sink.task(c->sink.context, &r.task);
		break;
	case PERF_RECORD_EXIT:
		counting_end_thread(c, x->ring->cpu, &r.task);
		c->sink.task(c->sink.context, &r.task);
		break;
	case PERF_RECORD_KSYMBOL:
		if (c->sink.symbol)
			c->sink.symbol(c->sink.context, &r.symbol);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		handle_lost_record(x, &r);
		break;
	case PERF_RECORD_SWITCH:
		counting_note_switch(c, r.id.pid, r.id.tid);
		c->sink.switches(c->sink.context, h, &r.id);
		break;
	case PERF_RECORD_THROTTLE:
		count_ring_loss(c, LOSS_THROTTLED, &r.id, 1);
		break;
	}
}

void counting_begin_clock(struct counting *c)
{
	struct ring_clock *k = &c->clock;

	k->used = c->sampler < WIRE_SAMPLER_SIGNAL && events_are_batched(&c->events);
	if (k->used && !perf_clock_read(&k->perf)) { /* the clock could be read when the events were chosen, but not any more */
		k->used = false;
		for (int i = 0; i < c->events.nr; i++) {
			c->events.event[i].attr.use_clockid = 1;
			c->events.event[i].attr.clockid = CLOCK_MONOTONIC;
		}
	}
	if (!k->used)
		return;
	perf_clock_add_pair(&k->perf, &k->pairs);
	c->layout.clock = &k->pairs;
}

void counting_drain_ring(struct counting *c, struct ring *r)
{
	struct ring_context x = { c, r, false };

	if (ring_drain(r, handle_ring_record, &x))
		count_ring_loss(c, LOSS_RING_BAD, NULL, 1);
}

void counting_drain_rings(struct counting *c)
{
	for (size_t i = 0; i < c->rings.nr; i++)
		counting_drain_ring(c, &c->rings.at[i]);
	counting_drain_wakeups(c);
}

/* ------------------------------------------------------------------------------------------------------- poll(2) */

size_t counting_nr_rings(const struct counting *c)
{
	return c->rings.nr;
}

bool counting_has_tasks(const struct counting *c)
{
	return c->rings.nr && (!c->rings.are_kept || c->attached.nr);
}

uint64_t counting_read_bytes(const struct counting *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->rings.nr; i++)
		bytes += c->rings.at[i].tail;
	return bytes;
}

void counting_fill_poll(struct counting *c, struct pollfd *to)
{
	c->rings.nr_filled = c->rings.nr;
	for (size_t i = 0; i < c->rings.nr; i++)
		to[i] = (struct pollfd){ c->rings.at[i].hung_up ? -1 : c->rings.at[i].fd, POLLIN, 0 };
}

/* A ring whose tasks have all ended gets no more records.  Rings that were added since counting_fill_poll() have larger indexes than those
 * that were polled, so polled has no entry for them. */
void counting_drop_ended_rings(struct counting *c, const struct pollfd *polled)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->rings.nr; i++) {
		struct ring *r = &c->rings.at[i];

		r->hung_up |= polled && i < c->rings.nr_filled && polled[i].revents & (POLLHUP | POLLERR);
		if (r->hung_up && !c->rings.are_kept && !counting_ring_is_written(c, r->fd))
			counting_end_ring(c, r);
		else
			c->rings.at[kept++] = *r;
	}
	c->rings.nr = (uint32_t)kept;
	c->rings.nr_filled = 0;
}

/* --------------------------------------------------------------------------------------- values of counters */

/*
 * Returns the part of value that is idle time without samples.  A processor's clock counts while the processor has nothing to run, but a
 * kernel may take no samples then (Linux 6.18 as a guest takes some on the first processor only).  Samples of what ran must not stand for
 * that time.
 */
static uint64_t time_without_samples(const struct counting *c, struct ring *r, int event, uint64_t value, uint64_t weight)
{
	const struct perf_event_attr *a = &c->events.event[event].attr;

	if (!c->rings.of_processors || !event_is_clock(a) || !counts_what_it_samples(a))
		return 0;
	return counting_unsampled_idle_time(r, event, value, weight);
}

/*
 * Reports a counter's value and its losses since the previous report, and adds all of its losses so far to *lost. The kernel writes the
 * number of dropped records into the ring when the next record finds room, so the last losses may be missing in the ring. The lost count of
 * the event (Linux 6.0), which includes counters inherited from it, has them all.
 */
static void tell_counter(struct counting *c, struct ring *r, int event, uint64_t on_cpu_ns, uint64_t *lost)
{
	uint64_t count[4] = { 0 }; /* value, enabled, running, lost (Linux 6.0) */
	ssize_t n = read(event == 0 ? r->fd : r->more[event - 1], count, sizeof(count));
	struct ring_told now, *told = &r->told[event];
	uint64_t value, running_ns, idle_ns;

	if (n < (ssize_t)(3 * sizeof(count[0])))
		return;
	counting_add_attached_counts(c, r->fd, (uint32_t)event, count);
	*lost += count[3];
	now = (struct ring_told){ count[0], count[1], count[2], count[3], r->nr_samples[event],
				  counts_what_it_samples(&c->events.event[event].attr) ? r->weight[event] : 0 };
	if (now.value == told->value && now.samples == told->samples && c->rings.any_ended) {
		/* an event is enabled on all processors while its task runs on one, and the others add nothing.  The first one is reported
		 * in any case */
		*told = now;
		return;
	}
	c->rings.any_ended = true;
	value = now.value - told->value;
	running_ns = now.running_ns - told->running_ns;
	idle_ns = time_without_samples(c, r, event, value < running_ns ? value : running_ns, now.weight - told->weight);
	c->sink.ended(c->sink.context, &(struct counter_end){
		.event = (uint32_t)event, .pid = r->pid, .tid = r->tid, .cpu = r->cpu,
		.value = value - idle_ns, .enabled_ns = now.enabled_ns - told->enabled_ns - idle_ns,
		.running_ns = running_ns - idle_ns, .samples = now.samples - told->samples, .lost = now.lost - told->lost,
		.on_cpu_ns = on_cpu_ns, .weight = now.weight - told->weight, .idle_ns = idle_ns,
	});
	*told = now;
}

/* Returns how long the tasks of a ring's events ran on its processor since the previous report, or 0 if that is not known. */
static uint64_t read_on_cpu_time(const struct counting *c, struct ring *r)
{
	uint64_t count[4] = { 0 }, before = r->told_on_cpu_ns;

	if (r->on_cpu_fd < 0 || read(r->on_cpu_fd, count, sizeof(count)) < (ssize_t)(3 * sizeof(count[0])))
		return 0;
	counting_add_attached_counts(c, r->fd, ATTACHED_ON_CPU, count);
	r->told_on_cpu_ns = count[2];
	return count[2] - before;
}

/* Drains a ring, and reports the values of its counters. */
static void tell_ring(struct counting *c, struct ring *r)
{
	uint64_t lost = 0, on_cpu_ns;

	counting_drain_ring(c, r);
	on_cpu_ns = read_on_cpu_time(c, r);
	for (int i = 0; i <= r->nr_more; i++)
		tell_counter(c, r, i, on_cpu_ns, &lost);
	if (lost > r->lost) {
		c->sink.lost(c->sink.context, LOSS_RING_FULL, r->pid, r->tid, lost - r->lost);
		r->lost = lost;
	}
}

void counting_end_ring(struct counting *c, struct ring *r)
{
	tell_ring(c, r);
	ring_close(r);
}

void counting_cut(struct counting *c)
{
	counting_look_at_idle_time(c, !c->paused);
	for (size_t i = 0; i < c->rings.nr; i++)
		tell_ring(c, &c->rings.at[i]);
	counting_forget_thread_samples(c);
	c->rings.any_ended = false;
}
