/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/graph.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GUESS_THREADS 64u
/* A thread that ends less than this before its creator is taken to end with the process, and not to be joined. */
#define JOINED_LEAST_NS 1000000u
#define TICK_SHARE 0.1 /* a thread that runs at most this part of the time that it waited before only checks for work (find_ticks()) */
#define LIMITED_SHARE 0.5 /* a disk's limit causes the waits if all bytes take more than this part of the recording at that limit */
#define TARGET_SHARE 0.97 /* if the first thread exists until this part of the window, its end is the completion */

/* A thread gives a signal when it ends the wait of another one, creates a thread, or ends and is joined (find_joins()). */
struct wake {
	uint64_t time_ns;
	uint32_t waker, signal, span; /* span: the wait that ends; UINT32_MAX: a thread begins or ends */
};

/* A thread is assumed to wait for the end of another one at this time, though no wait in the trace is ended by it (find_joins()). */
struct join {
	uint64_t time_ns;
	uint32_t thread, signal;
};

/* How a wait ends. signal: 1 + the number of the signal that ends it; 0: none. */
struct wait_end {
	uint32_t signal;
	uint8_t tick; /* enum graph_tick */
	uint64_t held_ns; /* 1 + the time that the preempted holder of the lock ran during the wait; 0: no holder was preempted */
};

struct wakes {
	ARRAY_OF(struct wake);
	ARRAY(struct join) joins;
};

static int compare_wakes(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->signal < y->signal ? -1 : x->signal > y->signal;
}

static int compare_joins(const void *a, const void *b)
{
	const struct join *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->signal < y->signal ? -1 : x->signal > y->signal;
}

/* Returns what a thread does at a time. SPAN_WAIT also means that the thread does not exist then. */
static enum span_kind kind_at(const struct timeline *t, uint32_t thread, uint64_t time_ns)
{
	const struct timeline_thread *h = &t->threads.at[thread];
	const struct span *s = &t->spans.at[h->first_span];
	const uint32_t at = SORTED_COUNT(h->nr_spans, i, s[i].to_ns < time_ns);

	return at < h->nr_spans && s[at].from_ns <= time_ns ? (enum span_kind)s[at].kind : SPAN_WAIT;
}

static uint64_t ran_in(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct timeline_thread *h = &t->threads.at[thread];
	const struct span *s = &t->spans.at[h->first_span];
	uint64_t sum = 0;

	for (uint32_t i = SORTED_COUNT(h->nr_spans, k, s[k].to_ns <= from_ns); i < h->nr_spans && s[i].from_ns < to_ns; i++)
		if (s[i].kind == SPAN_RUN)
			sum += (s[i].to_ns < to_ns ? s[i].to_ns : to_ns) - (s[i].from_ns > from_ns ? s[i].from_ns : from_ns);
	return sum;
}

/*
 * Guesses which thread ended a wait if no wake-up was recorded for it, or if the waker is not known. That is the only other thread that
 * runs at the end of the wait, or else the last of the threads that ended during it. If the wait is for a child, a thread that ended during
 * it is preferred. Returns TIMELINE_NOBODY if there is no such thread, or if there are more than GUESS_THREADS, since each guess looks at
 * all of them.
 */
static uint32_t guess_waker(const struct timeline *t, const struct span *s)
{
	uint32_t found = TIMELINE_NOBODY, ended = TIMELINE_NOBODY, running = 0;

	for (uint32_t i = 0; i < t->threads.nr && t->threads.nr <= GUESS_THREADS; i++) {
		const struct timeline_thread *h = &t->threads.at[i];

		if (i == s->thread || !h->nr_spans)
			continue;
		if (h->to_ns > s->from_ns && h->to_ns <= s->to_ns && (ended == TIMELINE_NOBODY || h->to_ns > t->threads.at[ended].to_ns))
			ended = i;
		if (kind_at(t, i, s->to_ns) == SPAN_RUN) {
			found = i;
			running++;
		}
	}
	if (s->resource == RESOURCE_CHILD && ended != TIMELINE_NOBODY)
		return ended;
	return running == 1 ? found : ended;
}

