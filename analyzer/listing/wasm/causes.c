/* SPDX-License-Identifier: MIT */
/*
 * Analyzes stalls for a page, in functions that JavaScript calls. JavaScript describes the code of each block and the counts of each class,
 * writes the sums of each block under its filters, and reads executions, stalls and the bounds of their causes. The page never frees them.
 * Context: the page's one thread.
 */
#include "analyzer/listing/culprits.h"
#include "analyzer/listing/sampled_executions.h"
#include "analyzer/table/wasm/memory.h"

#include <stdint.h>
#include <stdlib.h>

#define EVENTS_MAX 16
#define SUMS 3 /* numbers for each block and event: samples, weight, and sum of squared weights */

struct page_block {
	struct block_code code;
	uint32_t class;
};

struct page_class {
	/* count: executions by the host's counters, < 0: it does not count the class; steps: number of instructions of its blocks */
	double count, steps;
	double weight, squares, samples; /* sums of the event of retired instructions in its blocks */
};

/* This struct has the results that JavaScript reads as an array of doubles. Executions and their bounds are -1 if they are not known. */
struct page_cause {
	double cycles, executions, low, high;
	double known, best, floor, simulated, stall, unexplained;
	double bound[2][NR_CULPRITS]; /* [0]: lower bounds by cause; [1]: upper bounds */
	double nr_causes, cause[NR_CULPRITS]; /* nr_causes numbers of enum culprit, the likeliest first */
};

struct page_causes {
	struct page_block *block;
	struct page_class *class;
	double *sums;
	struct page_cause *out;
	uint32_t nr_blocks, nr_classes, nr_events;
	uint32_t kind[EVENTS_MAX]; /* enum stall_event */
};

/* Create an analysis of so many blocks, classes and events. Return NULL if memory runs out, or if there are too many events. */
EXPORT(causes_create) struct page_causes *page_causes_create(uint32_t nr_blocks, uint32_t nr_classes, uint32_t nr_events)
{
	struct page_causes *c = nr_events <= EVENTS_MAX ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	*c = (struct page_causes){ .nr_blocks = nr_blocks, .nr_classes = nr_classes, .nr_events = nr_events };
	c->block = calloc((size_t)nr_blocks + 1, sizeof(*c->block));
	c->class = calloc((size_t)nr_classes + 1, sizeof(*c->class));
	c->sums = calloc(((size_t)nr_blocks + 1) * nr_events * SUMS, sizeof(*c->sums));
	c->out = calloc((size_t)nr_blocks + 3, sizeof(*c->out));
	return c->block && c->class && c->sums && c->out ? c : NULL;
}

EXPORT(causes_event) void page_causes_event(struct page_causes *c, uint32_t event, uint32_t kind)
{
	if (event < c->nr_events)
		c->kind[event] = kind;
}

EXPORT(causes_class) void page_causes_class(struct page_causes *c, uint32_t class, double count, double steps)
{
	if (class < c->nr_classes)
		c->class[class] = (struct page_class){ .count = count, .steps = steps };
}

enum { FLAG_SIMULATED = 1, FLAG_MISPREDICTS = 2, FLAG_FORWARDS = 4, FLAG_FETCHED_ONCE = 8 };

/* Describe the code of a block, as struct block_code does. latency < 0 means that there is no bound. */
EXPORT(causes_block)
void page_causes_block(struct page_causes *c, uint32_t block, uint32_t class, uint32_t flags, double best, double floor, double accesses,
		       double loads, double divisions, double lines, double latency)
{
	if (block < c->nr_blocks && class < c->nr_classes)
		c->block[block] = (struct page_block){ { best, floor, accesses, loads, divisions, lines, latency < 0 ? INFINITY : latency,
							 flags & FLAG_SIMULATED, flags & FLAG_MISPREDICTS, flags & FLAG_FORWARDS,
							 flags & FLAG_FETCHED_ONCE }, class };
}

/* Return the array that JavaScript writes samples, weight and squared weights to, block by block, for each event. */
EXPORT(causes_sums) double *page_causes_sums(struct page_causes *c)
{
	return c->sums;
}

static const double *sum_of(const struct page_causes *c, uint32_t block, uint32_t event)
{
	return c->sums + ((size_t)block * c->nr_events + event) * SUMS;
}

static void sum_up_classes(struct page_causes *c, uint32_t instructions)
{
	for (uint32_t i = 0; i < c->nr_classes; i++)
		c->class[i].weight = c->class[i].squares = c->class[i].samples = 0;
	for (uint32_t i = 0; instructions < c->nr_events && i < c->nr_blocks; i++) {
		const double *s = sum_of(c, i, instructions);
		struct page_class *class = &c->class[c->block[i].class];

		class->samples += s[0];
		class->weight += s[1];
		class->squares += s[2];
	}
}

