/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/verdict.h"

#include "analyzer/whatif/interval.h"
#include "analyzer/whatif/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPECIFIC 0.5 /* a change must gain this part of what twice as fast processors gain, to be the bottleneck instead of the processor */
#define GAIN_LEAST 0.03 /* part of the completion time that relieving a bottleneck must gain */
#define FAULTS_BOUND 0.4 /* part of the critical path from which page faults, or the kernel, are the bottleneck */

static const char *name_of_lock(const struct predictor *p, uint32_t lock)
{
	return lock ? p->g->t->report->a->function[lock].name : "?";
}

/* Describes a change in a few words for people, such as "cores 2 to 4". */
static void describe_change(const struct predictor *p, const struct change *c, char *text, size_t bytes)
{
	char spare[32];
	const char *name = c->kind == CHANGE_COMPONENT || (c->kind == CHANGE_SKEW && c->level != PART_THREADS)
				   ? predict_component_name(p->g, c->level, c->of, spare) : "";
	const bool has_level = c->level >= 0 && c->level < TIMELINE_LEVELS && p->g->t->level[c->level] < LEVELS_MAX;
	const char *level = c->level == -1 ? "function" : has_level ? report_level_name(p->g->t->report, p->g->t->level[c->level]) : "";

	switch (c->kind) {
	case CHANGE_CORES:
		snprintf(text, bytes, "cores %g to %g", p->now.processors, c->value);
		break;
	case CHANGE_QUOTA:
		if (c->value <= 0 || c->value >= p->now.processors)
			snprintf(text, bytes, "no quota");
		else
			snprintf(text, bytes, "quota %g", c->value);
		break;
	case CHANGE_CLOCK:
		snprintf(text, bytes, "clock %+.0f %%", 100 * (c->value - 1));
		break;
	case CHANGE_DISK:
		snprintf(text, bytes, "disk x%g", c->value);
		break;
	case CHANGE_NETWORK:
		snprintf(text, bytes, "network x%g", c->value);
		break;
	case CHANGE_SLEEP:
		snprintf(text, bytes, "sleeps x%g shorter", c->value);
		break;
	case CHANGE_LOCK:
		snprintf(text, bytes, "no lock in %s", name_of_lock(p, c->of));
		break;
	case CHANGE_COMPONENT:
		snprintf(text, bytes, "%s %s %+.0f %%", level, name, -100 * c->value);
		break;
	case CHANGE_SKEW:
		if (c->level == PART_THREADS)
			snprintf(text, bytes, "no skew in threads of %u %s", p->g->t->threads.at[c->of].tid, timeline_comm(p->g->t, c->of));
		else
			snprintf(text, bytes, "no skew in %s %s", level, name);
		break;
	case CHANGE_THREADS:
		snprintf(text, bytes, "%g of %u threads %s", c->value, c->of, c->name);
		break;
	}
}

static void describe_changes(const struct predictor *p, const struct change *changes, uint32_t nr, char *text, size_t bytes)
{
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < nr && at + 3 < bytes; i++) {
		if (i)
			at += (size_t)snprintf(text + at, bytes - at, ", ");
		describe_change(p, &changes[i], text + at, bytes - at);
		at += strlen(text + at);
	}
}

static void describe_bound(const struct predictor *p, const struct prediction *x, char *text, size_t bytes)
{
	if (x->bound == RESOURCE_LOCK)
		snprintf(text, bytes, "lock in %s", name_of_lock(p, x->path.lock));
	else
		snprintf(text, bytes, "%s", resource_headings[x->bound]);
}

/* ------------------------------------------------------------------------------------------------------------ bottleneck */

static double gain_of(struct predictor *p, const struct change *c, int *error)
{
	struct prediction out;
	int ret = predict(p, c, 1, &out);

	*error = ret && ret != -EDOM ? ret : *error;
	return ret ? 0 : p->measured_ns - out.completion_ns;
}

/* Returns how many processors the threads used on average. */
static double used_processors(const struct predictor *p)
{
	return p->measured_ns > 0 ? p->g->work_ns / p->measured_ns : 0;
}

