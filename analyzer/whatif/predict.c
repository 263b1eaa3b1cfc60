/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/predict.h"

#include "analyzer/whatif/interval.h"
#include "analyzer/whatif/parts.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATE_SHARE 0.03 /* a component or function must have more than this part of the work to be a candidate */
#define LOCK_SHARE 0.005     /* a lock must have more than this part of the threads' waits to be a candidate */
#define SKEW_LEAST 1.1
#define FUNCTIONS_MAX 6
#define TICKS_MOST 0.1  /* ticks are left out if the replay is shorter by less than this part without them */
#define CANDIDATES_MAX 64

/* ----------------------------------------------------------------------------------------------------------- changes */

/*
 * Multiplies each run's work by 1 - less[thread] * share, but at least by 1e-9. share is the part's share of the step, by the samples in
 * the step, or, if it has none, by those of its thread. Returns 0 or -ENOMEM.
 */
static int scale_part(struct predictor *p, const struct part *of, const double *less)
{
	const struct step_graph *g = p->g;
	double *in = calloc((size_t)g->nr_steps + 1, sizeof(*in));
	double *part = calloc((size_t)g->t->threads.nr + 1, sizeof(*part)), *all = calloc((size_t)g->t->threads.nr + 1, sizeof(*all));
	int ret = in && part && all ? 0 : -ENOMEM;

	if (ret == 0)
		part_sum_threads(g, of, part, all);
	for (uint32_t i = 0; ret == 0 && i < g->t->ticks.nr; i++)
		if (g->step_of_tick[i] != SIMULATE_NONE && part_has(g, &g->t->ticks.at[i], of))
			in[g->step_of_tick[i]] += g->t->ticks.at[i].weight;
	for (uint32_t i = 0; ret == 0 && i < g->nr_steps; i++) {
		const struct graph_step *a = &g->about[i];
		double share = a->ticks > 0 ? in[i] / a->ticks : all[a->thread] > 0 ? part[a->thread] / all[a->thread] : 0;

		if (g->step[i].kind == STEP_RUN)
			p->factor[i] *= fmax(1e-9, 1 - less[a->thread] * fmin(1, share));
	}
	free(in);
	free(part);
	free(all);
	return ret;
}

/* Scales the work so that all threads that work on a part have the same share of it. */
static int remove_skew(struct predictor *p, const struct change *c)
{
	const uint32_t nr = p->g->t->threads.nr;
	const struct part of = part_make(p->g, c->level, c->of);
	double *part = calloc((size_t)nr + 1, sizeof(*part)), *all = calloc((size_t)nr + 1, sizeof(*all)), sum = 0;
	uint32_t n = 0;
	int ret = -ENOMEM;

	if (part && all) {
		part_sum_threads(p->g, &of, part, all);
		for (uint32_t i = 0; i < nr; i++) {
			sum += part[i];
			n += part[i] > 0;
		}
		for (uint32_t i = 0; i < nr; i++)
			all[i] = part[i] > 0 ? 1 - sum / n / part[i] : 0;
		ret = scale_part(p, &of, all);
	}
	free(part);
	free(all);
	return ret;
}

/* Multiplies all threads' work on a part by 1 - less. */
static int scale_part_alike(struct predictor *p, const struct part *of, double less)
{
	double *of_thread = calloc((size_t)p->g->t->threads.nr + 1, sizeof(*of_thread));
	int ret = -ENOMEM;

	for (uint32_t i = 0; of_thread && i < p->g->t->threads.nr; i++)
		of_thread[i] = less;
	if (of_thread)
		ret = scale_part(p, of, of_thread);
	free(of_thread);
	return ret;
}

static int scale_component(struct predictor *p, const struct change *c)
{
	const struct part of = part_make(p->g, c->level, c->of);

	return scale_part_alike(p, &of, c->value);
}

/* Returns a part's share of all threads' work in the window, 0 to 1. */
static double share_of(const struct predictor *p, const struct part *of)
{
	const struct timeline *t = p->g->t;
	double in = 0, all = 0;

	for (uint32_t i = 0; i < t->ticks.nr; i++)
		if (p->g->step_of_tick[i] != SIMULATE_NONE) {
			in += part_has(p->g, &t->ticks.at[i], of) ? t->ticks.at[i].weight : 0;
			all += t->ticks.at[i].weight;
		}
	return all > 0 ? in / all : 0;
}