/* Returns the thread that ends a wait. TIMELINE_NOBODY: no thread does, or it is not known. */
static uint32_t waker_of(const struct timeline *t, const struct span *s)
{
	if (s->resource == RESOURCE_SLEEP || s->resource == RESOURCE_DISK_READ || s->resource == RESOURCE_DISK_WRITE)
		return TIMELINE_NOBODY;
	if (s->end == END_BY_THREAD)
		return s->waker;
	if (s->end == END_UNKNOWN && s->resource != RESOURCE_NETWORK)
		return guess_waker(t, s);
	return TIMELINE_NOBODY;
}

/*
 * Returns whether a wait is for a lock whose holder (waker) was waiting for a processor when the wait began. On another machine the holder
 * would mostly have left the lock by then, or would be waited for only as long as it still had to run.
 */
static bool waits_for_preempted(const struct timeline *t, const struct span *s, uint32_t waker)
{
	return s->resource == RESOURCE_LOCK && kind_at(t, waker, s->from_ns) == SPAN_QUEUE;
}

static int add_wake(struct step_graph *g, struct wakes *w, uint64_t time_ns, uint32_t waker, uint32_t span)
{
	if (!ARRAY_GROW(*w) || !GROW(g->await_of_signal, g->nr_signals, g->signals_capacity) ||
	    !GROW(g->giver_of_signal, g->nr_signals, g->givers_capacity))
		return -ENOMEM;
	g->await_of_signal[g->nr_signals] = g->giver_of_signal[g->nr_signals] = SIMULATE_NONE;
	w->at[w->nr++] = (struct wake){ time_ns, waker, g->nr_signals++, span };
	return 0;
}

/*
 * Returns the time at which the creator of h is taken to have joined it. That is the end of the creator's first wait for a child that does
 * not end before h does, or else the end of the creator if both are threads of one process. Returns 0 if neither holds, if h ends before
 * the window, if h does not end JOINED_LEAST_NS before its creator, or if the creator ends after the window.
 */
static uint64_t joined_at(const struct step_graph *g, const struct timeline_thread *h)
{
	const struct timeline_thread *creator = &g->t->threads.at[h->creator];
	const struct span *s = &g->t->spans.at[creator->first_span];
	uint32_t i = SORTED_COUNT(creator->nr_spans, k, s[k].to_ns < h->to_ns);

	if (h->to_ns <= g->from_ns || h->to_ns + JOINED_LEAST_NS > creator->to_ns || creator->to_ns > g->to_ns)
		return 0;
	for (; i < creator->nr_spans; i++)
		if (s[i].kind == SPAN_WAIT && s[i].resource == RESOURCE_CHILD)
			return s[i].to_ns;
	return creator->pid == h->pid ? creator->to_ns : 0;
}

/*
 * Adds joins that the trace does not show. A thread that ends before its creator waits for it leaves no wait, but on a simulated machine
 * the creator may have to wait. So the creator is assumed to join it at its next wait for a child, or, if it has none and both are of one
 * process, at its own end (joined_at()). Returns 0 or -ENOMEM.
 */
static int find_joins(struct step_graph *g, struct wakes *w)
{
	const struct timeline *t = g->t;
	int ret = 0;

	for (uint32_t i = 0; i < t->threads.nr && ret == 0; i++) {
		const struct timeline_thread *h = &t->threads.at[i];
		uint64_t at;

		if (h->creator == TIMELINE_NOBODY || h->creator == i || !h->nr_spans || !(at = joined_at(g, h)))
			continue;
		ret = ARRAY_GROW(w->joins) ? add_wake(g, w, h->to_ns, i, UINT32_MAX) : -ENOMEM;
		if (ret == 0)
			w->joins.at[w->joins.nr++] = (struct join){ at, h->creator, g->nr_signals - 1 };
	}
	if (w->joins.nr)
		qsort(w->joins.at, w->joins.nr, sizeof(*w->joins.at), compare_joins);
	return ret;
}