/* Returns the key of the resource that a change relieves. */
static const char *resource_of_change(const struct change *c)
{
	static const char *const keys[] = { [CHANGE_CORES] = "run-queue", [CHANGE_QUOTA] = "throttled", [CHANGE_DISK] = "disk",
					    [CHANGE_NETWORK] = "network", [CHANGE_SLEEP] = "sleep", [CHANGE_LOCK] = "lock",
					    [CHANGE_SKEW] = "skew", [CHANGE_CLOCK] = "processor", [CHANGE_COMPONENT] = "processor",
					    [CHANGE_THREADS] = "processor" };

	return keys[c->kind];
}

static void describe_processor(const struct predictor *p, const char **resource, char *text)
{
	double all = 0;

	for (int i = 0; i < NR_RESOURCES; i++)
		all += p->path.resource[i];
	*resource = "processor";
	if (p->path.resource[RESOURCE_FAULT] > FAULTS_BOUND * all) {
		*resource = "fault";
		snprintf(text, 160, "page faults (%.0f %% of the critical path)", 100 * p->path.resource[RESOURCE_FAULT] / all);
	} else if (p->path.resource[RESOURCE_KERNEL] > FAULTS_BOUND * all) {
		*resource = "kernel";
		snprintf(text, 160, "the kernel's work for it (%.0f %% of the critical path)",
			 100 * p->path.resource[RESOURCE_KERNEL] / all);
	} else if (used_processors(p) < 1.2 && p->now.processors > 1) {
		snprintf(text, 160, "processor, by work of one thread at a time (%.1f of %g processors were used)", used_processors(p),
			 p->now.processors);
	} else {
		snprintf(text, 160, "processor");
	}
}

int verdict_bottleneck(struct predictor *p, const char **resource, char *text)
{
	struct change faster = { .kind = CHANGE_CLOCK, .value = 2 }, best = faster, *c;
	double clock, most = 0;
	uint32_t nr;
	int error = 0;

	c = predict_candidates(p, &nr);
	if (!c)
		return -ENOMEM;
	clock = gain_of(p, &faster, &error);
	for (uint32_t i = 0; i < nr; i++) {
		double gain;

		if (c[i].kind == CHANGE_CLOCK || c[i].kind == CHANGE_COMPONENT)
			continue;
		gain = gain_of(p, &c[i], &error);
		if (gain > most) {
			most = gain;
			best = c[i];
		}
	}
	free(c);
	if (most > SPECIFIC * clock && most > GAIN_LEAST * p->measured_ns) {
		*resource = resource_of_change(&best);
		if (best.kind == CHANGE_LOCK)
			snprintf(text, 160, "the lock that %.100s takes", name_of_lock(p, best.of));
		else if (best.kind == CHANGE_SKEW)
			describe_change(p, &best, text, 160);
		else
			snprintf(text, 160, "%s", best.kind == CHANGE_CORES ? "run queue: more threads than processors" :
				 best.kind == CHANGE_QUOTA ? "the quota" : best.kind == CHANGE_SLEEP ? "sleep" :
				 best.kind == CHANGE_DISK ? "disk" : "network");
	} else if (clock > GAIN_LEAST * p->measured_ns) {
		describe_processor(p, resource, text);
	} else {
		struct prediction now = { .path = p->path };

		now.bound = RESOURCE_UNKNOWN;
		for (int i = 0; i < NR_RESOURCES; i++)
			now.bound = now.path.resource[i] > now.path.resource[now.bound] ? (enum resource)i : now.bound;
		*resource = resource_keys[now.bound];
		describe_bound(p, &now, text, 160);
	}
	return error;
}

/*
 * Returns the resource on which all threads together spent most time in the window. Waits for other threads of the same run are not a
 * resource.
 */
static enum resource largest_sum(const struct predictor *p)
{
	double sum[NR_RESOURCES];
	enum resource best = RESOURCE_CORE;

