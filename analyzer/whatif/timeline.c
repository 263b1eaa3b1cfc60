/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/timeline.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The sample and the record of a switch may have different times. A sample up to this much later than the record is of the switch. */
#define ROW_SLACK_NS 20000u
#define THROTTLED_LEAST_NS 300000u

/* This struct is a sample with values of the report's table. */
struct timeline_row {
	uint64_t time_ns;
	double weight;
	uint32_t thread, stack, function, wait; /* wait: the component by which the host names the wait */
	uint32_t component[TIMELINE_LEVELS];
	bool leaves, kernel;
};

enum event_kind { EVENT_BEGIN, EVENT_IN, EVENT_WAITS, EVENT_PREEMPTED, EVENT_WOKEN, EVENT_END };
struct timeline_event {
	uint64_t time_ns;
	uint32_t thread, nr; /* nr: order of the events, which decides between equal times */
	uint32_t kind, other; /* other: EVENT_WOKEN: waker's tid, or a constant of TRACE_WOKEN_BY; EVENT_BEGIN: creator */
};

static void timeline_fini(void *state)
{
	struct timeline *t = state;

	free(t->threads.at);
	free(t->spans.at);
	free(t->ticks.at);
	free(t->rows.at);
	free(t->events.at);
	free(t->said.at);
	hash_map_fini(&t->thread_of_tid);
	hash_map_fini(&t->said_of_pid);
	resource_table_fini(&t->table);
}

/*
 * Returns the index of the thread with this tid, and adds the thread if it is new. A pid other than 0 replaces the thread's. Returns
 * TIMELINE_NOBODY if memory runs out.
 */
static uint32_t get_thread(struct timeline *t, uint32_t pid, uint32_t tid)
{
	uint32_t i = hash_map_find(&t->thread_of_tid, tid, 0);

	if (i) {
		t->threads.at[i - 1].pid = pid ? pid : t->threads.at[i - 1].pid;
		return i - 1;
	}
	if (!ARRAY_GROW(t->threads) || !hash_map_set(&t->thread_of_tid, tid, 0, t->threads.nr + 1))
		return TIMELINE_NOBODY;
	t->threads.at[t->threads.nr] = (struct timeline_thread){ .tid = tid, .pid = pid, .named = UINT32_MAX, .creator = TIMELINE_NOBODY };
	return t->threads.nr++;
}

static uint32_t waits_level(const struct report *r)
{
	for (uint32_t i = 0; i < r->model->dictionary.nr_levels; i++)
		if (r->model->dictionary.level[i].flags & JITREG_LEVEL_WAITS)
			return i;
	return LEVELS_MAX;
}

static uint32_t component_at(const struct table *t, uint32_t row, uint32_t level)
{
	return level < t->nr_levels && t->column[TABLE_LEVEL_0 + level] ? t->column[TABLE_LEVEL_0 + level][row] : COMPONENT_NONE;
}

static int collect_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	struct timeline *l = context;
	const struct model *m = a->model;
	const uint32_t waits = waits_level(l->report);

	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t at = rows[i], event = t->column[TABLE_EVENT][at], thread = t->column[TABLE_THREAD][at];
		const bool leaves = event == m->leaving || event == m->preempted;
		struct timeline_row row = { .time_ns = t->time_ns[at], .leaves = leaves };

		if ((!leaves && event != l->report->event) || thread >= m->threads.nr)
			continue;
		row.weight = (double)t->weight[at] * t->share[at];
		row.kernel = t->column[TABLE_MODE][at] == TABLE_MODE_KERNEL;
		row.stack = t->column[TABLE_STACK][at];
		row.function = t->column[TABLE_FUNCTION][at];
		row.wait = waits < LEVELS_MAX ? component_at(t, at, waits) : COMPONENT_NONE;
		for (int k = 0; k < TIMELINE_LEVELS; k++)
			row.component[k] = component_at(t, at, l->level[k]);
		row.thread = get_thread(l, m->numbered.at[m->threads.at[thread].process]->pid, m->threads.at[thread].tid);
		if (row.thread == TIMELINE_NOBODY || !ARRAY_GROW(l->rows))
			return -ENOMEM;
		l->threads.at[row.thread].named = thread;
		l->rows.at[l->rows.nr++] = row;
	}
	return 0;
}

