/* SPDX-License-Identifier: MIT */
/*
 * This file takes samples without ring buffers. Signal handlers in the host take them and write them into the log of its agent. The signals
 * come from overflows of counters or, with SAMPLER_TIMER or where perf events are forbidden, from timers. This file makes records of perf
 * from the logs' samples, so that the sink need not distinguish them.
 */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AT_HELD_NS 1000000000ull
#define RECORD_MAX 65528u /* perf_event_header.size has 16 bits */
#define LAYOUT (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define ATTR_BYTES (sizeof(struct perf_event_attr) < WIRE_ATTR_BYTES ? sizeof(struct perf_event_attr) : WIRE_ATTR_BYTES)

/* These are perf's numbers of the registers in struct log_sample, in its order. */
static const unsigned char registers[LOG_SAMPLE_REGISTERS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21, 22, 23 };

/* ---------------------------------------------------------------------------------------------------------- choosing */

static bool is_permission_error(int error)
{
	return error == EACCES || error == EPERM || error == ENOSYS;
}

/* Returns the ticks of the kernel per second, or 100 if they are unknown.  The kernel checks timers of processor time at its tick, so
 * samples come no faster. */
static uint64_t ticks_per_second(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec || !t.tv_nsec)
		return 100;
	return 1000000000u / (uint64_t)t.tv_nsec;
}

static void set_timer_event(struct counting *c)
{
	const struct event_options *o = &c->options.event;
	struct perf_event_attr *a = &c->events.event[0].attr;

	memset(&c->events, 0, sizeof(c->events));
	c->events.nr = 1;
	snprintf(c->events.event[0].name, sizeof(c->events.event[0].name), "cpu-timer");
	c->events.event[0].unit = WEIGHT_NS;
	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_TASK_CLOCK;
	a->sample_period = o->period ? o->period : 1000000000 / o->rate;
	a->sample_stack_user = counting_handler_stack_bytes(c);
	a->sample_regs_user = o->registers == EVENT_REGISTERS_NONE ? 0 : o->registers ? o->registers : EVENT_REGISTERS_DEFAULT;
	c->sampler = WIRE_SAMPLER_TIMER;
}

int counting_choose_sampler(struct counting *c, int error, struct diag *d)
{
	const struct counting_options *o = &c->options;
	struct perf_event_attr *a = &c->events.event[0].attr;
	bool automatic = o->sampler == SAMPLER_AUTO && strcmp(o->event.name, "auto") == 0;
	uint64_t ticks = ticks_per_second();
	char text[256];

	if (o->sampler == SAMPLER_TIMER || (automatic && is_permission_error(error))) {
		if (o->no_guest)
			return diag_fail(d, error ? error : EINVAL, "cannot sample by a timer: the agent cannot be loaded into this "
					 "program%s",
					 error ? ", and perf events are not permitted" : "");
		if (error) {
			snprintf(text, sizeof(text), "perf events unavailable (%s); using a timer in each thread",
				 event_why_not_permitted());
			c->notice(c->notice_context, NOTICE_FALLBACK, text);
		}
		set_timer_event(c);
		if (1000000000 / a->sample_period > ticks) {
			snprintf(text, sizeof(text), "sampling at most %llu times per second and thread (timers expire at the kernel's "
				 "tick); each sample has the CPU time since the previous one, the kernel's too, as its weight",
				 (unsigned long long)ticks);
			c->notice(c->notice_context, NOTICE_LADDER, text);
		}
	} else if (error) {
		return -error;
	} else if (o->sampler == SAMPLER_SIGNAL) {
		if (o->no_guest)
			return diag_fail(d, EINVAL, "cannot sample by signals: the agent cannot be loaded into this program");
		if (c->events.nr > 1)
			return diag_fail(d, EINVAL, "--sampler signal supports one event only");
		if (a->freq)
			return diag_fail(d, EINVAL, "--sampler signal needs a --period for %s",
					 c->events.event[0].name);
		c->sampler = WIRE_SAMPLER_SIGNAL;
	} else {
		c->sampler = o->scope_thread ? WIRE_SAMPLER_RING : WIRE_SAMPLER_NONE;
	}
	if (c->sampler == WIRE_SAMPLER_SIGNAL || c->sampler == WIRE_SAMPLER_TIMER) {
		if (o->event.frame_pointers)
			c->notice(c->notice_context, NOTICE_LADDER,
				  "callchains by frame pointers unavailable (samples of a signal handler have none); use --stack "
				  "to record stacks");
		/* this is the layout that counting_take_log_sample() writes */
		a->sample_type = LAYOUT;
		a->sample_regs_user |= 1ull << SAMPLE_TAG_WORD;
		a->exclude_kernel = c->sampler == WIRE_SAMPLER_SIGNAL; /* a timer's sample has the kernel's time in its weight */
	}
	return 0;
}