	timeline_sum(p->g->t, TIMELINE_NOBODY, p->g->from_ns, p->g->to_ns, sum);
	for (int i = 0; i < NR_RESOURCES; i++)
		if (i != RESOURCE_SIBLING && i != RESOURCE_CHILD && sum[i] > sum[best])
			best = (enum resource)i;
	return best;
}

static bool is_same_resource(const char *bound, enum resource sum)
{
	const char *key = resource_keys[sum];

	return strcmp(bound, key) == 0 || (strncmp(bound, "disk", 4) == 0 && strncmp(key, "disk", 4) == 0) ||
	       (sum == RESOURCE_CORE && (strcmp(bound, "processor") == 0 || strcmp(bound, "run-queue") == 0 || strcmp(bound, "skew") == 0));
}

/* ---------------------------------------------------------------------------------------------------------------- now */

static void say_replay(const struct predictor *p, struct page *page)
{
	const double error = p->simulated_ns / p->measured_ns - 1;
	char text[16];

	page_sentence(page, "Replay of the trace: %s (%+.1f %%): %s.", grid_duration(p->simulated_ns, text), 100 * error,
		      p->replay_error > PREDICT_REFUSE ? "predictions are not to be trusted" :
		      p->replay_error > PREDICT_WARN   ? "predictions are rough" : "usable");
	page_fact_number(page, "measured_ns", p->measured_ns);
	page_fact_number(page, "replay_ns", p->simulated_ns);
	page_fact_number(page, "replay_error", error);
}

int verdict_show_now(struct predictor *p, struct page *page)
{
	const struct step_graph *g = p->g;
	const enum resource sum = largest_sum(p);
	struct change endless = { .kind = CHANGE_CORES, .value = 4096 };
	struct prediction least;
	const char *resource;
	char text[160], number[16], quota[40] = "";
	int ret = verdict_bottleneck(p, &resource, text);

	if (ret)
		return ret;
	if (p->now.quota > 0)
		snprintf(quota, sizeof(quota), " and a quota of %g", p->now.quota);
	page_sentence(page, "%s%s on %g %s%s; bound by: %s.", grid_duration(p->measured_ns, number), g->of_marks ? " (of its marks)" : "",
		      p->now.processors, p->now.processors > 1 ? "processors" : "processor", quota, text);
	page_fact(page, "bound", resource);
	page_fact(page, "bound_text", text);
	page_fact_number(page, "processors", p->now.processors);
	page_fact_number(page, "quota", p->now.quota);
	page_fact(page, "largest_sum", resource_keys[sum]);
	if (!is_same_resource(resource, sum))
		page_sentence(page, "The most of all threads' time is of another: %s; it is not what the end waits for.",
			      resource_headings[sum]);
	say_replay(p, page);
	if (g->t->intruded_ns > 0.05 * p->measured_ns)
		page_sentence(page, "Other programs had processors for %s of the threads' time: predictions are of a machine without them.",
			      grid_duration(g->t->intruded_ns, number));
	if (!g->t->has_wakeups)
		page_sentence(page, "When threads were woken is not recorded (`tailor doctor` says why): what they waited for a processor "
			      "counts as part of other waits, and predictions for more processors are too long by it.");
	if (g->waits_ns > 0)
		page_sentence(page, "Waits whose end is not explained: %.1f %% of all waits.", 100 * g->unknown_ns / g->waits_ns);
	page_fact_number(page, "unknown_waits", g->waits_ns > 0 ? g->unknown_ns / g->waits_ns : 0);
	if (predict(p, &endless, 1, &least) == 0) {
		page_sentence(page, "Nothing beats %s by processors alone.", grid_duration(least.completion_ns, number));
		page_fact_number(page, "endless_ns", least.completion_ns);
	}
	return 0;
}

const char *verdict_replay_takes(const struct predictor *p)
{
	return p->simulated_ns < p->measured_ns ? "less" : "more";
}

