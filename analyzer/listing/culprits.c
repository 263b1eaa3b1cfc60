/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/culprits.h"

#include <math.h>
#include <string.h>

#define CERTAIN 1.96	 /* standard errors of a 95 % interval */
#define NONE_AT_MOST 3.0 /* upper 95 % bound of the expected number of samples of an event that has none */
#define LOST_LEAST 0.1	 /* share of a block's cycles from which a loss counts; a smaller one is within the error of a best case */
#define NAMED_LEAST 0.1	 /* share of the lost cycles from which a cause is named */

const char *culprit_key(enum culprit c)
{
#define KEY_(NAME, key, text) #key,
	static const char *const keys[] = { CULPRITS(KEY_) };
#undef KEY_

	return keys[c];
}

const char *culprit_name(enum culprit c)
{
#define TEXT_(NAME, key, text) text,
	static const char *const names[] = { CULPRITS(TEXT_) };
#undef TEXT_

	return names[c];
}

bool stall_event_bounds(enum stall_event e, enum culprit c)
{
	static const enum stall_event of[NR_CULPRITS][2] = {
		[CULPRIT_DATA_CACHE] = { STALL_LAST_CACHE, STALL_FIRST_CACHE },	  [CULPRIT_TLB] = { STALL_WALK, STALL_WALK },
		[CULPRIT_BRANCH] = { STALL_BRANCH, STALL_BRANCH },
		[CULPRIT_STORE_FORWARD] = { STALL_STORE_FORWARD, STALL_STORE_FORWARD },
		[CULPRIT_DIVISION] = { STALL_DIVISION_CYCLES, STALL_DIVISION_CYCLES },
		[CULPRIT_DEPENDENCY] = { NR_STALL_EVENTS, NR_STALL_EVENTS },	  [CULPRIT_FRONT_END] = { STALL_CODE, STALL_CODE },
		[CULPRIT_PAGE_FAULT] = { STALL_FAULT, STALL_FAULT },		  [CULPRIT_KERNEL] = { NR_STALL_EVENTS, NR_STALL_EVENTS },
	};

	return e < NR_STALL_EVENTS && (e == of[c][0] || e == of[c][1]);
}

struct stall_count stall_count_bounds(double weight, double samples, double weight_squares, double period)
{
	double error;

	if (samples <= 0 || weight <= 0)
		return (struct stall_count){ true, 0, NONE_AT_MOST * period };
	error = CERTAIN * sqrt(weight_squares);
	return (struct stall_count){ true, fmax(weight - error, 0), weight + error };
}

void stall_count_add(struct stall_count *sum, double weight, double samples, double weight_squares, double period)
{
	const struct stall_count c = stall_count_bounds(weight, samples, weight_squares, period);

	sum->recorded = true;
	sum->low += c.low;
	sum->high += c.high;
}