void counting_describe_sampler(const struct counting *c, struct wire_answer *answer)
{
	struct perf_event_attr a = c->events.event[0].attr;

	answer->sampler = c->sampler;
	answer->interval_ns = a.sample_period;
	answer->stack_bytes = a.sample_stack_user;
	answer->nr_events = (uint32_t)c->events.nr;
	for (int i = 1; i < c->events.nr; i++)
		memcpy(answer->attr[i], &c->events.event[i].attr, ATTR_BYTES);
	if (c->sampler == WIRE_SAMPLER_SIGNAL) { /* the counter only has to overflow in user space and signal its thread */
		a.sample_type = PERF_SAMPLE_IP;
		a.sample_regs_user = 0;
		a.sample_stack_user = 0;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = a.build_id = a.ksymbol = 0;
		a.wakeup_events = 1;
	}
	memcpy(answer->attr[0], &a, ATTR_BYTES);
}

/* ----------------------------------------------------------------------------------------------------------- samples */

static uint64_t *put_sample_registers(uint64_t *to, uint64_t mask, const struct log_sample *g)
{
	*to++ = PERF_SAMPLE_REGS_ABI_64;
	for (int i = 0; i < LOG_SAMPLE_REGISTERS; i++)
		if (mask & 1ull << registers[i])
			*to++ = g->registers[i];
	*to++ = g->tag_word;
	return to;
}

static struct signal_event *find_signal_event(const struct signal_events *s, uint32_t pid, uint32_t tid)
{
	uint32_t i = hash_map_find(&s->of_thread, tid, pid);

	return i ? &s->at[i - 1] : NULL;
}

/* Counts a sample for its thread's counter, if that is known, and sets its weight to the period that the counter had.  The handler knows
 * only the mean period. */
static void weigh_signal_sample(struct signal_events *s, uint32_t pid, uint32_t tid, struct log_sample *g)
{
	struct signal_event *e = find_signal_event(s, pid, tid);

	if (!e)
		return;
	random_period_count_sample(&e->random_period, 0);
	if (e->random_period.period)
		g->weight = g->timestamp < e->changed_ns ? e->period_before : e->random_period.period;
	e->samples++;
	e->weight += g->weight;
}

void counting_take_log_sample(struct counting *c, uint32_t pid, uint32_t tid, const void *record, size_t bytes)
{
	static uint64_t words[RECORD_MAX / 8]; /* may be static, because only one thread drains */
	struct perf_event_header *h = (struct perf_event_header *)(void *)words;
	uint64_t *to = (uint64_t *)(void *)(h + 1);
	struct log_sample g;
	size_t room, stack;

	if (bytes >= sizeof(g))
		memcpy(&g, record, sizeof(g));
	if (c->sampler < WIRE_SAMPLER_SIGNAL || bytes < sizeof(g) || g.stack_bytes != bytes - sizeof(g) || g.stack_bytes % 8 != 0) {
		c->sink.lost(c->sink.context, LOSS_LOG_BAD, 0, 0, 1);
		return;
	}
	if (c->paused)
		return; /* timers expire during a pause, too */
	if (c->sampler == WIRE_SAMPLER_SIGNAL)
		weigh_signal_sample(&c->signal_events, pid, tid, &g);
	else
		counting_add_timed_sample(c, pid, g.weight);
	*to++ = g.registers[8];
	*to++ = (uint64_t)tid << 32 | pid;
	*to++ = g.timestamp;
	*to++ = g.cpu;
	*to++ = g.weight;
	to = put_sample_registers(to, c->events.event[0].attr.sample_regs_user, &g);
	room = sizeof(words) - (size_t)((char *)(to + 2) - (char *)words);
	stack = g.stack_bytes < room ? g.stack_bytes : room & ~(size_t)7;
	*to++ = stack;
	memcpy(to, (const char *)record + sizeof(g), stack);
	to += stack / 8;
	if (stack)
		*to++ = stack;
	h->type = PERF_RECORD_SAMPLE;
	h->misc = PERF_RECORD_MISC_USER;
	h->size = (uint16_t)((char *)to - (char *)words);
	c->sink.sample(c->sink.context, 0, h, NULL);
}