struct timeline *timeline_ask(struct report *r)
{
	struct timeline *t = report_add_state(r, sizeof(*t), timeline_fini);

	if (!t)
		return NULL;
	t->report = r;
	t->level[0] = report_find_level(r, r->level);
	t->level[1] = report_find_level(r, "pipeline");
	t->level[2] = report_find_level(r, "query");
	r->stacks = true;
	report_add_callback(r, collect_rows, t);
	return t;
}

/* ---------------------------------------------------------------------------------------------- records of the trace */

static int add_event(struct timeline *t, uint64_t time_ns, uint32_t thread, enum event_kind kind, uint32_t other)
{
	if (thread == TIMELINE_NOBODY || !ARRAY_GROW(t->events))
		return -ENOMEM;
	t->events.at[t->events.nr] = (struct timeline_event){ time_ns, thread, t->events.nr, kind, other };
	t->events.nr++;
	return 0;
}

static int add_switches(struct timeline *t, const struct sample_block *b, bool woken)
{
	static const enum event_kind kinds[] = { [TRACE_SWITCH_IN] = EVENT_IN, [TRACE_SWITCH_WAITS] = EVENT_WAITS,
						 [TRACE_SWITCH_PREEMPTED] = EVENT_PREEMPTED };
	const uint64_t *time = b->column[SAMPLE_COLUMN_TIME], *tid = b->column[SAMPLE_COLUMN_TID], *pid = b->column[SAMPLE_COLUMN_PID];
	const uint64_t *weight = b->column[SAMPLE_COLUMN_WEIGHT];
	int ret = 0;

	t->has_wakeups |= woken;
	for (uint32_t i = 0; i < b->nr && ret == 0; i++) {
		const uint64_t w = weight ? weight[i] : 0;
		const uint32_t thread = get_thread(t, pid ? (uint32_t)pid[i] : 0, tid ? (uint32_t)tid[i] : 0);

		if (woken)
			ret = add_event(t, time ? time[i] : 0, thread, EVENT_WOKEN, (uint32_t)w);
		else if (w <= TRACE_SWITCH_PREEMPTED)
			ret = add_event(t, time ? time[i] : 0, thread, kinds[w], 0);
	}
	return ret;
}

/* Returns the growth of a counter. Counters only grow, so a smaller later value comes from a damaged trace, and counts as no growth. */
static uint64_t more_of(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0;
}

/*
 * Returns the values of a process, and adds them if there are none. Each program that the process executes overwrites them
 * (read_kernel_values()). Returns NULL if memory runs out.
 */
static struct kernel_says *get_said(struct timeline *t, uint32_t pid)
{
	const uint32_t i = hash_map_find(&t->said_of_pid, pid, 0);

	if (i)
		return &t->said.at[i - 1];
	if (!ARRAY_GROW(t->said) || !hash_map_set(&t->said_of_pid, pid, 0, t->said.nr + 1))
		return NULL;
	t->said.at[t->said.nr] = (struct kernel_says){ .pid = pid };
	return &t->said.at[t->said.nr++];
}

static int read_kernel_values(struct timeline *t, const struct trace_record *r)
{
	struct kernel_says *says = get_said(t, r->pid);
	const int at = F(resources, values);
	const bool end = trace_text_is(r, F(resources, when), "end");
	struct kernel_says now = { .pid = r->pid, .from_ns = r->time_ns };
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = {
		{ "processors", &now.processors }, { "quota_us", &now.quota_us }, { "quota_period_us", &now.period_us },
		{ "ran_ns", &now.ran_ns }, { "queued_ns", &now.queued_ns }, { "throttled", &now.throttled },
		{ "disk_read_limit", &now.disk_limit[0] }, { "disk_write_limit", &now.disk_limit[1] },
		{ "throttled_ns", &now.throttled_ns }, { "throttled_us", &now.throttled_ns }, { "read_bytes", &now.read_bytes },
		{ "write_bytes", &now.write_bytes }, { "pressure_io_us", &now.pressure_io_us },
		{ "pressure_cpu_us", &now.pressure_cpu_us },
	};

	if (!says)
		return -ENOMEM;
	for (uint64_t e = 0; at < r->nr_values && e < r->values[at].u && e < 64; e++) {
		const struct trace_value name = trace_element(&r->values[at], e, 0), value = trace_element(&r->values[at], e, 1);

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (name.kind == TRACE_TEXT && strlen(known[i].name) == name.bytes &&
			    strncmp(known[i].name, name.p, name.bytes) == 0)
				*known[i].value = strcmp(known[i].name, "throttled_us") == 0 ? value.u * 1000 : value.u;
	}
	if (!end && now.processors) { /* without this value, the process had ended before its values were read */
		*says = now;
		says->has_machine = true;
	}
	if (!end || says->has_times || !says->has_machine)
		return 0;
	says->has_times = true;
	says->ran_ns = more_of(now.ran_ns, says->ran_ns);
	says->queued_ns = more_of(now.queued_ns, says->queued_ns);
	says->throttled = more_of(now.throttled, says->throttled);
	says->throttled_ns = more_of(now.throttled_ns, says->throttled_ns);
	says->read_bytes = more_of(now.read_bytes, says->read_bytes);
	says->write_bytes = more_of(now.write_bytes, says->write_bytes);
	says->pressure_io_us = more_of(now.pressure_io_us, says->pressure_io_us);
	says->pressure_cpu_us = more_of(now.pressure_cpu_us, says->pressure_cpu_us);
	return 0;
}