/*
 * Finds all signals in the window, which are ends of waits, creations of threads, and joins. Sets 1 + the number of the signal in
 * end_of_span[], by span, and in signal_of_begin[], by created thread. A wait for a lock whose holder was preempted gets held_ns instead of
 * a signal. Returns 0 or -ENOMEM.
 */
static int find_wakes(struct step_graph *g, struct wakes *w, struct wait_end *end_of_span, uint32_t *signal_of_begin)
{
	const struct timeline *t = g->t;
	int ret = 0;

	for (uint32_t i = 0; i < t->spans.nr && ret == 0; i++) {
		const struct span *s = &t->spans.at[i];
		uint32_t waker;

		if (s->kind != SPAN_WAIT || s->to_ns <= g->from_ns || s->to_ns >= g->to_ns)
			continue;
		waker = waker_of(t, s);
		if (waker == TIMELINE_NOBODY || !t->threads.at[waker].nr_spans || t->threads.at[waker].from_ns > s->to_ns)
			continue;
		if (waits_for_preempted(t, s, waker)) {
			end_of_span[i].held_ns = 1 + ran_in(t, waker, s->from_ns, s->to_ns);
			continue;
		}
		ret = add_wake(g, w, s->to_ns, waker, i);
		end_of_span[i].signal = g->nr_signals;
	}
	for (uint32_t i = 0; i < t->threads.nr && ret == 0; i++) {
		const struct timeline_thread *h = &t->threads.at[i];

		if (h->creator == TIMELINE_NOBODY || h->creator == i || !t->threads.at[h->creator].nr_spans || !h->nr_spans ||
		    h->from_ns <= g->from_ns || h->from_ns >= g->to_ns)
			continue;
		ret = add_wake(g, w, h->from_ns, h->creator, UINT32_MAX);
		signal_of_begin[i] = g->nr_signals;
	}
	ret = ret ? ret : find_joins(g, w);
	if (w->nr)
		qsort(w->at, w->nr, sizeof(*w->at), compare_wakes);
	return ret;
}

static bool wakes_others(const struct wakes *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const uint32_t i = SORTED_COUNT(w->nr, k, w->at[k].waker < thread || (w->at[k].waker == thread && w->at[k].time_ns < from_ns));

	return i < w->nr && w->at[i].waker == thread && w->at[i].time_ns <= to_ns;
}

/*
 * Finds waits that a thread repeats until another thread ends one of them (enum graph_tick). It wakes by an interrupt such as a timeout,
 * runs briefly, and waits again. How often it does so depends only on when the other thread ends a wait, so the number of these waits
 * does not tell how much the thread worked. (OpenJDK has a thread that ticks until the process's end, and Spark's executors have
 * heartbeats.)
 */
static void find_ticks(const struct timeline *t, const struct wakes *w, struct wait_end *end_of_span)
{
	for (uint32_t i = 0; i < t->threads.nr; i++) {
		const struct timeline_thread *h = &t->threads.at[i];
		uint64_t ran = 0, until = UINT64_MAX;
		bool awaits = false; /* another thread ends a later wait of this one, which does little before it */

		for (uint32_t k = h->first_span + h->nr_spans; k-- > h->first_span;) {
			const struct span *s = &t->spans.at[k];
			const uint64_t ns = s->to_ns - s->from_ns;

			if (s->kind == SPAN_RUN)
				ran += ns;
			if (s->kind != SPAN_WAIT)
				continue;
			if ((double)ran > TICK_SHARE * (double)ns)
				awaits = false;
			if (end_of_span[k].signal || end_of_span[k].held_ns)
				awaits = true;
			else if (awaits && s->end == END_BY_INTERRUPT && s->resource >= RESOURCE_CHILD)
				end_of_span[k].tick = wakes_others(w, i, s->to_ns, until) ? TICK_WAKES : TICK_ALONE;
			ran = 0;
			until = s->from_ns;
		}
	}
}

/* ------------------------------------------------------ how much service the disk gave to threads that waited for it */

/*
 * These are the points in time at which the service of the disk changes. While k threads wait for it, each is served at a k-th of its
 * speed. sum: the service (in ns alone at the disk) that a thread which always waits would have got by then.
 */