int verdict_refuse(const struct predictor *p, struct diag *d)
{
	const char *why = p->g->t->intruded_ns > 0.05 * p->measured_ns
				  ? "other programs had processors meanwhile; record it on a quiet machine"
				  : "the trace does not say enough of what threads wait for";

	return diag_fail(d, ERANGE, "the replay of this trace takes %.0f %% %s time than was measured, so it predicts nothing: %s "
			 "(--force predicts all the same)", 100 * p->replay_error, verdict_replay_takes(p), why);
}

/* ------------------------------------------------------------------------------------------------------------- tables */

struct answer {
	struct prediction x;
	char change[200], key[256];
	bool beyond;
};

struct columns {
	int change, completion, gain, low, high, bound, key;
};

#define NARROW 100 /* on pages with fewer columns, "then bound by" is narrower, which leaves more room for the change */

static struct columns add_columns(struct grid *g, const struct page *p)
{
	struct columns c;

	c.completion = grid_column(g, "completion_ns", "completion", CELL_DURATION, 0, 0);
	c.gain = grid_column(g, "change", "change %", CELL_POINTS, 0, 0);
	c.low = grid_column(g, "low_ns", "at least", CELL_DURATION, 0, 0);
	c.high = grid_column(g, "high_ns", "at most", CELL_DURATION, 0, 0);
	c.bound = grid_column(g, "then_bound_by", "then bound by", CELL_TEXT, GRID_NAME, p->columns < NARROW ? 14 : 24);
	c.key = grid_column(g, "option", "option", CELL_TEXT, GRID_HIDDEN, 0);
	c.change = grid_column(g, "if", "if", CELL_TEXT, GRID_NAME, 0);
	return c;
}

static void add_answer(struct grid *g, const struct columns *c, const struct predictor *p, const struct answer *a)
{
	char bound[160], text[256];

	grid_row(g);
	grid_set(g, c->completion, a->x.completion_ns);
	grid_set(g, c->gain, a->x.completion_ns / p->measured_ns - 1);
	grid_set(g, c->low, a->x.low_ns);
	grid_set(g, c->high, a->x.high_ns);
	describe_bound(p, &a->x, bound, sizeof(bound));
	grid_set_text(g, c->bound, bound);
	snprintf(text, sizeof(text), "%s%s", a->change, a->beyond ? " (beyond)" : "");
	grid_set_text(g, c->change, text);
	grid_set_text(g, c->key, a->key);
}

static int answer(struct predictor *p, const struct change *changes, uint32_t nr, struct answer *a)
{
	int ret = predict(p, changes, nr, &a->x);
	size_t at = 0;

	describe_changes(p, changes, nr, a->change, sizeof(a->change));
	a->beyond = false;
	a->key[0] = '\0';
	for (uint32_t i = 0; i < nr; i++) {
		a->beyond |= changes[i].kind == CHANGE_CORES && changes[i].value > p->g->t->report->model->nr_cpus;
		at += at < sizeof(a->key) ? (size_t)snprintf(a->key + at, sizeof(a->key) - at, "%s%s", i ? " " : "", changes[i].key) : 0;
	}
	return ret;
}

static int keep(struct kept *k, const struct answer *a)
{
	return !k || kept_add(k, a->key, a->x.completion_ns, a->x.low_ns, a->x.high_ns) ? 0 : -ENOMEM;
}

static int compare_answers(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	if (x->x.completion_ns < y->x.completion_ns || x->x.completion_ns > y->x.completion_ns)
		return x->x.completion_ns < y->x.completion_ns ? -1 : 1;
	return strcmp(x->key, y->key);
}

int verdict_show_table(struct predictor *p, struct page *page, struct kept *k)
{
	uint32_t nr = 0, known = 0;
	struct change *c = predict_candidates(p, &nr);
	struct answer *a = c ? calloc((size_t)nr + 1, sizeof(*a)) : NULL;
	int ret = a ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		ret = answer(p, &c[i], 1, &a[known]);
		known += ret == 0;
		ret = ret == -EDOM ? 0 : ret;
	}
	if (ret == 0) {
		struct grid *g = grid_create("predictions", "What would help, each alone (95 %% interval)");
		struct columns columns = add_columns(g, page);

		qsort(a, known, sizeof(*a), compare_answers);
		for (uint32_t i = 0; i < known && ret == 0; i++) {
			add_answer(g, &columns, p, &a[i]);
			ret = keep(k, &a[i]);
		}
		grid_show(g, page);
	}
	free(c);
	free(a);
	return ret;
}

