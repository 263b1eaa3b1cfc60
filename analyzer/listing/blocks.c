/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/blocks.h"

#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

static bool ends_block(const struct step *s)
{
	return s->insn.kind == INSN_JUMP || s->insn.kind == INSN_BRANCH || s->insn.kind == INSN_RETURN;
}

static bool find_blocks(struct graph *f)
{
	bool *begins = calloc((size_t)f->nr_steps + 2, sizeof(*begins));

	f->block = calloc((size_t)f->nr_steps + 1, sizeof(*f->block));
	if (!begins || !f->block) {
		free(begins);
		return false;
	}
	for (int i = 0; i < f->nr_steps; i++) {
		if (f->step[i].to >= 0)
			begins[f->step[i].to] = true;
		if (ends_block(&f->step[i]))
			begins[i + 1] = true;
		f->is_indirect |= f->step[i].insn.kind == INSN_JUMP && !f->step[i].insn.target && !f->step[i].refers;
	}
	for (int i = 0; i < f->nr_steps; i++) {
		if (i == 0 || begins[i])
			f->block[f->nr_blocks++] = (struct block){ .first = i };
		f->block[f->nr_blocks - 1].nr++;
		for (int e = 0; e < VIEW_EVENTS_MAX; e++)
			group_sum_add(&f->block[f->nr_blocks - 1].sum[e], f->step[i].sum[e]);
	}
	free(begins);
	return true;
}

static uint32_t block_of_step(const struct graph *f, int step)
{
	uint32_t n = SORTED_COUNT(f->nr_blocks, i, f->block[i].first <= step);

	return n ? n - 1 : 0;
}

/* Make the arcs between blocks, and find the classes of blocks that run equally often. The first block gets an arc from outside, and so
 * does a block that nothing leads to (an exception handler, code after padding). Return false if memory runs out. */
static bool find_block_classes(struct graph *f)
{
	struct class_arc *arc = calloc(4 * (size_t)f->nr_blocks + 1, sizeof(*arc));
	uint32_t *class_of = calloc((size_t)f->nr_blocks + 1, sizeof(*class_of)), nr = 0;
	bool *reached = calloc((size_t)f->nr_blocks + 1, sizeof(*reached));

	for (uint32_t b = 0; arc && class_of && reached && b < f->nr_blocks; b++) {
		const struct step *last = &f->step[f->block[b].first + f->block[b].nr - 1];
		bool falls = last->insn.kind != INSN_JUMP && last->insn.kind != INSN_RETURN;

		if (ends_block(last) && last->to >= 0)
			arc[nr++] = (struct class_arc){ b, block_of_step(f, last->to) };
		else if (!falls || last->insn.kind == INSN_BRANCH)
			arc[nr++] = (struct class_arc){ b, UINT32_MAX };
		if (falls)
			arc[nr++] = (struct class_arc){ b, b + 1 < f->nr_blocks ? b + 1 : UINT32_MAX };
	}
	for (uint32_t i = 0; reached && i < nr; i++)
		if (arc[i].to < f->nr_blocks)
			reached[arc[i].to] = true;
	for (uint32_t b = 0; arc && reached && b < f->nr_blocks; b++)
		if (b == 0 || !reached[b])
			arc[nr++] = (struct class_arc){ UINT32_MAX, b };
	if (arc && class_of && reached)
		f->nr_classes = f->is_indirect ? f->nr_blocks : flow_block_classes(arc, nr, f->nr_blocks, class_of);
	for (uint32_t b = 0; f->nr_classes && b < f->nr_blocks; b++)
		f->block[b].class = f->is_indirect ? b : class_of[b];
	f->arc = arc;
	f->nr_arcs = arc ? nr : 0;
	free(class_of);
	free(reached);
	f->class = calloc((size_t)f->nr_classes + 1, sizeof(*f->class));
	return f->nr_classes && f->class;
}

/* Set the executions of a block to the count that more than half of those of its instructions have whose counts are known, or else to that
 * of some of them. An optimizer may have moved some of them from other blocks, and their lines keep the counts of those. */
static void count_block_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct graph *f,
				   struct block *b)
{
	struct frequency said;
	int votes = 0;

	/* this finds the majority, if there is one (R. Boyer and J. Moore, MJRTY, 1981) */
	for (int i = b->first; i < b->first + b->nr; i++) {
		if (!step_executions(r, counts, h, &f->step[i], &said))
			continue;
		if (votes == 0)
			b->executions = said;
		votes += said.count == b->executions.count ? 1 : -1;
	}
}

uint32_t event_of_unit(const struct report *r, enum weight_unit unit)
{
	for (uint32_t e = 0; e < r->model->nr_events && e < VIEW_EVENTS_MAX; e++)
		if (r->model->event[e].name && r->model->event[e].weighs == unit)
			return e;
	return VIEW_EVENTS_MAX;
}

static void count_class_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, struct graph *f)
{
	const uint32_t retired = event_of_unit(r, WEIGHT_INSTRUCTIONS);

	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		struct block *b = &f->block[i];
		struct frequency_class *c = &f->class[b->class];

		count_block_executions(r, counts, h, f, b);
		if (b->executions.state && (!c->state || b->executions.state < c->state)) {
			c->count = b->executions.count;
			c->state = b->executions.state;
		}
		c->steps += b->nr;
		if (retired < VIEW_EVENTS_MAX)
			group_sum_add(&c->instructions, &b->sum[retired]);
	}
}

bool block_executions(const struct graph *f, const struct block *b, struct block_frequency *out)
{
	const struct frequency_class *c = &f->class[b->class];

	if (c->state)
		*out = (struct block_frequency){ (double)c->count, (double)c->count, (double)c->count, frequency_state_name(c->state) };
	else if (c->instructions.samples > 0)
		sampled_executions(c->instructions.weight, c->instructions.weight_squares, c->steps, out);
	else
		return false;
	return true;
}

bool graph_make_of_function(struct report *r, const struct hot *h, const struct step *step, int nr_steps, struct graph *f)
{
	*f = (struct graph){ .step = step, .nr_steps = nr_steps };
	if (!step || !nr_steps || !find_blocks(f) || !find_block_classes(f))
		return false;
	count_class_executions(r, frequencies_of_report(r), h, f);
	return true;
}

void graph_fini(struct graph *f)
{
	free(f->block);
	free(f->class);
	free(f->arc);
}