/* Bound what each cause explains by itself, from the counts of its events. A cause without events is bounded by the code. */
static void raw_cause_bounds(const struct stall_evidence *e, double low[NR_CULPRITS], double high[NR_CULPRITS])
{
	const struct stall_count *first = &e->count[STALL_FIRST_CACHE], *last = &e->count[STALL_LAST_CACHE];
	const double n = e->executions;

	memset(low, 0, NR_CULPRITS * sizeof(*low));
	memset(high, 0, NR_CULPRITS * sizeof(*high));
	/* Data comes from memory, or from caches behind the first one. */
	if (last->recorded)
		low[CULPRIT_DATA_CACHE] = last->low * COST_MEMORY_LEAST;
	if (first->recorded && last->recorded)
		high[CULPRIT_DATA_CACHE] = last->high * COST_MEMORY_MOST + fmax(first->high - last->low, 0) * COST_CACHE_MOST;
	else if (first->recorded)
		high[CULPRIT_DATA_CACHE] = first->high * COST_MEMORY_MOST;
	else if (last->recorded)
		high[CULPRIT_DATA_CACHE] = last->high * COST_MEMORY_MOST + e->accesses * n * COST_CACHE_MOST;
	else
		high[CULPRIT_DATA_CACHE] = e->accesses * n * COST_MEMORY_MOST;
	if (e->count[STALL_WALK].recorded)
		high[CULPRIT_TLB] = e->count[STALL_WALK].high * COST_WALK_MOST;
	else
		high[CULPRIT_TLB] = e->accesses * n * COST_WALK_MOST;
	if (e->accesses <= 0) /* samples of these events belong to an earlier block then, since they may be a few instructions late */
		low[CULPRIT_DATA_CACHE] = high[CULPRIT_DATA_CACHE] = high[CULPRIT_TLB] = 0;
	if (e->count[STALL_BRANCH].recorded) {
		low[CULPRIT_BRANCH] = e->count[STALL_BRANCH].low * COST_BRANCH_LEAST;
		high[CULPRIT_BRANCH] = e->count[STALL_BRANCH].high * COST_BRANCH_MOST;
	} else if (e->mispredicts) {
		high[CULPRIT_BRANCH] = n * COST_BRANCH_MOST;
	}
	if (e->count[STALL_STORE_FORWARD].recorded) {
		low[CULPRIT_STORE_FORWARD] = e->count[STALL_STORE_FORWARD].low * COST_STORE_FORWARD_LEAST;
		high[CULPRIT_STORE_FORWARD] = e->count[STALL_STORE_FORWARD].high * COST_STORE_FORWARD_MOST;
	} else if (e->forwards) {
		high[CULPRIT_STORE_FORWARD] = e->loads * n * COST_STORE_FORWARD_MOST;
	}
	if (e->divisions > 0) {
		if (!e->has_chains)
			low[CULPRIT_DIVISION] = e->divisions * n * COST_DIVISION_LEAST - e->best;
		high[CULPRIT_DIVISION] = e->divisions * n * COST_DIVISION_MOST;
		if (e->count[STALL_DIVISION_CYCLES].recorded)
			high[CULPRIT_DIVISION] = fmin(high[CULPRIT_DIVISION], e->count[STALL_DIVISION_CYCLES].high);
	}
	high[CULPRIT_DEPENDENCY] = e->latency * n - e->best;
	if (e->count[STALL_CODE].recorded)
		high[CULPRIT_FRONT_END] = e->count[STALL_CODE].high * COST_CODE_MOST;
	else if (!e->fetched_once)
		high[CULPRIT_FRONT_END] = e->lines * n * COST_CODE_MOST;
}

/* Add the waits that the best case has itself, which are known exactly. They are caused by divisions if there are any, and else by
 * dependencies. */
static void add_static_stalls(const struct stall_evidence *e, struct stall_bounds *out)
{
	const enum culprit c = e->divisions > 0 ? CULPRIT_DIVISION : CULPRIT_DEPENDENCY;
	const double waits = fmax(fmin(e->best, e->cycles) - e->floor, 0);

	out->stall += waits;
	out->low[c] += waits;
	out->high[c] += waits;
}

void culprits_bound_stalls(const struct stall_evidence *e, struct stall_bounds *out)
{
	double low[NR_CULPRITS], high[NR_CULPRITS], all_low = 0, all_high = 0;

	memset(out, 0, sizeof(*out));
	out->stall = fmax(e->cycles - e->best, 0);
	raw_cause_bounds(e, low, high);
	for (int c = 0; c < NR_CULPRITS; c++) {
		high[c] = fmin(fmax(high[c], 0), out->stall);
		low[c] = fmin(fmax(low[c], 0), high[c]);
		all_low += low[c];
	}
	/* if the lower bounds exceed the stall, the causes overlapped in time, and share it */
	for (int c = 0; c < NR_CULPRITS && all_low > out->stall; c++)
		low[c] *= out->stall / all_low;
	all_low = fmin(all_low, out->stall);
	for (int c = 0; c < NR_CULPRITS; c++) {
		high[c] = fmin(high[c], out->stall - (all_low - low[c]));
		all_high += high[c];
	}
	out->unexplained = fmax(out->stall - all_high, 0); /* cycles beyond the best case that no cause explains */
	for (int c = 0; c < NR_CULPRITS; c++) {
		double rest = out->stall - out->unexplained - (all_high - high[c]); /* cycles that no other cause can explain */

		out->low[c] = fmin(fmax(low[c], rest), high[c]);
		out->high[c] = high[c];
	}
	add_static_stalls(e, out);
}