int verdict_show_change(struct predictor *p, const struct change *changes, uint32_t nr, struct page *page, struct kept *k)
{
	struct answer a;
	struct columns columns;
	struct grid *g;
	int ret = answer(p, changes, nr, &a);

	if (ret)
		return ret;
	g = grid_create("predictions", "Prediction (95 %% interval)");
	columns = add_columns(g, page);
	add_answer(g, &columns, p, &a);
	grid_show(g, page);
	return keep(k, &a);
}

/* Graham's bounds need the longest chain of work, for which the completion time with 4096 processors is taken. */
int verdict_show_sweep(struct predictor *p, const struct change *changes, uint32_t nr, uint32_t from, uint32_t to, struct page *page,
		       struct kept *k)
{
	struct change all[32];
	struct prediction endless;
	struct grid *g;
	int completion, low, high, efficiency, bound_low, bound_high, beyond, cores, ret;
	double first = 0, least, most;
	uint32_t knee = 0;

	if (nr > 31)
		return -E2BIG;
	for (uint32_t i = 0; i < nr; i++)
		all[i] = changes[i];
	all[nr] = (struct change){ .kind = CHANGE_CORES, .value = 4096 };
	ret = predict(p, all, nr + 1, &endless);
	if (ret)
		return ret;
	g = grid_create("sweep", "Completion by number of processors (95 %% interval)");
	cores = grid_column(g, "cores", "cores", CELL_COUNT, 0, 0);
	completion = grid_column(g, "completion_ns", "completion", CELL_DURATION, 0, 0);
	low = grid_column(g, "low_ns", "at least", CELL_DURATION, 0, 0);
	high = grid_column(g, "high_ns", "at most", CELL_DURATION, 0, 0);
	efficiency = grid_column(g, "efficiency", "efficiency", CELL_PERCENT, 0, 0);
	bound_low = grid_column(g, "graham_low_ns", "Graham from", CELL_DURATION, 0, 0);
	bound_high = grid_column(g, "graham_high_ns", "to", CELL_DURATION, 0, 0);
	/* The column has "beyond" where the recorded machine has fewer processors, so that it cannot verify the prediction. */
	beyond = grid_column(g, "verifiable", "", CELL_TEXT, 0, 0);
	grid_show_all_rows(g);
	for (uint32_t n = from; n <= to && ret == 0; n++) {
		struct answer a;
		const double scale = p->measured_ns / p->simulated_ns;

		all[nr] = (struct change){ .kind = CHANGE_CORES, .value = n };
		snprintf(all[nr].key, sizeof(all[nr].key), "cores=%u", n);
		ret = answer(p, all, nr + 1, &a);
		if (ret)
			break;
		first = n == from ? a.x.completion_ns * n : first;
		knee = !knee && a.x.completion_ns < endless.completion_ns * 1.05 ? n : knee;
		simulate_bounds(p->g->work_ns * scale, endless.completion_ns, n, &least, &most);
		grid_row(g);
		grid_set(g, cores, n);
		grid_set(g, completion, a.x.completion_ns);
		grid_set(g, low, a.x.low_ns);
		grid_set(g, high, a.x.high_ns);
		grid_set(g, efficiency, first / n / a.x.completion_ns);
		grid_set(g, bound_low, least);
		grid_set(g, bound_high, most);
		grid_set_text(g, beyond, n > p->g->t->report->model->nr_cpus ? "beyond" : "");
		ret = keep(k, &a);
	}
	grid_show(g, page);
	if (to > p->g->t->report->model->nr_cpus)
		page_sentence(page, "Beyond the %u processors that were recorded, nothing on that machine can verify it.",
			      p->g->t->report->model->nr_cpus);
	if (ret == 0 && knee)
		page_sentence(page, "From %u processors on, it is within 5 %% of what endless ones would reach.", knee);
	return ret;
}