/*
 * Sets the number of processors. If it changes from several to one, removes the interrupts between processors. If it changes from several
 * to one or back, also removes or adds the cost of copied pages, if the calibration has it. The copy of a page that is written interrupts
 * all other processors that run the process. The copying thread waits for them, and they lose time that no sample shows, because the kernel
 * takes no samples in these interrupts. With one processor there is no other to interrupt.
 */
static int set_processors(struct predictor *p, double processors, struct machine *m)
{
	const struct part between = { .level = PART_BETWEEN }, copies = { .level = PART_COPIES }, all = { .level = PART_ALL };
	const double others = (processors < p->g->e.nr_threads ? processors : p->g->e.nr_threads) - 1, was = p->now.processors;
	int ret = 0;

	m->processors = processors;
	if (processors <= 1 && was > 1) {
		ret = p->copied > 0 ? scale_part_alike(p, &all, p->copied_others / p->copied * share_of(p, &between)) : 0;
		return ret ? ret : scale_part_alike(p, &between, 1);
	}
	if (processors <= 1 || was > 1 || p->copied <= 0)
		return 0;
	ret = scale_part_alike(p, &all, -p->copied_others * others * share_of(p, &copies));
	return ret ? ret : scale_part_alike(p, &copies, -p->copied);
}

/* Removes the waits for a lock, and the calls that take and leave it. */
static int remove_lock(struct predictor *p, uint32_t lock)
{
	const struct part of = { .level = PART_LOCK, .of = lock };
	const int ret = scale_part_alike(p, &of, 1);

	for (uint32_t i = 0; i < p->g->nr_steps; i++)
		if (p->g->about[i].resource == RESOURCE_LOCK && p->g->about[i].lock == lock)
			p->factor[i] = 0;
	return ret;
}

static void scale_waits(struct predictor *p, enum resource resource, double factor)
{
	for (uint32_t i = 0; i < p->g->nr_steps; i++)
		if (p->g->about[i].resource == resource && p->g->step[i].kind == STEP_AWAY)
			p->factor[i] *= factor;
}

static bool is_called(const struct step_graph *g, uint32_t thread, const char *name)
{
	return fnmatch(name, timeline_comm(g->t, thread), 0) == 0;
}

uint32_t predict_count_threads(const struct step_graph *g, const char *name)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->e.nr_threads; i++)
		nr += is_called(g, i, name);
	return nr;
}

/*
 * Lets at most c->value of the named threads run at once. They all keep their work, so the fewer threads do the work of all of them.
 * Returns 0, or -EINVAL if there is a limit already.
 */
static int limit_threads(struct predictor *p, const struct change *c, struct machine *m)
{
	if (m->pool > 0)
		return -EINVAL; /* only one such limit at a time is simulated */
	for (uint32_t i = 0; i < p->g->e.nr_threads; i++)
		p->pooled[i] = is_called(p->g, i, c->name);
	m->pool = c->value;
	return 0;
}

static int apply(struct predictor *p, const struct change *c, struct machine *m)
{
	switch (c->kind) {
	case CHANGE_CORES:
		return set_processors(p, c->value, m);
	case CHANGE_QUOTA:
		m->quota = c->value < m->processors ? c->value : 0;
		return 0;
	case CHANGE_CLOCK:
		m->speed *= c->value;
		return 0;
	case CHANGE_DISK:
		m->device_speed[DEVICE_DISK] *= c->value;
		m->device_speed[DEVICE_DISK_WRITES] *= c->value;
		return 0;
	case CHANGE_NETWORK:
		scale_waits(p, RESOURCE_NETWORK, 1 / c->value);
		return 0;
	case CHANGE_SLEEP:
		scale_waits(p, RESOURCE_SLEEP, 1 / c->value);
		return 0;
	case CHANGE_LOCK:
		return remove_lock(p, c->of);
	case CHANGE_COMPONENT:
		return scale_component(p, c);
	case CHANGE_SKEW:
		return remove_skew(p, c);
	case CHANGE_THREADS:
		return limit_threads(p, c, m);
	}
	return -EINVAL;
}

/* -------------------------------------------------------------------------------------------------------- simulation */