struct served {
	struct served_at {
		uint64_t time_ns;
		int change, waiting; /* waiting: number of threads that wait for the disk from then on */
		double sum;
	} *at;
	uint32_t nr;
};

static bool waits_for_disk(const struct span *s)
{
	return s->kind == SPAN_WAIT && (s->resource == RESOURCE_DISK_READ || s->resource == RESOURCE_DISK_WRITE);
}

static int compare_served(const void *a, const void *b)
{
	const struct served_at *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Returns the sum at a time that is not later than the next entry's. */
static double served_since(const struct served_at *a, uint64_t time_ns)
{
	return a->sum + (a->waiting > 0 ? (double)(time_ns - a->time_ns) / a->waiting : 0);
}

static bool served_make(const struct timeline *t, struct served *v)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->spans.nr; i++)
		nr += waits_for_disk(&t->spans.at[i]);
	v->at = calloc(2 * (size_t)nr + 1, sizeof(*v->at));
	if (!v->at)
		return false;
	for (uint32_t i = 0; i < t->spans.nr; i++)
		if (waits_for_disk(&t->spans.at[i])) {
			v->at[v->nr++] = (struct served_at){ .time_ns = t->spans.at[i].from_ns, .change = 1 };
			v->at[v->nr++] = (struct served_at){ .time_ns = t->spans.at[i].to_ns, .change = -1 };
		}
	qsort(v->at, v->nr, sizeof(*v->at), compare_served);
	for (uint32_t i = 0; i < v->nr; i++) {
		v->at[i].waiting = (i ? v->at[i - 1].waiting : 0) + v->at[i].change;
		v->at[i].sum = i ? served_since(&v->at[i - 1], v->at[i].time_ns) : 0;
	}
	return true;
}

static double served_until(const struct served *v, uint64_t time_ns)
{
	const uint32_t up_to = SORTED_COUNT(v->nr, i, v->at[i].time_ns <= time_ns);

	return up_to ? served_since(&v->at[up_to - 1], time_ns) : 0;
}

/*
 * Sets g->limited_ns, for reading and writing, if a container's limit bounds what the process gets of its disk, and to 0 otherwise. Each
 * such wait is then taken to be for the average number of bytes, because a trace does not have the bytes of single waits.
 */
static void find_limits(struct step_graph *g)
{
	static const enum resource of[2] = { RESOURCE_DISK_READ, RESOURCE_DISK_WRITE };
	const struct timeline *t = g->t;
	const uint64_t bytes[2] = { t->says.read_bytes, t->says.write_bytes };

	for (int k = 0; k < 2; k++) {
		const double limit = (double)t->says.disk_limit[k], ns = limit > 0 ? (double)bytes[k] / limit * 1e9 : 0;
		uint32_t nr = 0;

		for (uint32_t i = 0; i < t->spans.nr; i++)
			nr += t->spans.at[i].kind == SPAN_WAIT && t->spans.at[i].resource == of[k];
		g->limited_ns[k] = nr && t->says.has_times && ns > LIMITED_SHARE * (double)(t->last_ns - t->first_ns) ? ns / nr : 0;
	}
}

/* ------------------------------------------------------------------------------------------------------------- steps */

static bool add_step(struct step_graph *g, uint32_t first, enum step_kind kind, double amount, uint32_t of, const struct graph_step *about)
{
	const uint32_t capacity = g->capacity;

	if (kind == STEP_RUN && g->nr_steps > first && g->step[g->nr_steps - 1].kind == STEP_RUN) {
		g->step[g->nr_steps - 1].amount += amount;
		return true;
	}
	if (g->nr_steps == capacity) {
		uint32_t more = capacity ? 2 * capacity : 256;
		struct step *step = more > capacity ? realloc(g->step, more * sizeof(*step)) : NULL;
		struct graph_step *others;

		if (!step)
			return false;
		g->step = step;
		others = realloc(g->about, more * sizeof(*others));
		if (!others)
			return false;
		g->about = others;
		g->capacity = more;
	}
	g->step[g->nr_steps] = (struct step){ amount, of, kind };
	g->about[g->nr_steps] = *about;
	g->nr_steps++;
	return true;
}