static struct grid *create_target_grid(const char *heading, const struct page *page, struct columns *columns)
{
	struct grid *g = grid_create("predictions", "%s (95 %% interval)", heading);

	*columns = add_columns(g, page);
	return g;
}

int verdict_show_target(struct predictor *p, double target_ns, struct page *page, struct kept *k)
{
	uint32_t nr = 0, found = 0;
	struct change *c = predict_candidates(p, &nr), pair[2];
	struct answer a, best = { .x.completion_ns = HUGE_VAL };
	struct columns columns = { 0 };
	struct grid *g = NULL;
	char text[16];
	int ret = c ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		ret = answer(p, &c[i], 1, &a);
		if (ret == 0 && a.x.completion_ns <= target_ns) {
			if (!g)
				g = create_target_grid("What reaches the target alone", page, &columns);
			add_answer(g, &columns, p, &a);
			found++;
			ret = keep(k, &a);
		}
		ret = ret == -EDOM ? 0 : ret;
	}
	for (uint32_t i = 0; i < nr && ret == 0 && !found; i++)
		for (uint32_t j = i + 1; j < nr && ret == 0; j++) {
			pair[0] = c[i];
			pair[1] = c[j];
			ret = c[i].kind == c[j].kind && c[i].kind <= CHANGE_CLOCK ? -EDOM : answer(p, pair, 2, &a);
			if (ret == 0 && a.x.completion_ns < best.x.completion_ns)
				best = a;
			ret = ret == -EDOM ? 0 : ret;
		}
	if (!g)
		g = create_target_grid(best.x.completion_ns <= target_ns ? "What reaches the target as a pair" :
				       best.x.completion_ns < HUGE_VAL	 ? "What comes nearest to the target as a pair" :
									   "What reaches the target", page, &columns);
	if (ret == 0 && !found && best.x.completion_ns < HUGE_VAL) {
		add_answer(g, &columns, p, &best);
		ret = keep(k, &best);
	}
	grid_show(g, page);
	if (ret == 0 && !found)
		page_sentence(page, best.x.completion_ns <= target_ns ? "Nothing alone reaches %s; this pair does." :
			      "Neither one change nor two reach %s; this pair comes nearest.", grid_duration(target_ns, text));
	free(c);
	return ret;
}

void verdict_explain(const struct predictor *p, struct page *page)
{
	const struct step_graph *g = p->g;

	page_sentence(page, "The work is taken to be fixed: more processors start no further threads.  %s",
		      p->nr_queues ? "Threads that ended at one time, with different work, took it from a queue: it is divided evenly."
				   : "No thread takes over another one's part.");
	page_sentence(page, "%u threads, %u steps, %u waits that another thread ended; %s.", g->e.nr_threads, g->nr_steps, g->nr_signals,
		      g->t->has_wakeups ? "who woke them was recorded" : "who woke them was guessed from who ran then");
	page_sentence(page, g->e.target == UINT32_MAX ? "Completion is when the last thread ends." :
		      "Completion is when thread %u ends.", g->e.target == UINT32_MAX ? 0 : g->t->threads.at[g->e.target].tid);
	if (p->nr_ticks)
		page_sentence(page, "%u times a thread looked whether it had to do something, and waited again: what ends such waits "
			      "is not time.", p->nr_ticks);
	page_sentence(page, "Locks are granted in the recorded order; contention that did not occur is not foreseen.");
	page_sentence(page, "The interval is of runs that differ by %.1f %%, and a model that is wrong by %.1f %% for a factor of 2.",
		      100 * p->spread, 100 * p->octave);
	page_sentence(page, p->slowdown[0] > 0 ? "Work beside other work is slower, as the calibration says." :
		      "Work beside other work is taken to be as fast as alone (--calibration FILE).");
	page_sentence(page, "Which part of the processor's time waits for memory is not recorded, so a faster clock may gain up to "
		      "%.0f %% less.",
		      100 * INTERVAL_MEMORY);
}