static void forget_changes(struct predictor *p)
{
	memcpy(p->factor, p->base, (size_t)p->g->nr_steps * sizeof(*p->factor));
}

static int run(struct predictor *p, const struct machine *m, struct simulated *out)
{
	const struct simulated_steps steps = { p->begin, p->end, p->released_by };
	struct execution e = p->g->e;

	e.factor = p->factor;
	e.pooled = p->pooled;
	memset(p->end, 0, ((size_t)p->g->nr_steps + 1) * sizeof(*p->end));
	memset(p->begin, 0, ((size_t)p->g->nr_steps + 1) * sizeof(*p->begin));
	return simulate(&e, m, &steps, out);
}

/*
 * Adds the time between a step's beginning and end to the path. If a thread waited for a lock on the path from locked_from on, the part of
 * the step after that counts for the lock (and is added to *lock), because the step kept the lock from that thread.
 */
static void add_to_path(const struct predictor *p, uint32_t step, double locked_from, struct path *out, double *lock, double *of_step)
{
	const struct step *s = &p->g->step[step];
	const struct graph_step *a = &p->g->about[step];
	double taken = p->end[step] - p->begin[step], work = s->amount * p->factor[step], locked;

	if (of_step)
		of_step[step] += taken;
	locked = p->end[step] > locked_from ? p->end[step] - (p->begin[step] > locked_from ? p->begin[step] : locked_from) : 0;
	out->resource[RESOURCE_LOCK] += locked;
	*lock += locked;
	taken -= locked;
	if (s->kind == STEP_RUN) {
		const double queued = taken > work + 1 ? taken - work : 0; /* a difference of up to 1 ns comes from rounding */

		out->resource[RESOURCE_CORE] += taken - queued;
		out->resource[p->now.quota > 0 ? RESOURCE_THROTTLED : RESOURCE_QUEUE] += queued;
	} else if (s->kind == STEP_AWAY || s->kind == STEP_SERVED || s->kind == STEP_LIMITED) {
		out->resource[a->resource] += taken;
		out->unknown_ns += a->unknown ? taken : 0;
	}
}

static uint32_t last_step(const struct predictor *p)
{
	const struct step_graph *g = p->g;
	uint32_t last = SIMULATE_NONE;

	for (uint32_t i = 0; i < g->e.nr_threads; i++) {
		const struct step_thread *t = &g->thread[i];

		if (t->nr && (g->e.target == UINT32_MAX || g->e.target == i) &&
		    (last == SIMULATE_NONE || p->end[t->first + t->nr - 1] > p->end[last]))
			last = t->first + t->nr - 1;
	}
	return last;
}

void predict_path(const struct predictor *p, struct path *out, double *of_step)
{
	const struct step_graph *g = p->g;
	double locked_from = HUGE_VAL, of_lock = 0, most = 0, lock = 0;
	uint32_t at = last_step(p), function = 0;

	memset(out, 0, sizeof(*out));
	for (uint32_t steps = 0; at != SIMULATE_NONE && steps < 2 * g->nr_steps; steps++) {
		const uint32_t by = p->released_by[at];
		const struct step_thread *t = &g->thread[g->about[at].thread];

		if (by == SIMULATE_NONE) {
			of_lock = 0;
			add_to_path(p, at, locked_from, out, &of_lock, of_step);
			lock += of_lock;
			if (p->begin[at] <= locked_from)
				locked_from = HUGE_VAL;
			at = at > t->first ? at - 1 : SIMULATE_NONE;
			continue;
		}
		if (g->about[at].resource == RESOURCE_LOCK && !(locked_from < HUGE_VAL)) {
			locked_from = p->begin[at];
			if (lock >= most) {
				most = lock;
				function = g->about[at].lock;
			}
			lock = 0;
		}
		at = by;
		t = &g->thread[g->about[at].thread];
		at = at > t->first ? at - 1 : SIMULATE_NONE;
	}
	out->lock = function;
	/*
	 * The simulation has one kind of work. The samples of the whole window say which part of it is work of the kernel, and which part
	 * is page faults.
	 */
	{
		double of[NR_RESOURCES] = { 0 }, all = 0;

		for (uint32_t i = 0; i < g->t->ticks.nr; i++)
			if (g->step_of_tick[i] != SIMULATE_NONE) {
				of[g->t->ticks.at[i].resource] += g->t->ticks.at[i].weight;
				all += g->t->ticks.at[i].weight;
			}
		for (int k = RESOURCE_KERNEL; all > 0 && k <= RESOURCE_FAULT; k++) {
			out->resource[k] = out->resource[RESOURCE_CORE] * of[k] / all;
		}
		out->resource[RESOURCE_CORE] -= out->resource[RESOURCE_KERNEL] + out->resource[RESOURCE_FAULT];
	}
}