void culprits_add(struct stall_bounds *sum, const struct stall_bounds *b)
{
	sum->stall += b->stall;
	sum->unexplained += b->unexplained;
	for (int c = 0; c < NR_CULPRITS; c++) {
		sum->low[c] += b->low[c];
		sum->high[c] += b->high[c];
	}
}

int culprits_rank(const struct stall_bounds *b, double cycles, enum culprit order[NR_CULPRITS])
{
	int nr = 0;

	if (b->stall < LOST_LEAST * cycles)
		return 0;
	for (int c = 0; c < NR_CULPRITS; c++) {
		int at = nr;

		if (b->high[c] < NAMED_LEAST * b->stall)
			continue;
		for (; at > 0 && b->low[order[at - 1]] + b->high[order[at - 1]] < b->low[c] + b->high[c]; at--)
			order[at] = order[at - 1];
		order[at] = (enum culprit)c;
		nr++;
	}
	return nr;
}

void culprits_bound_block(const struct block_code *c, double cycles, double executions, const struct stall_count count[NR_STALL_EVENTS],
			  struct block_stalls *out)
{
	struct stall_evidence e = { .cycles = cycles, .best = c->best * executions, .floor = c->floor * executions,
				    .executions = executions, .accesses = c->accesses, .loads = c->loads, .divisions = c->divisions,
				    .lines = c->lines, .latency = c->latency, .mispredicts = c->mispredicts, .forwards = c->forwards,
				    .fetched_once = c->fetched_once, .has_chains = c->simulated };

	memset(out, 0, sizeof(*out));
	out->simulated = c->simulated;
	if (cycles <= 0 || executions <= 0)
		return;
	memcpy(e.count, count, sizeof(e.count));
	out->known = true;
	out->cycles = e.cycles;
	out->best = e.best;
	out->floor = e.floor;
	out->executions = executions;
	culprits_bound_stalls(&e, &out->bounds);
}

#define CLOCK_LEAST 0.1 /* ns of a cycle at 10 GHz, for the costs of a fault */
#define CLOCK_MOST 1.0	/* ns of a cycle at 1 GHz */

void culprits_bound_kernel(double kernel, const struct stall_count *faults, bool is_time, struct stall_bounds *out)
{
	double low = 0, high = kernel;

	if (faults) {
		low = faults->low * COST_FAULT_LEAST * (is_time ? CLOCK_LEAST : 1);
		high = faults->high * COST_FAULT_MOST * (is_time ? CLOCK_MOST : 1);
	}
	out->high[CULPRIT_PAGE_FAULT] = fmin(high, kernel);
	out->low[CULPRIT_PAGE_FAULT] = fmin(low, out->high[CULPRIT_PAGE_FAULT]);
	out->high[CULPRIT_KERNEL] = kernel - out->low[CULPRIT_PAGE_FAULT];
	out->low[CULPRIT_KERNEL] = kernel - out->high[CULPRIT_PAGE_FAULT];
	out->stall += kernel;
}

int culprits_rank_block(const struct block_stalls *b, enum culprit order[NR_CULPRITS])
{
	if (!b->known || (!b->simulated && b->cycles < 1.01 * b->best * ISSUE_WIDTH))
		return 0;
	return culprits_rank(&b->bounds, b->cycles, order);
}