static bool add_signal(struct step_graph *g, uint32_t first, const struct wake *w, uint32_t thread)
{
	const struct graph_step about = { .from_ns = w->time_ns, .thread = thread, .resource = RESOURCE_SIBLING };

	g->giver_of_signal[w->signal] = g->nr_steps;
	return add_step(g, first, STEP_SIGNAL, 0, w->signal, &about);
}

static bool add_wait(struct step_graph *g, uint32_t first, const struct span *s, uint64_t from_ns, uint64_t to_ns,
		     const struct wait_end *end, const struct served *disk)
{
	struct graph_step about = { .from_ns = from_ns, .thread = s->thread, .resource = s->resource, .lock = s->lock, .tick = end->tick };
	const double ns = (double)(to_ns - from_ns);
	const bool writes = s->resource == RESOURCE_DISK_WRITE;

	g->waits_ns += ns;
	if (end->signal) {
		g->await_of_signal[end->signal - 1] = g->nr_steps;
		return add_step(g, first, STEP_AWAIT, 0, end->signal - 1, &about);
	}
	if (end->held_ns)
		return add_step(g, first, STEP_AWAY, (double)(end->held_ns - 1), 0, &about);
	switch (s->resource) {
	case RESOURCE_DISK_READ:
	case RESOURCE_DISK_WRITE:
		if (g->limited_ns[writes] > 0)
			return add_step(g, first, STEP_LIMITED, g->limited_ns[writes], writes ? DEVICE_DISK_WRITES : DEVICE_DISK, &about);
		return add_step(g, first, STEP_SERVED, served_until(disk, to_ns) - served_until(disk, from_ns), DEVICE_DISK, &about);
	case RESOURCE_NETWORK:
		return add_step(g, first, STEP_AWAY, ns, DEVICE_NETWORK, &about);
	case RESOURCE_SLEEP:
		return add_step(g, first, STEP_AWAY, ns, 0, &about);
	default:
		about.unknown = s->end == END_UNKNOWN;
		g->unknown_ns += about.unknown ? ns : 0;
		return add_step(g, first, STEP_AWAY, ns, 0, &about);
	}
}

/* Adds the time between a thread's wake-up and its run, which passes even where a processor is free. */
static bool add_latency(struct step_graph *g, uint32_t first, const struct span *s, const struct span *wait)
{
	struct graph_step about = { .from_ns = s->from_ns, .thread = s->thread, .resource = RESOURCE_QUEUE };

	if (wait && wait->kind == SPAN_WAIT) {
		about.resource = wait->resource;
		about.lock = wait->lock;
	}
	return add_step(g, first, STEP_AWAY, (double)s->latency_ns, 0, &about);
}

/* Assigns the samples [*tick, end) up to and including a time to the last step, which is a run, and advances *tick. */
static void give_ticks(struct step_graph *g, uint32_t *tick, uint32_t end, uint64_t to_ns)
{
	for (; *tick < end && g->t->ticks.at[*tick].time_ns <= to_ns; (*tick)++) {
		g->step_of_tick[*tick] = g->nr_steps - 1;
		g->about[g->nr_steps - 1].ticks += g->t->ticks.at[*tick].weight;
	}
}

static bool add_run(struct step_graph *g, uint32_t first, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint32_t *tick,
		    uint32_t last_tick)
{
	const struct graph_step about = { .from_ns = from_ns, .thread = thread, .resource = RESOURCE_CORE };

	if (to_ns <= from_ns)
		return true;
	g->work_ns += (double)(to_ns - from_ns);
	if (!add_step(g, first, STEP_RUN, (double)(to_ns - from_ns), 0, &about))
		return false;
	give_ticks(g, tick, last_tick, to_ns);
	return true;
}

