/* SPDX-License-Identifier: MIT */
#include "agent/recorder/counting/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALLBACKS_MAX 8

/* This struct keeps the notices of events that were tried until one can be used. Where perf events are forbidden, one notice replaces them
 * all. */
struct fallbacks {
	struct {
		enum notice_kind kind;
		char sentence[256];
	} of[FALLBACKS_MAX];
	int nr;
};

static void keep_fallback_notice(void *fallbacks, enum notice_kind kind, const char *sentence)
{
	struct fallbacks *f = fallbacks;

	if (f->nr == FALLBACKS_MAX)
		return;
	f->of[f->nr].kind = kind;
	snprintf(f->of[f->nr++].sentence, sizeof(f->of[0].sentence), "%s", sentence);
}

static int choose_events_and_sampler(struct counting *c, struct diag *d)
{
	struct event_options wanted = c->options.event;
	struct fallbacks fallbacks = { .nr = 0 };
	int ret = 0;

	wanted.stack_bytes = c->options.sampler == SAMPLER_AUTO ? counting_choose_stack_bytes(c, c->stack_note, sizeof(c->stack_note)) :
								  counting_handler_stack_bytes(c);
	if (c->options.sampler != SAMPLER_TIMER)
		ret = events_choose(&wanted, &c->events, keep_fallback_notice, &fallbacks, d);
	for (int i = 0; i < fallbacks.nr && ret == 0; i++)
		c->notice(c->notice_context, fallbacks.of[i].kind, fallbacks.of[i].sentence);
	return counting_choose_sampler(c, -ret, d);
}

int counting_create(const struct counting_options *o, event_notice_fn notice, void *context, struct counting **out, struct diag *d)
{
	struct counting *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return diag_fail(d, ENOMEM, "out of memory for counters");
	c->options = *o;
	c->notice = notice;
	c->notice_context = context;
	ret = choose_events_and_sampler(c, d);
	if (ret == 0) {
		counting_lower_rates(c);
		counting_prepare_events(c);
		ret = record_layout(&c->events.event[0].attr, &c->layout);
		if (ret)
			diag_fail(d, -ret, "cannot read what %s is counted with", c->events.event[0].name);
	}
	if (ret) {
		counting_destroy(c);
		return ret;
	}
	counting_begin_clock(c);
	counting_open_wakeups(c);
	counting_seed_periods(c);
	*out = c;
	return 0;
}

void counting_destroy(struct counting *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->rings.nr; i++)
		ring_close(&c->rings.at[i]);
	ring_spill_destroy(c->rings.spill);
	counting_attach_end(c);
	counting_close_attached(c);
	counting_release_signal_events(c);
	counting_release_timed_processes(c);
	counting_release_threads(c);
	counting_close_wakeups(c);
	hash_map_fini(&c->ids);
	free(c->rings.at);
	free(c);
}

void counting_set_sink(struct counting *c, const struct sink *sink)
{
	c->sink = *sink;
}

const struct events *counting_events(const struct counting *c)
{
	return &c->events;
}

bool counting_has_switches(const struct counting *c)
{
	return c->events.event[0].attr.context_switch;
}

bool counting_has_wakeups(const struct counting *c)
{
	return c->wakeups.nr > 0;
}

enum wire_sampler counting_sampler(const struct counting *c)
{
	return c->sampler;
}

const struct clock_pairs *counting_clock_pairs(const struct counting *c)
{
	return c->clock.used ? &c->clock.pairs : NULL;
}

bool counting_machine_has_counters(void)
{
	struct event_pmu pmu;

	event_pmu_read(&pmu);
	return pmu.counters;
}

const char *counting_stack_note(const struct counting *c)
{
	return c->stack_note;
}

void counting_do_periodic_work(struct counting *c, uint64_t now_ns)
{
	counting_limit_rates(c, now_ns);
	counting_vary_periods(c, now_ns);
	counting_vary_signal_periods(c, now_ns);
	counting_prune_signal_events(c, now_ns);
	counting_look_at_timed_processes(c, now_ns);
	counting_close_ended_events(c, now_ns);
}

void counting_pause(struct counting *c, bool pause)
{
	c->paused = pause;
	counting_set_enabled(c, !pause);
}

bool counting_is_paused(const struct counting *c)
{
	return c->paused;
}

void counting_end_handlers(struct counting *c)
{
	counting_end_signal_events(c);
	counting_end_timed_processes(c);
}

void counting_end(struct counting *c)
{
	counting_set_enabled(c, false);
	for (size_t i = 0; i < c->rings.nr; i++)
		counting_end_ring(c, &c->rings.at[i]);
	c->rings.nr = 0;
	counting_drain_wakeups(c);
}
