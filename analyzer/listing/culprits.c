/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/culprits.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define CERTAIN 1.96	 /* standard errors of 95 % */
#define NONE_AT_MOST 3.0 /* samples that there may have been of an event that has none */
#define LOST_LEAST 0.1	 /* of a block's cycles: less is within what a best case is known to */
#define NAMED_LEAST 0.1	 /* of what was lost */

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

/* The first that fits: longer names before those that are a part of them. */
static const struct {
	const char *part;
	enum stall_event event;
} names[] = {
	{ "l1-icache", STALL_CODE },	      { "icache", STALL_CODE },
	{ "instruction_cache", STALL_CODE },  { "itlb", STALL_CODE },
	{ "l1-dcache-load-misses", STALL_FIRST_CACHE },
	{ "l1_miss", STALL_FIRST_CACHE },     { "l1d:replacement", STALL_FIRST_CACHE },
	{ "llc-load-misses", STALL_LAST_CACHE }, { "l3_miss", STALL_LAST_CACHE },
	{ "longest_lat_cache", STALL_LAST_CACHE },
	{ "dtlb-load-misses", STALL_WALK },   { "dtlb_load_misses", STALL_WALK },
	{ "dtlb_miss", STALL_WALK },	      { "branch-misses", STALL_BRANCH },
	{ "branch_misses", STALL_BRANCH },    { "br_misp", STALL_BRANCH },
	{ "branch_instructions_mispredicted", STALL_BRANCH },
	{ "store_forward", STALL_STORE_FORWARD },
	{ "divider_active", STALL_DIVISION_CYCLES }, { "div_active", STALL_DIVISION_CYCLES },
	{ "fpu_div_active", STALL_DIVISION_CYCLES },
	{ "page-faults", STALL_FAULT },	      { "minor-faults", STALL_FAULT },
	{ "cache-misses", STALL_LAST_CACHE },
};

enum stall_event stall_event_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasestr(name, names[i].part))
			return names[i].event;
	return NR_STALL_EVENTS;
}

struct stall_count stall_count_bounds(double weight, double samples, double weight_squares, double period)
{
	double error;

	if (samples <= 0 || weight <= 0)
		return (struct stall_count){ true, 0, NONE_AT_MOST * period };
	error = CERTAIN * sqrt(weight_squares);
	return (struct stall_count){ true, fmax(weight - error, 0), weight + error };
}

/* What events, and where there are none the code, let a cause explain at least and at most. */
static void raw_cause_bounds(const struct stall_evidence *e, double low[NR_CULPRITS], double high[NR_CULPRITS])
{
	const struct stall_count *first = &e->count[STALL_FIRST_CACHE], *last = &e->count[STALL_LAST_CACHE];
	const double n = e->executions;

	memset(low, 0, NR_CULPRITS * sizeof(*low));
	memset(high, 0, NR_CULPRITS * sizeof(*high));
	/* data from memory, and from caches behind the first */
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
	if (e->accesses <= 0) /* (a sample of an event may be a few instructions late) */
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

/* What the best case itself waits for: the divider, or else results of other instructions. */
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
	for (int c = 0; c < NR_CULPRITS && all_low > out->stall; c++) /* causes that overlap in time share it */
		low[c] *= out->stall / all_low;
	all_low = fmin(all_low, out->stall);
	for (int c = 0; c < NR_CULPRITS; c++) {
		high[c] = fmin(high[c], out->stall - (all_low - low[c]));
		all_high += high[c];
	}
	out->unexplained = fmax(out->stall - all_high, 0); /* (still: beyond the best case) */
	for (int c = 0; c < NR_CULPRITS; c++) {
		double rest = out->stall - out->unexplained - (all_high - high[c]); /* which no other can explain */

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