/* Adds a step for each join of this thread up to a time, which waits for the end of the joined thread. */
static bool add_joins(struct step_graph *g, uint32_t first, uint32_t thread, const struct wakes *w, uint32_t *join, uint64_t to_ns)
{
	const struct graph_step about = { .from_ns = to_ns, .thread = thread, .resource = RESOURCE_CHILD };
	bool ok = true;

	for (; ok && *join < w->joins.nr && w->joins.at[*join].thread == thread && w->joins.at[*join].time_ns <= to_ns; (*join)++) {
		g->await_of_signal[w->joins.at[*join].signal] = g->nr_steps;
		ok = add_step(g, first, STEP_AWAIT, 0, w->joins.at[*join].signal, &about);
	}
	return ok;
}

/*
 * Adds a thread's steps in the window. Its wakes are the next ones from *wake on, and its joins from *join on. begins: 1 + the signal of
 * its creation, or 0.
 */
static bool add_thread(struct step_graph *g, uint32_t thread, const struct wakes *w, uint32_t *wake, uint32_t *join,
		       const struct wait_end *end_of_span, uint32_t begins, const struct served *disk)
{
	const struct timeline *t = g->t;
	const struct timeline_thread *h = &t->threads.at[thread];
	const uint32_t first = g->nr_steps, last_tick = h->first_tick + h->nr_ticks;
	const struct graph_step about = { .from_ns = h->from_ns, .thread = thread, .resource = RESOURCE_SIBLING };
	uint32_t tick = h->first_tick;
	bool ok = true;

	while (tick < last_tick && t->ticks.at[tick].time_ns < g->from_ns)
		tick++;
	if (begins) {
		g->await_of_signal[begins - 1] = g->nr_steps;
		ok = add_step(g, first, STEP_AWAIT, 0, begins - 1, &about);
	}
	for (uint32_t i = h->first_span; ok && i < h->first_span + h->nr_spans; i++) {
		const struct span *s = &t->spans.at[i];
		uint64_t from = s->from_ns > g->from_ns ? s->from_ns : g->from_ns, to = s->to_ns < g->to_ns ? s->to_ns : g->to_ns;

		if (from >= to)
			continue;
		ok = add_joins(g, first, thread, w, join, from);
		for (; ok && *wake < w->nr && w->at[*wake].waker == thread && w->at[*wake].time_ns <= to; (*wake)++) {
			const uint64_t at = w->at[*wake].time_ns > from ? w->at[*wake].time_ns : from;

			ok = s->kind != SPAN_RUN || add_run(g, first, thread, from, at, &tick, last_tick);
			ok = ok && add_signal(g, first, &w->at[*wake], thread);
			from = s->kind == SPAN_RUN ? at : from;
		}
		if (ok && s->kind == SPAN_RUN)
			ok = add_run(g, first, thread, from, to, &tick, last_tick);
		else if (ok && s->kind == SPAN_WAIT && s->to_ns < g->to_ns)
			ok = add_wait(g, first, s, from, to, &end_of_span[i], disk);
		else if (ok && s->kind == SPAN_QUEUE && s->latency_ns)
			ok = add_latency(g, first, s, i > h->first_span ? &t->spans.at[i - 1] : NULL);
	}
	ok = ok && add_joins(g, first, thread, w, join, UINT64_MAX);
	for (; ok && *wake < w->nr && w->at[*wake].waker == thread; (*wake)++)
		ok = add_signal(g, first, &w->at[*wake], thread);
	g->thread[thread] = (struct step_thread){ first, g->nr_steps - first };
	return ok;
}

static uint32_t find_target(const struct step_graph *g)
{
	const struct timeline *t = g->t;
	uint32_t first = UINT32_MAX;

	for (uint32_t i = 0; i < t->threads.nr; i++)
		if (t->threads.at[i].nr_spans && (first == UINT32_MAX || t->threads.at[i].from_ns < t->threads.at[first].from_ns))
			first = i;
	if (first != UINT32_MAX && t->threads.at[first].to_ns > g->from_ns &&
	    (double)(t->threads.at[first].to_ns - g->from_ns) >= TARGET_SHARE * (double)(g->to_ns - g->from_ns))
		return first;
	return UINT32_MAX;
}