/* --------------------------------------------------------------------------------------------------- held descriptors */

static void end_signal_event(struct counting *c, struct signal_event *e)
{
	uint64_t count[4] = { 0 }; /* value, enabled, running, lost */

	if (read(e->fd, count, sizeof(count)) >= (ssize_t)(3 * sizeof(count[0])) && (count[0] || e->samples))
		c->sink.ended(c->sink.context, &(struct counter_end){ .event = 0, .pid = e->pid, .tid = e->tid, .cpu = -1,
			.value = count[0], .enabled_ns = count[1], .running_ns = count[2], .samples = e->samples, .weight = e->weight });
	close(e->fd);
}

static void set_signal_period(struct signal_event *e, uint64_t period, uint64_t now_ns)
{
	uint64_t before = e->random_period.period;

	if (!period || ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &period))
		return;
	e->period_before = before ? before : period;
	e->changed_ns = now_ns;
	random_period_note_change(&e->random_period, period);
}

int counting_add_signal_event(struct counting *c, int fd, uint32_t pid, uint32_t tid)
{
	struct signal_events *s = &c->signal_events;
	struct perf_event_attr first = counting_randomize_period(c, &c->events.event[0].attr, 0);

	if (!ARRAY_GROW(*s) || !hash_map_set(&s->of_thread, tid, pid, s->nr + 1))
		return -ENOMEM;
	s->at[s->nr] = (struct signal_event){ .fd = fd, .pid = pid, .tid = tid };
	set_signal_period(&s->at[s->nr++], first.sample_period, 0);
	if (!c->paused)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

void counting_vary_signal_periods(struct counting *c, uint64_t now_ns)
{
	if (now_ns - c->signal_events.varied_ns < PERIODS_VARY_NS)
		return;
	c->signal_events.varied_ns = now_ns;
	for (size_t i = 0; i < c->signal_events.nr; i++) {
		struct signal_event *e = &c->signal_events.at[i];

		set_signal_period(e, counting_draw_period(c, &c->events.event[0].attr, &e->random_period), now_ns);
	}
}

static bool thread_has_ended(const struct signal_event *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", e->pid, e->tid);
	return access(path, F_OK) != 0;
}

void counting_prune_signal_events(struct counting *c, uint64_t now_ns)
{
	struct signal_events *s = &c->signal_events;
	uint32_t kept = 0;

	if (!s->nr || now_ns - s->looked_ns < LOOK_AT_HELD_NS)
		return;
	s->looked_ns = now_ns;
	for (uint32_t i = 0; i < s->nr; i++)
		if (thread_has_ended(&s->at[i]))
			end_signal_event(c, &s->at[i]);
		else
			s->at[kept++] = s->at[i];
	if (kept == s->nr)
		return;
	s->nr = kept;
	hash_map_fini(&s->of_thread); /* a thread for which there is no memory keeps the handler's weights, which are mean periods */
	for (uint32_t i = 0; i < kept; i++)
		hash_map_set(&s->of_thread, s->at[i].tid, s->at[i].pid, i + 1);
}

void counting_end_signal_events(struct counting *c)
{
	for (uint32_t i = 0; i < c->signal_events.nr; i++)
		end_signal_event(c, &c->signal_events.at[i]);
	c->signal_events.nr = 0;
}

void counting_release_signal_events(struct counting *c)
{
	for (uint32_t i = 0; i < c->signal_events.nr; i++)
		close(c->signal_events.at[i].fd);
	ARRAY_FREE(c->signal_events);
	hash_map_fini(&c->signal_events.of_thread);
}
