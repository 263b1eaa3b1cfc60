/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* This is the time (ns) that a limited device did not use, and can use later. Linux counts what is read in slices of 100 ms
 * (block/blk-throttle.c). */
#define LIMITED_SAVED_NS 1e8

/* This is a heap of threads by key, with the least key at the top. */
struct heap {
	struct entry {
		double key;
		uint32_t thread, nr; /* nr: order of pushes, which decides between equal keys */
	} *at;
	uint32_t nr, pushed;
};

static bool is_before(const struct entry *a, const struct entry *b)
{
	return a->key < b->key || (!(a->key > b->key) && a->nr < b->nr);
}

static void heap_push(struct heap *h, double key, uint32_t thread)
{
	const struct entry e = { key, thread, h->pushed++ };
	uint32_t i = h->nr++;

	for (; i && is_before(&e, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = e;
}

static uint32_t heap_pop(struct heap *h)
{
	const uint32_t thread = h->at[0].thread;
	const struct entry e = h->at[--h->nr];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->nr) {
		child += child + 1 < h->nr && is_before(&h->at[child + 1], &h->at[child]);
		if (!is_before(&h->at[child], &e))
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = e;
	return thread;
}

/* This struct is a resource that serves several threads at once. done: the service so far of a thread that has always used the resource. */
struct shared {
	struct heap heap; /* key: the value of done at which a thread's step is finished */
	double done;
};

struct waiter {
	uint32_t thread, next; /* next: 1 + thread; 0: the last */
};

struct simulation {
	const struct execution *e;
	const struct machine *m;
	const struct simulated_steps *steps;
	struct simulated *out;
	double now;
	struct shared processors, pool, device[SIMULATE_DEVICES]; /* pool: the processors that threads of the pool have */
	struct heap away;
	double limited[SIMULATE_DEVICES]; /* time until which a limited device is busy with the requests so far */
	uint32_t *at; /* current step of each thread, from 0 */
	double *given; /* time of each signal; negative: not given yet */
	uint32_t *giver; /* step that gave each signal */
	uint32_t *waiting; /* 1 + the first thread that waits for each signal; next has the others */
	uint32_t *next;
	uint32_t *lock_first, *lock_last; /* 1 + the first and the last thread that wait for each lock */
	bool *held;
	uint32_t *ready; /* threads that can begin their current step */
	uint32_t nr_ready;
	double used; /* processors' time (ns) that was used in this period of the quota */
	double period; /* number of the period */
	bool target_ended;
	uint32_t nr_ended;
};

static double amount_of(const struct simulation *s, uint32_t step)
{
	return s->e->step[step].amount * (s->e->factor ? s->e->factor[step] : 1);
}

static double slowdown(const struct machine *m, double working)
{
	uint32_t n = (uint32_t)(working + 0.5);

	if (m->slowdown[0] <= 0)
		return 1;
	n = n < SIMULATE_SLOWDOWNS ? n : SIMULATE_SLOWDOWNS - 1;
	while (n && m->slowdown[n] < 1)
		n--;
	return n ? m->slowdown[n] : 1;
}

static double min_of(double a, double b)
{
	return a < b ? a : b;
}

static bool is_throttled(const struct simulation *s)
{
	return s->m->quota > 0 && s->used >= s->m->quota * s->m->quota_period_ns * (1 - 1e-12);
}

/*
 * runnable: number of threads that can run. working: number of processors that work for them. pooled, others: the work that a thread in the
 * pool, or outside of it, does in a ns. It is 0 while the quota throttles all threads.
 */
struct rates {
	double runnable, working, pooled, others;
};

/* Computes equal shares of the processors. What the limit of the pool takes from its threads goes to the others. */
static struct rates rates_of(const struct simulation *s)
{
	const double n = s->processors.heap.nr, pooled = s->pool.heap.nr, all = s->m->processors;
	const double of_pool = pooled > 0 ? min_of(min_of(pooled, s->m->pool), all * pooled / (n + pooled)) : 0;
	const double of_others = min_of(n, all - of_pool);
	struct rates r = { n + pooled, of_pool + of_others, 0, 0 };
	double speed;

	if (r.runnable <= 0 || is_throttled(s))
		return r;
	speed = s->m->speed / slowdown(s->m, r.working);
	r.pooled = pooled > 0 ? speed * of_pool / pooled : 0;
	r.others = n > 0 ? speed * of_others / n : 0;
	return r;
}

static void note_begin(const struct simulation *s, uint32_t step)
{
	if (s->steps && s->steps->begin)
		s->steps->begin[step] = s->now;
	if (s->steps && s->steps->released_by)
		s->steps->released_by[step] = SIMULATE_NONE;
}

static void note_end(const struct simulation *s, uint32_t step)
{
	if (s->steps && s->steps->end)
		s->steps->end[step] = s->now;
}

static void go_on(struct simulation *s, uint32_t thread, uint32_t released_by)
{
	const uint32_t step = s->e->thread[thread].first + s->at[thread];

	if (s->steps && s->steps->released_by)
		s->steps->released_by[step] = released_by;
	note_end(s, step);
	s->at[thread]++;
	s->ready[s->nr_ready++] = thread;
}

static void give_signal(struct simulation *s, uint32_t signal, uint32_t step)
{
	uint32_t i = s->waiting[signal];

	s->given[signal] = s->now;
	s->giver[signal] = step;
	s->waiting[signal] = 0;
	while (i) {
		const uint32_t thread = i - 1;

		i = s->next[thread];
		go_on(s, thread, step);
	}
}

static bool take_lock(struct simulation *s, uint32_t lock, uint32_t thread)
{
	if (!s->held[lock]) {
		s->held[lock] = true;
		return true;
	}
	s->next[thread] = 0;
	if (s->lock_last[lock])
		s->next[s->lock_last[lock] - 1] = thread + 1;
	else
		s->lock_first[lock] = thread + 1;
	s->lock_last[lock] = thread + 1;
	return false;
}

static void leave_lock(struct simulation *s, uint32_t lock, uint32_t step)
{
	const uint32_t first = s->lock_first[lock];

	if (!first) {
		s->held[lock] = false;
		return;
	}
	s->lock_first[lock] = s->next[first - 1];
	if (!s->lock_first[lock])
		s->lock_last[lock] = 0;
	go_on(s, first - 1, step);
}

static void wait_for_signal(struct simulation *s, uint32_t signal, uint32_t thread)
{
	s->next[thread] = s->waiting[signal];
	s->waiting[signal] = thread + 1;
}

/*
 * Takes time of a limited device for a request. Returns false if the request is served at once, from time that the device did not use (or
 * if its speed is 0).
 */
static bool take_limited(struct simulation *s, uint32_t device, double amount, uint32_t thread)
{
	double *until = &s->limited[device];

	if (s->m->device_speed[device] <= 0)
		return false;
	*until = (*until > s->now - LIMITED_SAVED_NS ? *until : s->now - LIMITED_SAVED_NS) + amount / s->m->device_speed[device];
	if (*until <= s->now)
		return false;
	heap_push(&s->away, *until, thread);
	return true;
}

/* Begins a step. Returns true if the step is over at once, or false if it takes time or the thread has to wait in it. */
static bool do_step(struct simulation *s, uint32_t thread, uint32_t step)
{
	const struct step *what = &s->e->step[step];
	const double amount = amount_of(s, step);
	struct shared *run_on;

	note_begin(s, step);
	if (s->e->factor && s->e->factor[step] <= 0)
		return true;
	switch ((enum step_kind)what->kind) {
	case STEP_RUN:
		if (amount <= 0)
			return true;
		run_on = s->m->pool > 0 && s->e->pooled && s->e->pooled[thread] ? &s->pool : &s->processors;
		heap_push(&run_on->heap, run_on->done + amount, thread);
		return false;
	case STEP_AWAY:
		if (amount <= 0)
			return true;
		heap_push(&s->away, s->now + amount, thread);
		return false;
	case STEP_SERVED:
		if (amount <= 0)
			return true;
		heap_push(&s->device[what->of % SIMULATE_DEVICES].heap, s->device[what->of % SIMULATE_DEVICES].done + amount, thread);
		return false;
	case STEP_LIMITED:
		return amount <= 0 || !take_limited(s, what->of % SIMULATE_DEVICES, amount, thread);
	case STEP_SIGNAL:
		give_signal(s, what->of, step);
		return true;
	case STEP_AWAIT:
		if (s->given[what->of] >= 0)
			return true;
		wait_for_signal(s, what->of, thread);
		return false;
	case STEP_LOCK:
		return take_lock(s, what->of, thread);
	case STEP_UNLOCK:
		leave_lock(s, what->of, step);
		return true;
	}
	return true;
}

static void do_ready(struct simulation *s)
{
	while (s->nr_ready) {
		const uint32_t thread = s->ready[--s->nr_ready];
		const struct step_thread *t = &s->e->thread[thread];

		while (s->at[thread] < t->nr && do_step(s, thread, t->first + s->at[thread])) {
			note_end(s, t->first + s->at[thread]);
			s->at[thread]++;
		}
		if (s->at[thread] < t->nr)
			continue;
		s->nr_ended++;
		s->out->last_thread = thread;
		s->out->end_ns = s->now;
		s->target_ended |= thread == s->e->target;
	}
}

/*
 * Advances the time, all threads that run, and all devices that are busy. The caller takes care that nothing ends or changes in between
 * (next_change()).
 */
static void pass(struct simulation *s, double ns)
{
	const struct rates r = rates_of(s);

	s->now += ns;
	s->processors.done += r.others * ns;
	s->pool.done += r.pooled * ns;
	if (is_throttled(s))
		s->out->throttled_ns += r.runnable * ns;
	else if (r.runnable > 0) {
		s->out->run_ns += r.working * ns;
		s->out->queued_ns += (r.runnable - r.working) * ns;
		s->used += r.working * ns;
	}
	for (int i = 0; i < SIMULATE_DEVICES; i++)
		if (s->device[i].heap.nr)
			s->device[i].done += s->m->device_speed[i] * ns / s->device[i].heap.nr;
}

/* Returns the time (ns) until a step ends, the quota is used up, or its next period begins. Negative: nothing will happen any more. */
static double next_change(const struct simulation *s)
{
	const struct rates r = rates_of(s);
	double next = -1, ns;

#define SOONER(value)                             \
	do {                                      \
		ns = (value);                     \
		ns = ns > 0 ? ns : 0;             \
		next = next < 0 || ns < next ? ns : next; \
	} while (0)
	if (r.others > 0)
		SOONER((s->processors.heap.at[0].key - s->processors.done) / r.others);
	if (r.pooled > 0)
		SOONER((s->pool.heap.at[0].key - s->pool.done) / r.pooled);
	if (s->away.nr)
		SOONER(s->away.at[0].key - s->now);
	for (int i = 0; i < SIMULATE_DEVICES; i++)
		if (s->device[i].heap.nr && s->m->device_speed[i] > 0)
			SOONER((s->device[i].heap.at[0].key - s->device[i].done) * s->device[i].heap.nr / s->m->device_speed[i]);
	if (s->m->quota > 0 && r.runnable > 0) {
		SOONER((s->period + 1) * s->m->quota_period_ns - s->now);
		if (!is_throttled(s))
			SOONER((s->m->quota * s->m->quota_period_ns - s->used) / r.working);
	}
#undef SOONER
	return next;
}

/* If the time is in a new period of the quota, sets what is used of it to 0. */
static void renew_quota(struct simulation *s)
{
	double period;

	if (s->m->quota <= 0)
		return;
	period = (double)(uint64_t)(s->now / s->m->quota_period_ns * (1 + 1e-15) + 1e-9);
	if (period > s->period) {
		s->period = period;
		s->used = 0;
	}
}

#define SLACK 1e-6 /* rounding tolerance in ns: a step that is this close to its end is finished; 1e-14 of the time are added */
/* Rounds beyond those of the steps after which a simulation is given up. A period of a quota takes one or two (an hour has 36,000). */
#define PERIODS_MAX 1000000u

static bool is_over(double key, double now)
{
	return key <= now + SLACK + 1e-14 * now;
}

static void end_what_is_over(struct simulation *s)
{
	while (s->processors.heap.nr && is_over(s->processors.heap.at[0].key, s->processors.done))
		go_on(s, heap_pop(&s->processors.heap), SIMULATE_NONE);
	while (s->pool.heap.nr && is_over(s->pool.heap.at[0].key, s->pool.done))
		go_on(s, heap_pop(&s->pool.heap), SIMULATE_NONE);
	while (s->away.nr && is_over(s->away.at[0].key, s->now))
		go_on(s, heap_pop(&s->away), SIMULATE_NONE);
	for (int i = 0; i < SIMULATE_DEVICES; i++)
		while (s->device[i].heap.nr && is_over(s->device[i].heap.at[0].key, s->device[i].done))
			go_on(s, heap_pop(&s->device[i].heap), SIMULATE_NONE);
}

static bool init(struct simulation *s)
{
	const struct execution *e = s->e;
	const size_t threads = (size_t)e->nr_threads + 1, signals = (size_t)e->nr_signals + 1, locks = (size_t)e->nr_locks + 1;
	bool all = true;

	all &= (s->processors.heap.at = calloc(threads, sizeof(struct entry))) != NULL;
	all &= (s->pool.heap.at = calloc(threads, sizeof(struct entry))) != NULL;
	all &= (s->away.at = calloc(threads, sizeof(struct entry))) != NULL;
	for (int i = 0; i < SIMULATE_DEVICES; i++)
		all &= (s->device[i].heap.at = calloc(threads, sizeof(struct entry))) != NULL;
	all &= (s->at = calloc(threads, sizeof(*s->at))) != NULL;
	all &= (s->next = calloc(threads, sizeof(*s->next))) != NULL;
	all &= (s->ready = calloc(threads, sizeof(*s->ready))) != NULL;
	all &= (s->given = calloc(signals, sizeof(*s->given))) != NULL;
	all &= (s->giver = calloc(signals, sizeof(*s->giver))) != NULL;
	all &= (s->waiting = calloc(signals, sizeof(*s->waiting))) != NULL;
	all &= (s->lock_first = calloc(locks, sizeof(*s->lock_first))) != NULL;
	all &= (s->lock_last = calloc(locks, sizeof(*s->lock_last))) != NULL;
	all &= (s->held = calloc(locks, sizeof(*s->held))) != NULL;
	for (uint32_t i = 0; all && i < e->nr_signals; i++)
		s->given[i] = -1;
	for (uint32_t i = 0; all && i < e->nr_threads; i++)
		s->ready[s->nr_ready++] = e->nr_threads - 1 - i; /* do_ready() takes the last one first, so thread 0 begins */
	return all;
}

static void fini(struct simulation *s)
{
	free(s->processors.heap.at);
	free(s->pool.heap.at);
	free(s->away.at);
	for (int i = 0; i < SIMULATE_DEVICES; i++)
		free(s->device[i].heap.at);
	free(s->at);
	free(s->next);
	free(s->ready);
	free(s->given);
	free(s->giver);
	free(s->waiting);
	free(s->lock_first);
	free(s->lock_last);
	free(s->held);
}

int simulate(const struct execution *e, const struct machine *m, const struct simulated_steps *steps, struct simulated *out)
{
	struct simulation s = { .e = e, .m = m, .steps = steps, .out = out };
	int ret = init(&s) ? 0 : -ENOMEM;
	uint64_t rounds = 16 * ((uint64_t)e->nr_steps + e->nr_threads) + PERIODS_MAX;

	memset(out, 0, sizeof(*out));
	while (ret == 0) {
		double ns;

		do_ready(&s);
		if (s.target_ended || s.nr_ended == e->nr_threads)
			break;
		ns = next_change(&s);
		if (ns < 0 || !rounds--) {
			out->stuck = true;
			break;
		}
		pass(&s, ns);
		renew_quota(&s);
		end_what_is_over(&s);
	}
	fini(&s);
	return ret;
}

void simulate_bounds(double work, double span, double processors, double *low, double *high)
{
	*low = work / processors > span ? work / processors : span;
	*high = work / processors + span;
}