/*
 * Sets the window, which reaches from the beginning of the first mark of the name to the end of the last one. It is the whole time line for
 * "all", and for mark NULL if no mark is called "run". Marks without an end do not count. Returns false if a mark is asked for and there is
 * none of its name, or if the marks lie outside of the time line.
 */
static bool find_window(struct step_graph *g, const char *mark)
{
	const struct model *m = g->t->report->model;
	const char *name = mark ? mark : "run", *number = strrchr(name, '#');
	const size_t length = number ? (size_t)(number - name) : strlen(name);
	const uint64_t instance = number ? strtoull(number + 1, NULL, 10) : 0;
	uint64_t from = UINT64_MAX, to = 0;

	g->from_ns = g->t->first_ns;
	g->to_ns = g->t->last_ns;
	if (strcmp(name, "all") == 0)
		return true;
	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];

		if (!k->name || strlen(k->name) != length || strncmp(k->name, name, length) != 0 || k->end_ns == UINT64_MAX ||
		    (number && k->instance != instance))
			continue;
		from = k->begin_ns < from ? k->begin_ns : from;
		to = k->end_ns > to ? k->end_ns : to;
	}
	if (from >= to)
		return !mark;
	g->from_ns = from > g->from_ns ? from : g->from_ns;
	g->to_ns = to < g->to_ns ? to : g->to_ns;
	g->of_marks = true;
	return g->from_ns < g->to_ns;
}

int step_graph_make(const struct timeline *t, const char *mark, struct step_graph *g, struct diag *d)
{
	struct wait_end *end_of_span = calloc((size_t)t->spans.nr + 1, sizeof(*end_of_span));
	uint32_t *signal_of_begin = calloc((size_t)t->threads.nr + 1, sizeof(*signal_of_begin)), wake = 0, join = 0;
	struct served disk = { .nr = 0 };
	struct wakes w = { .nr = 0 };
	bool ok;

	memset(g, 0, sizeof(*g));
	g->t = t;
	g->thread = calloc((size_t)t->threads.nr + 1, sizeof(*g->thread));
	g->step_of_tick = calloc((size_t)t->ticks.nr + 1, sizeof(*g->step_of_tick));
	ok = end_of_span && signal_of_begin && g->thread && g->step_of_tick;
	if (ok && !find_window(g, mark)) {
		free(end_of_span);
		free(signal_of_begin);
		return diag_fail(d, ENOENT, "The trace has no mark '%s'.", mark ? mark : "run");
	}
	for (uint32_t i = 0; ok && i < t->ticks.nr; i++)
		g->step_of_tick[i] = SIMULATE_NONE;
	ok = ok && served_make(t, &disk);
	find_limits(g);
	ok = ok && find_wakes(g, &w, end_of_span, signal_of_begin) == 0;
	if (ok)
		find_ticks(t, &w, end_of_span);
	for (uint32_t i = 0; ok && i < t->threads.nr; i++)
		ok = add_thread(g, i, &w, &wake, &join, end_of_span, signal_of_begin[i], &disk);
	free(end_of_span);
	free(signal_of_begin);
	free(w.at);
	free(w.joins.at);
	free(disk.at);
	if (!ok)
		return diag_fail(d, ENOMEM, "out of memory for the steps of this trace");
	g->e = (struct execution){ .step = g->step, .nr_steps = g->nr_steps, .thread = g->thread, .nr_threads = t->threads.nr,
				   .nr_signals = g->nr_signals, .target = find_target(g) };
	return 0;
}

double step_graph_measured_ns(const struct step_graph *g)
{
	const double window = (double)(g->to_ns - g->from_ns);
	const uint32_t target = g->e.target;
	const double until = target == UINT32_MAX ? window : (double)(g->t->threads.at[target].to_ns - g->from_ns);

	return until < window ? until : window;
}

void step_graph_fini(struct step_graph *g)
{
	free(g->step);
	free(g->about);
	free(g->thread);
	free(g->step_of_tick);
	free(g->await_of_signal);
	free(g->giver_of_signal);
	memset(g, 0, sizeof(*g));
}