static enum resource largest(const struct path *path)
{
	enum resource best = RESOURCE_CORE;

	for (int i = 0; i < NR_RESOURCES; i++)
		if (path->resource[i] > path->resource[best])
			best = (enum resource)i;
	return best;
}

/* -------------------------------------------------------------------------------------------------------- prediction */

int predict(struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out)
{
	struct machine m = p->now;
	struct simulated now, then;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	memcpy(m.slowdown, p->slowdown, sizeof(m.slowdown));
	forget_changes(p);
	now.end_ns = p->simulated_ns;
	if (p->slowdown[0] > 0)
		ret = run(p, &m, &now);
	for (uint32_t i = 0; i < nr && ret == 0; i++)
		ret = apply(p, &changes[i], &m);
	if (ret == 0)
		ret = run(p, &m, &then);
	if (ret)
		return ret;
	if (now.end_ns <= 0 || then.stuck)
		return -EDOM;
	out->completion_ns = p->measured_ns * then.end_ns / now.end_ns;
	out->queued_ns = then.queued_ns + then.throttled_ns;
	predict_path(p, &out->path, NULL);
	out->bound = largest(&out->path);
	interval_set(p, changes, nr, out);
	return 0;
}

static bool step_is_of(const struct step_graph *g, uint32_t step, const struct part *group)
{
	const struct graph_step *a = &g->about[step];

	return g->step[step].kind == STEP_RUN && a->from_ns >= group->from_ns && a->from_ns < group->to_ns &&
	       part_has_thread(g, group, a->thread);
}

/* Gives all threads of a group that ran in its time the same work, also those that found the queue empty early. */
static int divide_queue(struct predictor *p, const struct part *group)
{
	const struct step_graph *g = p->g;
	double *work = calloc((size_t)g->e.nr_threads + 1, sizeof(*work)), sum = 0;
	uint32_t nr = 0;

	if (!work)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nr_steps; i++)
		if (step_is_of(g, i, group)) {
			work[g->about[i].thread] += g->step[i].amount;
			sum += g->step[i].amount;
		}
	for (uint32_t i = 0; i < g->e.nr_threads; i++)
		nr += work[i] > 0;
	for (uint32_t i = 0; i < g->nr_steps; i++)
		if (step_is_of(g, i, group) && work[g->about[i].thread] > 0)
			p->base[i] = sum / nr / work[g->about[i].thread];
	free(work);
	return 0;
}

/*
 * Sets p->base so that the work that threads took from a queue is divided evenly. On another machine they would divide it in another way
 * than in the recording, and evenly if all processors are equally fast.
 */
static int divide_queues(struct predictor *p)
{
	int ret = 0;

	for (uint32_t i = 0; i < p->g->nr_steps; i++)
		p->base[i] = 1;
	for (uint32_t i = 0; i < p->g->t->threads.nr && ret == 0; i++) {
		const struct part group = part_make(p->g, PART_THREADS, i);

		if (!part_is_queue(p->g, &group))
			continue;
		p->nr_queues++;
		ret = divide_queue(p, &group);
	}
	return ret;
}

static uint32_t set_ticks(struct predictor *p, enum graph_tick up_to, double base)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->g->nr_steps; i++)
		if (p->g->about[i].tick != TICK_NONE && p->g->about[i].tick <= up_to) {
			p->base[i] = base;
			nr++;
		}
	return nr;
}

static int replay(struct predictor *p, struct simulated *now)
{
	forget_changes(p);
	return run(p, &p->now, now);
}

/*
 * Replays the recorded execution. Leaves ticks out if it then still ends, and takes about as long (TICKS_MOST), because nothing waits for
 * them. First all ticks are tried, then only those that wake no other thread. *now becomes the replay that is kept. Returns 0 or -ENOMEM.
 */