/*
 * Sets t->says to the values of the process that ran longest of those that have values. A command may run other programs, and programs
 * start helpers, and each of them may have limits of its own.
 */
static int choose_said(struct timeline *t)
{
	double *ran = calloc((size_t)t->said.nr + 1, sizeof(*ran)), most = -1;

	if (!ran)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->spans.nr; i++)
		if (t->spans.at[i].kind == SPAN_RUN) /* ran[0]: processes without values */
			ran[hash_map_find(&t->said_of_pid, t->threads.at[t->spans.at[i].thread].pid, 0)] +=
				(double)(t->spans.at[i].to_ns - t->spans.at[i].from_ns);
	for (uint32_t k = 0; k < t->said.nr; k++)
		if (t->said.at[k].has_machine && ran[k + 1] > most) {
			most = ran[k + 1];
			t->says = t->said.at[k];
		}
	free(ran);
	return 0;
}

/*
 * Reads when a thread began or ended. A process that existed before the recorder found it has no beginning in the time line, because the
 * recorder does not know how it spent its time before that. Older traces tell such a process by a time before the recording.
 */
static int read_fork_or_exit(struct timeline *t, const struct trace_record *r)
{
	uint32_t creator;

	if (r->id == TRACE_EXIT)
		return add_event(t, r->time_ns, get_thread(t, r->pid, r->tid), EVENT_END, 0);
	if (trace_u64(r, F(fork, existed)) || r->time_ns < t->report->model->begin_ns)
		return 0;
	creator = get_thread(t, (uint32_t)trace_u64(r, F(fork, ppid)), (uint32_t)trace_u64(r, F(fork, ptid)));
	return add_event(t, r->time_ns, get_thread(t, r->pid, r->tid), EVENT_BEGIN, creator);
}

static int read_trace(struct timeline *t)
{
	static const uint32_t ids[] = { TRACE_FORK, TRACE_EXIT, TRACE_SAMPLES, TRACE_RESOURCES };
	const struct model *m = t->report->model;
	struct trace_reader *reader = t->report->reader;
	struct sample_block b = { 0 };
	struct trace_record r;
	int ret = 0;

	trace_rewind(reader);
	trace_select_ids(reader, ids, sizeof(ids) / sizeof(ids[0]));
	while (ret == 0 && trace_next(reader, &r) == 1) {
		uint64_t event = r.id == TRACE_SAMPLES ? trace_u64(&r, F(samples, event)) : MODEL_NO_EVENT;

		if (r.id == TRACE_RESOURCES)
			ret = read_kernel_values(t, &r);
		else if (r.id != TRACE_SAMPLES)
			ret = read_fork_or_exit(t, &r);
		else if ((event == m->preempted || event == m->run_queue) && event != MODEL_NO_EVENT && sample_block_decode(&r, &b) == 0)
			ret = trace_spend_budget(reader, b.nr) ? add_switches(t, &b, event == m->run_queue) : -E2BIG;
	}
	sample_block_fini(&b);
	trace_select_ids(reader, NULL, 0);
	return ret;
}

/* ------------------------------------------------------------------------------------------------------------- spans */