static bool find_executions(const struct page_class *class, struct block_frequency *n)
{
	if (class->count >= 0)
		*n = (struct block_frequency){ class->count, class->count, class->count, "" };
	else if (class->samples > 0)
		sampled_executions(class->weight, class->squares, class->steps, n);
	return class->count >= 0 || class->samples > 0;
}

static void write_cause(struct page_cause *to, const struct stall_bounds *b, const enum culprit *order, int nr)
{
	to->stall = b->stall;
	to->unexplained = b->unexplained;
	for (int i = 0; i < NR_CULPRITS; i++) {
		to->bound[0][i] = b->low[i];
		to->bound[1][i] = b->high[i];
	}
	to->nr_causes = nr;
	for (int i = 0; i < nr; i++)
		to->cause[i] = order[i];
}

/*
 * Return one struct page_cause for each block. event: the event whose weights are the costs. instructions: the event of retired
 * instructions, or a larger number than there are events. period: of each event, 0 if the event bounds nothing. stalls: the weights of
 * `event` are cycles, so causes can be found.
 */
EXPORT(causes_judge)
const struct page_cause *page_causes_judge(struct page_causes *c, uint32_t event, uint32_t instructions, const double *period, bool stalls)
{
	sum_up_classes(c, instructions);
	for (uint32_t i = 0; i < c->nr_blocks; i++) {
		struct stall_count count[NR_STALL_EVENTS] = { 0 };
		enum culprit order[NR_CULPRITS];
		struct page_cause *to = &c->out[i];
		struct block_stalls b = { 0 };
		struct block_frequency n;

		*to = (struct page_cause){ .cycles = sum_of(c, i, event)[1], .executions = -1, .low = -1, .high = -1 };
		if (!find_executions(&c->class[c->block[i].class], &n))
			continue;
		to->executions = n.executions;
		to->low = n.low;
		to->high = n.high;
		for (uint32_t e = 0; stalls && e < c->nr_events; e++)
			if (c->kind[e] < NR_STALL_EVENTS && period[e] > 0)
				stall_count_add(&count[c->kind[e]], sum_of(c, i, e)[1], sum_of(c, i, e)[0], sum_of(c, i, e)[2], period[e]);
		if (stalls)
			culprits_bound_block(&c->block[i].code, to->cycles, n.executions, count, &b);
		if (!b.known)
			continue;
		to->known = 1;
		to->best = b.best;
		to->floor = fmin(b.floor, b.cycles);
		to->simulated = b.simulated;
		write_cause(to, &b.bounds, order, culprits_rank_block(&b, order));
	}
	return c->out;
}

static void read_cause(const struct page_cause *from, struct stall_bounds *b)
{
	b->stall = from->stall;
	b->unexplained = from->unexplained;
	for (int i = 0; i < NR_CULPRITS; i++) {
		b->low[i] = from->bound[0][i];
		b->high[i] = from->bound[1][i];
	}
}

/* Return the sum over the blocks from first to last - 1, after causes_judge(). Causes are only named if one of the blocks has any. kernel:
 * nanoseconds (is_time) or cycles in the kernel. Page faults, of which there were between faults_low and faults_high (faults_low < 0: not
 * recorded), may explain a part of these. */
EXPORT(causes_sum)
const struct page_cause *page_causes_sum(struct page_causes *c, uint32_t first, uint32_t last, double kernel, double faults_low,
					 double faults_high, bool is_time)
{
	const struct stall_count faults = { true, faults_low, faults_high };
	struct page_cause *to = &c->out[c->nr_blocks];
	struct stall_bounds sum = { 0 }, one;
	enum culprit order[NR_CULPRITS];
	bool named = false;

	*to = (struct page_cause){ .executions = -1 };
	for (uint32_t i = first; i < last && i < c->nr_blocks; i++) {
		const struct page_cause *x = &c->out[i];

		if (x->known <= 0)
			continue;
		named |= x->nr_causes > 0;
		to->known++;
		to->cycles += x->cycles;
		to->floor += x->floor;
		to->best += x->best;
		read_cause(x, &one);
		culprits_add(&sum, &one);
	}
	if (kernel > 0)
		culprits_bound_kernel(kernel, faults_low >= 0 ? &faults : NULL, is_time, &sum);
	write_cause(to, &sum, order, named ? culprits_rank(&sum, to->cycles, order) : 0);
	return to;
}

/* Return the lower and the upper 95 % bound for how many occurrences of an event there were. The next call overwrites them. */
EXPORT(causes_count) const double *page_causes_count(double weight, double samples, double squares, double period)
{
	static double bounds[2];
	const struct stall_count n = stall_count_bounds(weight, samples, squares, period);

	bounds[0] = n.low;
	bounds[1] = n.high;
	return bounds;
}