static int replay_without_ticks(struct predictor *p, struct simulated *now)
{
	int ret = replay(p, now);
	const double with_ns = now->end_ns;
	bool tried = false;

	for (int up_to = TICK_WAKES; up_to > TICK_NONE && ret == 0; up_to--) {
		p->nr_ticks = set_ticks(p, (enum graph_tick)up_to, 0);
		if (!p->nr_ticks)
			continue;
		tried = true;
		ret = replay(p, now);
		if (ret || (!now->stuck && now->end_ns > (1 - TICKS_MOST) * with_ns))
			return ret;
		set_ticks(p, (enum graph_tick)up_to, 1);
	}
	p->nr_ticks = 0;
	return ret || !tried ? ret : replay(p, now);
}

int predictor_init(struct predictor *p, const struct step_graph *g, const struct calibration *calibration, struct diag *d)
{
	struct simulated now;
	int ret;

	memset(p, 0, sizeof(*p));
	p->g = g;
	p->spread = calibration && calibration->spread > 0 ? calibration->spread : INTERVAL_SPREAD;
	p->octave = calibration && calibration->octave > 0 ? calibration->octave : INTERVAL_OCTAVE;
	p->nr_runs = 1;
	p->now = (struct machine){ .processors = g->t->processors, .speed = 1, .quota = g->t->quota,
				   .quota_period_ns = g->t->quota_period_ns, .device_speed = { 1, 1, 1, 1 } };
	p->copied = calibration ? calibration->copied : 0;
	p->copied_others = calibration ? calibration->copied_others : 0;
	if (calibration)
		memcpy(p->slowdown, calibration->slowdown, sizeof(p->slowdown));
	p->factor = calloc((size_t)g->nr_steps + 1, sizeof(*p->factor));
	p->base = calloc((size_t)g->nr_steps + 1, sizeof(*p->base));
	p->pooled = calloc((size_t)g->e.nr_threads + 1, sizeof(*p->pooled));
	p->begin = calloc((size_t)g->nr_steps + 1, sizeof(*p->begin));
	p->end = calloc((size_t)g->nr_steps + 1, sizeof(*p->end));
	p->released_by = calloc((size_t)g->nr_steps + 1, sizeof(*p->released_by));
	if (!p->factor || !p->base || !p->pooled || !p->begin || !p->end || !p->released_by)
		return diag_fail(d, ENOMEM, "out of memory for a prediction");
	p->measured_ns = step_graph_measured_ns(g);
	ret = divide_queues(p);
	ret = ret ? ret : replay_without_ticks(p, &now);
	if (ret)
		return diag_fail(d, -ret, "out of memory for a prediction");
	if (now.stuck || now.end_ns <= 0)
		return diag_fail(d, EDOM, "The trace cannot be replayed: %s.",
				 now.stuck ? "threads wait for each other, or for their quota" : "no thread ran in this time");
	p->simulated_ns = now.end_ns;
	p->replay_error = fabs(now.end_ns / p->measured_ns - 1);
	predict_path(p, &p->path, NULL);
	return 0;
}

void predictor_fini(struct predictor *p)
{
	free(p->factor);
	free(p->base);
	free(p->pooled);
	free(p->begin);
	free(p->end);
	free(p->released_by);
	memset(p, 0, sizeof(*p));
}

/* -------------------------------------------------------------------------------------------------------------- slack */

static int compare_by_end(const void *a, const void *b, void *context)
{
	const double *compared_end = context;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (compared_end[x] < compared_end[y] || compared_end[x] > compared_end[y])
		return compared_end[x] > compared_end[y] ? -1 : 1;
	return x > y ? -1 : x < y;
}