static int compare_events(const void *a, const void *b)
{
	const struct timeline_event *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int compare_rows(const void *a, const void *b)
{
	const struct timeline_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add_span(struct timeline *t, const struct span *s)
{
	if (s->to_ns <= s->from_ns)
		return 0;
	if (!ARRAY_PUSH(t->spans, *s))
		return -ENOMEM;
	return 0;
}

static void end_wait(struct timeline *t, struct span *s, uint32_t waker)
{
	uint32_t thread = waker > TRACE_WOKEN_BY_UNKNOWN ? hash_map_find(&t->thread_of_tid, waker, 0) : 0;

	s->end = waker == TRACE_WOKEN_BY_UNKNOWN ? END_UNKNOWN : waker == TRACE_WOKEN_BY_INTERRUPT ? END_BY_INTERRUPT : END_BY_OUTSIDE;
	if (thread && thread - 1 != s->thread) {
		s->end = END_BY_THREAD;
		s->waker = thread - 1;
	}
}

/*
 * Sets the components of *s, and, for a wait, what the thread waits for. Both come from the sample that was taken when it left its
 * processor. row: NULL if there is no such sample, and then the resource of a wait is RESOURCE_UNKNOWN.
 */
static void place_leaving(struct timeline *t, struct span *s, const struct timeline_row *row)
{
	const struct dictionary *d = &t->report->model->dictionary;

	s->lock = 0;
	s->resource = s->kind == SPAN_QUEUE ? RESOURCE_QUEUE : RESOURCE_UNKNOWN;
	memset(s->component, 0, sizeof(s->component));
	if (!row) {
		t->unplaced += s->kind == SPAN_WAIT;
		return;
	}
	memcpy(s->component, row->component, sizeof(s->component));
	if (s->kind == SPAN_WAIT) {
		const char *wait = row->wait && row->wait < d->components.nr ? d->components.at[row->wait].name : NULL;
		struct resource_wait w = resource_of_stack(&t->table, t->report->a, row->stack, wait);

		s->resource = (uint8_t)w.resource;
		s->lock = w.caller;
	}
}

/*
 * Returns the last row in [*at, to) that was sampled when the thread left its processor, up to a time (and ROW_SLACK_NS later), or NULL.
 * *at becomes the first row after that time.
 */
static const struct timeline_row *leaving_row(const struct timeline *t, uint32_t *at, uint32_t to, uint64_t time_ns)
{
	const struct timeline_row *found = NULL;

	for (; *at < to && t->rows.at[*at].time_ns <= time_ns + ROW_SLACK_NS; (*at)++)
		if (t->rows.at[*at].leaves)
			found = &t->rows.at[*at];
	return found;
}

/* Makes a thread's spans from its events [from, to) and rows [row, rows_end). Returns 0 or -ENOMEM. */
static int make_thread_spans(struct timeline *t, uint32_t thread, uint32_t from, uint32_t to, uint32_t row, uint32_t rows_end)
{
	struct timeline_thread *h = &t->threads.at[thread];
	struct span now = { .thread = thread, .kind = SPAN_RUN, .resource = RESOURCE_CORE };
	bool ended = false;
	int ret = 0;

	h->first_span = t->spans.nr;
	if (from == to && row == rows_end)
		return 0; /* the thread is known only because it created another one */
	now.from_ns = from < to ? t->events.at[from].time_ns : 0;
	if (row < rows_end && (from == to || t->rows.at[row].time_ns < now.from_ns) &&
	    !(from < to && t->events.at[from].kind == EVENT_BEGIN))
		now.from_ns = t->rows.at[row].time_ns;
	h->from_ns = now.from_ns;
	for (uint32_t i = from; i < to && ret == 0 && !ended; i++) {
		const struct timeline_event *e = &t->events.at[i];
		struct span next = { .from_ns = e->time_ns, .thread = thread, .kind = now.kind, .resource = now.resource };

		if (e->kind == EVENT_WOKEN ? now.kind != SPAN_WAIT : e->kind == EVENT_IN && now.kind == SPAN_RUN)
			continue;
		switch (e->kind) {
		case EVENT_BEGIN:
			h->creator = e->other;
			next.kind = SPAN_QUEUE;
			next.resource = RESOURCE_QUEUE;
			break;
		case EVENT_IN:
			if (now.kind == SPAN_WAIT)
				end_wait(t, &now, TRACE_WOKEN_BY_UNKNOWN);
			next.kind = SPAN_RUN;
			next.resource = RESOURCE_CORE;
			break;
		case EVENT_WOKEN:
			end_wait(t, &now, e->other);
			memcpy(next.component, now.component, sizeof(next.component));
			next.kind = SPAN_QUEUE;
			next.resource = RESOURCE_QUEUE;
			break;
		case EVENT_END:
			ended = true;
			break;
		default:
			next.kind = e->kind == EVENT_WAITS ? SPAN_WAIT : SPAN_QUEUE;
			place_leaving(t, &next, leaving_row(t, &row, rows_end, e->time_ns));
			break;
		}
		now.to_ns = e->time_ns;
		ret = add_span(t, &now);
		now = next;
	}
	h->to_ns = now.from_ns;
	/*
	 * The last span of a thread without an end lasts until the end of the recording, or, if the thread runs and has later samples,
	 * until the last of them.
	 */
	if (!ended && ret == 0) {
		now.to_ns = rows_end > row && now.kind == SPAN_RUN ? t->rows.at[rows_end - 1].time_ns : t->last_ns;
		ret = add_span(t, &now);
		h->to_ns = now.to_ns > h->to_ns ? now.to_ns : h->to_ns;
	}
	h->nr_spans = t->spans.nr - h->first_span;
	return ret;
}

static int make_spans(struct timeline *t)
{
	uint32_t event = 0, row = 0;
	int ret = 0;

	if (t->events.nr)
		qsort(t->events.at, t->events.nr, sizeof(*t->events.at), compare_events);
	if (t->rows.nr)
		qsort(t->rows.at, t->rows.nr, sizeof(*t->rows.at), compare_rows);
	for (uint32_t i = 0; i < t->events.nr; i++)
		t->last_ns = t->events.at[i].time_ns > t->last_ns ? t->events.at[i].time_ns : t->last_ns;
	for (uint32_t i = 0; i < t->rows.nr; i++)
		t->last_ns = t->rows.at[i].time_ns > t->last_ns ? t->rows.at[i].time_ns : t->last_ns;
	for (uint32_t i = 0; i < t->threads.nr && ret == 0; i++) {
		uint32_t events = event, rows = row;

		while (events < t->events.nr && t->events.at[events].thread == i)
			events++;
		while (rows < t->rows.nr && t->rows.at[rows].thread == i)
			rows++;
		ret = make_thread_spans(t, i, event, events, row, rows);
		event = events;
		row = rows;
	}
	t->first_ns = UINT64_MAX;
	for (uint32_t i = 0; i < t->spans.nr; i++)
		t->first_ns = t->spans.at[i].from_ns < t->first_ns ? t->spans.at[i].from_ns : t->first_ns;
	return ret;
}

/* Returns 1 + the function whose call takes or leaves a lock (1: it is not known), or 0 if the stack has no such call. */
static uint32_t work_of_lock(struct timeline *t, uint32_t stack)
{
	const struct resource_wait w = resource_of_stack(&t->table, t->report->a, stack, NULL);

	return w.resource == RESOURCE_LOCK ? w.caller + 1 : 0;
}

/* Sets of_pid, by pid, to the number of threads of the process. Returns false if memory runs out. */
static bool count_threads(const struct timeline *t, struct hash_map *of_pid)
{
	for (uint32_t i = 0; i < t->threads.nr; i++)
		if (!hash_map_set(of_pid, t->threads.at[i].pid, 0, hash_map_find(of_pid, t->threads.at[i].pid, 0) + 1))
			return false;
	return true;
}

/*
 * Makes ticks of the samples, except for those that were taken when a thread left its processor. The weights of a thread's ticks are scaled
 * to add up to the time that it ran. Returns 0 or -ENOMEM.
 */
static int make_ticks(struct timeline *t)
{
	struct hash_map threads = { .capacity = 0 };

	t->ticks.at = calloc((size_t)t->rows.nr + 1, sizeof(*t->ticks.at));
	if (!t->ticks.at || !count_threads(t, &threads)) {
		hash_map_fini(&threads);
		return -ENOMEM;
	}
	for (uint32_t row = 0, i = 0; i < t->threads.nr; i++) {
		struct timeline_thread *h = &t->threads.at[i];
		double weight = 0, ran = 0;

		h->first_tick = t->ticks.nr;
		for (; row < t->rows.nr && t->rows.at[row].thread == i; row++) {
			const struct timeline_row *r = &t->rows.at[row];
			struct tick *k = &t->ticks.at[t->ticks.nr];

			if (r->leaves)
				continue;
			*k = (struct tick){ .time_ns = r->time_ns, .weight = r->weight, .thread = i, .function = r->function,
					    .lock = work_of_lock(t, r->stack), .resource = RESOURCE_CORE };
			if (r->kernel) {
				k->resource = resource_is_fault(t->report->a, r->stack) ? RESOURCE_FAULT : RESOURCE_KERNEL;
				k->between = resource_is_between(t->report->a, r->stack);
				k->copies = hash_map_find(&threads, h->pid, 0) > 1 && resource_is_copy(t->report->a, r->stack);
			}
			memcpy(k->component, r->component, sizeof(k->component));
			weight += r->weight;
			t->ticks.nr++;
		}
		h->nr_ticks = t->ticks.nr - h->first_tick;
		for (uint32_t s = h->first_span; s < h->first_span + h->nr_spans; s++)
			ran += t->spans.at[s].kind == SPAN_RUN ? (double)(t->spans.at[s].to_ns - t->spans.at[s].from_ns) : 0;
		for (uint32_t k = h->first_tick; weight > 0 && k < t->ticks.nr; k++)
			t->ticks.at[k].weight *= ran / weight;
	}
	hash_map_fini(&threads);
	return 0;
}

/* ----------------------------------------------------------------------------------- reasons of waiting for a processor */

struct boundary {
	uint64_t time_ns;
	int change, running; /* running: number of threads that run from then on */
	double none, some;   /* none, some: ns before it in which no thread ran, and in which fewer ran than there are processors */
};

static int compare_boundaries(const void *a, const void *b)
{
	const struct boundary *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct idle {
	struct boundary *at;
	uint32_t nr;
	double processors;
};

/* Sets *none to the time before time_ns in which no thread ran, and *some to that in which a processor was free. b: the last boundary
 * before time_ns. */
static void idle_since(const struct idle *idle, const struct boundary *b, uint64_t time_ns, double *none, double *some)
{
	const double more = (double)(time_ns - b->time_ns);

	*none = b->none + (b->running == 0 ? more : 0);
	*some = b->some + (b->running < idle->processors ? more : 0);
}

static void idle_until(const struct idle *idle, uint64_t time_ns, double *none, double *some)
{
	const uint32_t up_to = SORTED_COUNT(idle->nr, i, idle->at[i].time_ns <= time_ns);

	*none = *some = 0;
	if (up_to)
		idle_since(idle, &idle->at[up_to - 1], time_ns, none, some);
}

static bool idle_make(const struct timeline *t, struct idle *idle)
{
	idle->at = calloc(2 * (size_t)t->spans.nr + 1, sizeof(*idle->at));
	if (!idle->at)
		return false;
	for (uint32_t i = 0; i < t->spans.nr; i++)
		if (t->spans.at[i].kind == SPAN_RUN) {
			idle->at[idle->nr++] = (struct boundary){ .time_ns = t->spans.at[i].from_ns, .change = 1 };
			idle->at[idle->nr++] = (struct boundary){ .time_ns = t->spans.at[i].to_ns, .change = -1 };
		}
	qsort(idle->at, idle->nr, sizeof(*idle->at), compare_boundaries);
	for (uint32_t i = 0; i < idle->nr; i++) {
		struct boundary *b = &idle->at[i];

		if (i)
			idle_since(idle, b - 1, b->time_ns, &b->none, &b->some);
		b->running = (i ? b[-1].running : 0) + b->change;
	}
	return true;
}

/*
 * Finds the reason of each wait for a processor. With a quota, a wait of THROTTLED_LEAST_NS or more is the quota's if no thread ran in more
 * than half of it. Otherwise the time of the wait in which a processor was free counts: if it is longer than LATENCY_MOST_NS, other
 * programs had that processor (intruded_ns), and if not, it is the latency of waking. Returns 0 or -ENOMEM.
 */
static int tell_queues_apart(struct timeline *t)
{
	struct idle idle = { .processors = t->processors };
	int ret = idle_make(t, &idle) ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->spans.nr && ret == 0; i++) {
		struct span *s = &t->spans.at[i];
		double none[2], some[2];

		if (s->kind != SPAN_QUEUE)
			continue;
		idle_until(&idle, s->from_ns, &none[0], &some[0]);
		idle_until(&idle, s->to_ns, &none[1], &some[1]);
		if (t->quota > 0 && s->to_ns - s->from_ns >= THROTTLED_LEAST_NS &&
		    none[1] - none[0] > 0.5 * (double)(s->to_ns - s->from_ns))
			s->resource = RESOURCE_THROTTLED;
		else if (some[1] - some[0] > LATENCY_MOST_NS)
			t->intruded_ns += some[1] - some[0];
		else
			s->latency_ns = (uint32_t)(some[1] - some[0]);
	}
	free(idle.at);
	return ret;
}

int timeline_make(struct timeline *t, const char *resources, struct diag *d)
{
	const struct model *m = t->report->model;
	int ret = resource_table_init(&t->table, resources, d);

	if (ret)
		return ret;
	if (m->leaving == MODEL_NO_EVENT || m->preempted == MODEL_NO_EVENT)
		return diag_fail(d, ENODATA, "the trace has no context switches; record them with `-e auto,context-switches` (root, or "
				 "kernel.perf_event_paranoid <= 1)");
	ret = read_trace(t);
	ret = ret ? ret : make_spans(t);
	ret = ret ? ret : choose_said(t);
	t->processors = t->says.processors ? (double)t->says.processors : m->nr_cpus ? m->nr_cpus : 1;
	t->quota_period_ns = t->says.period_us ? (double)t->says.period_us * 1000 : 1e8;
	t->quota = t->says.quota_us ? (double)t->says.quota_us * 1000 / t->quota_period_ns : 0;
	if (t->quota >= t->processors)
		t->quota = 0;
	ret = ret ? ret : make_ticks(t);
	ret = ret ? ret : tell_queues_apart(t);
	if (ret)
		return diag_fail(d, -ret, "out of memory for the time line of this trace");
	if (!t->spans.nr)
		return diag_fail(d, ENODATA, "the trace has no context switches of what passes the filters");
	return 0;
}

const char *timeline_comm(const struct timeline *t, uint32_t thread)
{
	const struct model *m = t->report->model;
	const uint32_t named = thread < t->threads.nr ? t->threads.at[thread].named : UINT32_MAX;

	if (named >= m->threads.nr)
		return "";
	return *m->threads.at[named].comm ? m->threads.at[named].comm : m->numbered.at[m->threads.at[named].process]->comm;
}

void timeline_sum(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns, double sum[NR_RESOURCES])
{
	const struct timeline_thread all = { .nr_spans = t->spans.nr, .nr_ticks = t->ticks.nr };
	const struct timeline_thread *h = thread == TIMELINE_NOBODY ? &all : &t->threads.at[thread];
	double ticks = 0, ran = 0, of[NR_RESOURCES] = { 0 };

	memset(sum, 0, NR_RESOURCES * sizeof(*sum));
	for (uint32_t i = h->first_span; i < h->first_span + h->nr_spans; i++) {
		const struct span *s = &t->spans.at[i];
		const uint64_t from = s->from_ns > from_ns ? s->from_ns : from_ns, to = s->to_ns < to_ns ? s->to_ns : to_ns;

		if (from >= to)
			continue;
		sum[s->resource] += (double)(to - from);
		ran += s->kind == SPAN_RUN ? (double)(to - from) : 0;
	}
	for (uint32_t i = h->first_tick; i < h->first_tick + h->nr_ticks; i++)
		if (t->ticks.at[i].time_ns >= from_ns && t->ticks.at[i].time_ns < to_ns) {
			of[t->ticks.at[i].resource] += t->ticks.at[i].weight;
			ticks += t->ticks.at[i].weight;
		}
	if (ticks <= 0)
		return;
	sum[RESOURCE_CORE] = ran * of[RESOURCE_CORE] / ticks;
	sum[RESOURCE_KERNEL] = ran * of[RESOURCE_KERNEL] / ticks;
	sum[RESOURCE_FAULT] = ran * of[RESOURCE_FAULT] / ticks;
}