int predict_slack(const struct predictor *p, double *slack)
{
	const struct step_graph *g = p->g;
	uint32_t *order = calloc((size_t)g->nr_steps + 1, sizeof(*order));
	double *late = calloc((size_t)g->nr_steps + 1, sizeof(*late)); /* latest end of each step that does not delay the completion */
	const uint32_t last = last_step(p);
	int ret = order && late ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < g->nr_steps; i++) {
		order[i] = i;
		late[i] = last == SIMULATE_NONE ? 0 : p->end[last];
	}
	if (ret == 0)
		qsort_r(order, g->nr_steps, sizeof(*order), compare_by_end, p->end);
	for (uint32_t n = 0; ret == 0 && n < g->nr_steps; n++) {
		const uint32_t i = order[n];
		const struct step_thread *t = &g->thread[g->about[i].thread];
		const double begin = late[i] - (g->step[i].kind == STEP_AWAIT ? 0 : p->end[i] - p->begin[i]);
		const uint32_t giver = g->step[i].kind == STEP_AWAIT ? g->giver_of_signal[g->step[i].of] : SIMULATE_NONE;

		if (i > t->first && begin < late[i - 1])
			late[i - 1] = begin;
		if (giver != SIMULATE_NONE && late[i] < late[giver])
			late[giver] = late[i];
		slack[i] = late[i] > p->end[i] ? late[i] - p->end[i] : 0;
	}
	free(order);
	free(late);
	return ret;
}

/* --------------------------------------------------------------------------------------------------------- candidates */

const char *predict_component_name(const struct step_graph *g, int level, uint32_t of, char spare[32])
{
	return level == -1 ? g->t->report->a->function[of].name : report_component_name(g->t->report, of, spare);
}

struct candidates {
	struct change *at;
	uint32_t nr;
};

static void add(struct candidates *c, enum change_kind kind, double value, int level, uint32_t of, const char *format, const char *text)
{
	struct change *to = &c->at[c->nr];

	if (c->nr == CANDIDATES_MAX)
		return;
	*to = (struct change){ .kind = kind, .value = value, .level = level, .of = of };
	snprintf(to->key, sizeof(to->key), "%s%s", format, text);
	c->nr++;
}

static void add_machine(const struct predictor *p, struct candidates *c)
{
	char text[48];

	snprintf(text, sizeof(text), "%g", 2 * p->now.processors);
	add(c, CHANGE_CORES, 2 * p->now.processors, 0, 0, "cores=", text);
	if (p->now.quota > 0) {
		snprintf(text, sizeof(text), "%g", 2 * p->now.quota);
		add(c, CHANGE_QUOTA, 2 * p->now.quota, 0, 0, "quota=", text);
		add(c, CHANGE_QUOTA, 0, 0, 0, "quota=", "none");
	}
	add(c, CHANGE_CLOCK, 1.2, 0, 0, "clock=", "x1.2");
}

static void add_devices(const struct predictor *p, struct candidates *c)
{
	double wait[NR_RESOURCES] = { 0 };

	for (uint32_t i = 0; i < p->g->nr_steps; i++)
		wait[p->g->about[i].resource] += p->g->step[i].amount;
	if (wait[RESOURCE_DISK_READ] + wait[RESOURCE_DISK_WRITE] > 0)
		add(c, CHANGE_DISK, 2, 0, 0, "disk=", "x2");
	if (wait[RESOURCE_NETWORK] > 0)
		add(c, CHANGE_NETWORK, 2, 0, 0, "network=", "x2");
	if (wait[RESOURCE_SLEEP] > 0)
		add(c, CHANGE_SLEEP, 2, 0, 0, "sleep=", "x2");
}

struct amount {
	double of;
	uint32_t index;
};

static int compare_amounts(const void *a, const void *b)
{
	const struct amount *x = a, *y = b;

	if (x->of < y->of || x->of > y->of)
		return x->of > y->of ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void add_locks(const struct predictor *p, struct candidates *c)
{
	const struct step_graph *g = p->g;
	const uint32_t nr = g->t->report->a->nr_functions;
	struct amount *lock = calloc((size_t)nr + 1, sizeof(*lock));
	double all = 0;

	for (uint32_t i = 0; lock && i < g->t->spans.nr; i++) {
		const struct span *s = &g->t->spans.at[i];

		if (s->kind != SPAN_WAIT || s->to_ns <= g->from_ns || s->from_ns >= g->to_ns)
			continue;
		all += (double)(s->to_ns - s->from_ns);
		if (s->resource == RESOURCE_LOCK && s->lock < nr)
			lock[s->lock].of += (double)(s->to_ns - s->from_ns);
	}
	for (uint32_t i = 0; lock && i < nr; i++)
		lock[i].index = i;
	if (lock)
		qsort(lock, nr, sizeof(*lock), compare_amounts);
	for (uint32_t i = 0; lock && i < nr && i < FUNCTIONS_MAX && lock[i].of > LOCK_SHARE * all && lock[i].of > 0; i++)
		add(c, CHANGE_LOCK, 0, 0, lock[i].index, "lock=", lock[i].index ? g->t->report->a->function[lock[i].index].name : "?");
	free(lock);
}

static uint32_t value_of_tick(const struct tick *k, int level)
{
	return level == -1 ? k->function : k->component[level];
}

/*
 * Adds candidates for the largest components of a level, or for the largest functions (level -1). With skew, their work is divided evenly,
 * and only those of uneven work are added. Otherwise their work takes 20 % less time.
 */
static void add_level(const struct predictor *p, struct candidates *c, int level, bool skew)
{
	const struct step_graph *g = p->g;
	const uint32_t nr = level == -1 ? g->t->report->a->nr_functions : g->t->report->model->dictionary.components.nr;
	struct amount *part = calloc((size_t)nr + 1, sizeof(*part));
	double all = 0;
	char text[150], spare[32];
	uint32_t threads;

	for (uint32_t i = 0; part && i < nr; i++)
		part[i].index = i;
	for (uint32_t i = 0; part && i < g->t->ticks.nr; i++)
		if (g->step_of_tick[i] != SIMULATE_NONE && value_of_tick(&g->t->ticks.at[i], level) < nr) {
			part[value_of_tick(&g->t->ticks.at[i], level)].of += g->t->ticks.at[i].weight;
			all += g->t->ticks.at[i].weight;
		}
	if (part)
		qsort(part, nr, sizeof(*part), compare_amounts);
	for (uint32_t i = 0; part && i < nr && i < 2 * FUNCTIONS_MAX && part[i].of > CANDIDATE_SHARE * all && part[i].of > 0; i++) {
		const char *name = predict_component_name(g, level, part[i].index, spare);
		const char *of = level == -1 ? "function" : report_level_name(g->t->report, g->t->level[level]);

		if (!part[i].index && level != -1)
			continue;
		if (skew && part_skew(g, level, part[i].index, &threads) < SKEW_LEAST)
			continue;
		snprintf(text, sizeof(text), skew ? "%.24s:%.110s" : "%.24s:%.110s=-20%%", of, name);
		add(c, skew ? CHANGE_SKEW : CHANGE_COMPONENT, 0.2, level, part[i].index, skew ? "skew=" : "component=", text);
	}
	free(part);
}

/* Adds candidates for groups of threads that one thread made, that did not do the same amount of work, and that took it from no queue. */
static void add_groups(const struct predictor *p, struct candidates *c)
{
	const struct timeline *t = p->g->t;
	bool *creates = calloc((size_t)t->threads.nr + 1, sizeof(*creates));
	char text[64];
	uint32_t nr;

	for (uint32_t i = 0; creates && i < t->threads.nr; i++) {
		const uint32_t creator = t->threads.at[i].creator;

		if (creator != TIMELINE_NOBODY && creator != i && t->threads.at[creator].pid == t->threads.at[i].pid)
			creates[creator] = true;
	}
	for (uint32_t i = 0; creates && i < t->threads.nr && c->nr < CANDIDATES_MAX; i++) {
		const struct part part = part_make(p->g, PART_THREADS, i);

		if (!creates[i] || part_skew(p->g, PART_THREADS, i, &nr) < SKEW_LEAST || nr < 2 || part_is_queue(p->g, &part))
			continue;
		snprintf(text, sizeof(text), "threads:%u", t->threads.at[i].tid);
		add(c, CHANGE_SKEW, 0, PART_THREADS, i, "skew=", text);
	}
	free(creates);
}

struct change *predict_candidates(const struct predictor *p, uint32_t *nr)
{
	const struct timeline *t = p->g->t;
	struct candidates c = { .at = calloc(CANDIDATES_MAX, sizeof(*c.at)) };

	if (!c.at)
		return NULL;
	add_machine(p, &c);
	add_devices(p, &c);
	add_locks(p, &c);
	add_level(p, &c, t->level[0] < LEVELS_MAX ? 0 : -1, false);
	if (t->level[1] < LEVELS_MAX)
		add_level(p, &c, 1, true);
	else
		add_groups(p, &c);
	*nr = c.nr;
	return c.at;
}
