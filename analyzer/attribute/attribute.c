/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/attribute.h"

#include "analyzer/attribute/pass.h"
#include "analyzer/attribute/walk.h"
#include "jitreg/trace/sample_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the columns that need not be decoded. Stacks, addresses and lines of single samples need all of them, and so do processes with
 * objects. Otherwise data sources and latencies are not needed, and of the registers only RIP, those that can hold a tag, and those that
 * show whether these are known (walk_needed_registers()). Sums need no data address, and the processor only if rows or weights differ by
 * it. */
static struct sample_columns unwanted_columns(const struct pass *run)
{
	const struct attribute_options *o = run->options;
	struct sample_columns unwanted = { { 0 } };
	uint32_t wanted = 1u << UNWIND_RIP;

	if (o->addresses || o->stacks || o->each)
		return unwanted;
	for (uint32_t i = 0; i < run->a->model->processes.nr; i++) {
		const struct process *p = run->a->model->processes.at[i];

		for (uint32_t n = 0; n < p->tags.nr; n++)
			wanted |= p->tags.at[n].where < UNWIND_REGISTERS ? 1u << p->tags.at[n].where : 0;
		if (p->has_objects) /* any register can hold an object's address */
			return unwanted;
	}
	unwanted.mask[1] = walk_perf_register_mask((1u << UNWIND_REGISTERS) - 1) & ~walk_perf_register_mask(walk_needed_registers(wanted));
	unwanted.mask[0] = 1ull << SAMPLE_COLUMN_DATA_SOURCE | 1ull << SAMPLE_COLUMN_LATENCY;
	if (o->sums_by)
		unwanted.mask[0] |= 1ull << SAMPLE_COLUMN_ADDRESS;
	if (o->sums_by && !(o->sums_by >> TABLE_CPU & 1) && !weights_differ_by_cpu(run->a->model))
		unwanted.mask[0] |= 1ull << SAMPLE_COLUMN_CPU;
	return unwanted;
}

/* Checks that the trace declares the event.  If it declares none, because that part of the file is damaged, any number below
 * MODEL_EVENTS_MAX passes. */
static bool event_is_declared(const struct model *m, uint32_t event)
{
	return event < (m->nr_events ? m->nr_events : MODEL_EVENTS_MAX);
}

#define STEPS_EACH 16 /* budget steps of a sample that has rows of its own; one that only adds to sums costs a single step */

/* Returns the budget steps that a block costs: one per sample, plus those for its recorded call chains and stack bytes.  got: result of
 * sample_stream_next(), negative for a block that cannot be decoded. */
static uint64_t budget_steps_of_block(int got, const struct sample_block *b)
{
	const uint64_t *stack = b->column[SAMPLE_COLUMN_STACK_BYTES];
	uint64_t steps = got < 0 ? 1 : b->nr;

	if (got > 0 && b->chain_offset)
		steps += b->chain_offset[b->nr] / 8;
	for (uint32_t i = 0; got > 0 && stack && b->has_stacks && i < b->nr; i++)
		steps += stack[i] / 4096;
	return steps;
}

static int attribute_all_samples(struct pass *run, struct trace_reader *t)
{
	const struct sample_columns unwanted = unwanted_columns(run);
	struct sample_stream *s;
	struct sample_block *b;
	int ret = sample_stream_open(t, &unwanted, run->options->threads, &s), got;

	if (ret)
		return ret;
	while (ret == 0 && (got = sample_stream_next(s, &b)) != 0) {
		uint64_t at, total;

		if (got == -ENOMEM) {
			ret = trace_budget_has_room(t, UINT64_MAX / 2) ? got : -E2BIG;
			continue;
		}
		if (!trace_spend_budget(t, (run->options->sums_by ? 1 : STEPS_EACH) * budget_steps_of_block(got, b))) {
			ret = -E2BIG;
			continue;
		}
		if (got < 0 || !event_is_declared(run->a->model, b->event)) {
			run->a->bad_blocks++;
			continue;
		}
		if (b->event < run->a->model->nr_events && run->a->model->event[b->event].is_switch)
			continue;
		ret = pass_attribute_block(run, b);
		trace_get_progress(t, &at, &total);
		if (run->options->progress)
			run->options->progress(run->options->progress_context, at, total);
	}
	sample_stream_close(s);
	return ret ? ret : pass_end(run);
}

/* Labels that were made when functions were found lack numbers of functions of one name, since those grow until the end. */
static void make_last_labels(struct attribution *a)
{
	for (uint32_t i = 0; i < a->nr_functions; i++)
		if (a->function[i].nr_same)
			attribution_make_label(a, &a->function[i]);
}

int attribute_trace(struct trace_reader *t, struct model *m, const struct attribute_options *o, struct attribution **out, struct diag *d)
{
	struct attribution *a = calloc(1, sizeof(*a));
	struct pass run;
	int ret;

	if (!a)
		return diag_fail(d, ENOMEM, "out of memory for samples");
	a->model = m;
	ret = pass_init(&run, a, o, t, d);
	if (ret == 0) {
		if (o->each)
			sample_lines_begin(&run.lines);
		ret = attribute_all_samples(&run, t);
		if (ret && trace_check_budget(t, d) == 0)
			diag_fail(d, -ret, "%s for the samples of this trace", ret == -ENOMEM ? "out of memory" : strerror(-ret));
	}
	pass_fini(&run);
	if (ret) {
		attribution_destroy(a);
		return ret;
	}
	make_last_labels(a);
	*out = a;
	return 0;
}

static uint64_t time_of_block_sample(const struct sample_block *b, uint32_t i)
{
	return b->column[SAMPLE_COLUMN_TIME] ? b->column[SAMPLE_COLUMN_TIME][i] : 0;
}

static bool is_of_code(const struct model *m, const struct sample_block *b)
{
	return b->event >= m->nr_events || !m->event[b->event].is_switch;
}

uint64_t attribute_first_sample_ns(struct trace_reader *t, const struct model *m)
{
	struct sample_block b = { .unwanted = { { ~(1ull << SAMPLE_COLUMN_TIME), UINT64_MAX } } };
	struct trace_record r;
	uint64_t first = UINT64_MAX;

	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	while (trace_next(t, &r) == 1)
		if (r.id == TRACE_SAMPLES && sample_block_decode(&r, &b) == 0 && is_of_code(m, &b))
			for (uint32_t i = 0; i < b.nr; i++)
				first = time_of_block_sample(&b, i) < first ? time_of_block_sample(&b, i) : first;
	sample_block_fini(&b);
	trace_select_chunks(t, ~0u);
	return first == UINT64_MAX ? 0 : first;
}

uint32_t attribute_first_event(struct trace_reader *t, const struct model *m)
{
	uint32_t first = 0, nr = 0, found = UINT32_MAX;
	struct trace_record r;

	for (uint32_t i = m->nr_events; i > 0; i--)
		if (!m->event[i - 1].is_switch) {
			first = i - 1;
			nr++;
		}
	if (nr < 2)
		return first;
	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	while (found != first && trace_next(t, &r) == 1) {
		uint64_t event = r.id == TRACE_SAMPLES && trace_u64(&r, F(samples, nr)) ? trace_u64(&r, F(samples, event)) : UINT64_MAX;

		if (event < m->nr_events && !m->event[event].is_switch && event < found)
			found = (uint32_t)event;
	}
	trace_select_chunks(t, ~0u);
	return found == UINT32_MAX ? first : found;
}

uint32_t attribution_of_frame(const struct attribution *a, uint32_t node, enum table_column column)
{
	const struct stack_node *n = &a->stacks.node[node];

	if (n->flags & STACK_CUT)
		return 0;
	switch (column) {
	case TABLE_FUNCTION:
		return n->function;
	case TABLE_LINE:
		return n->line;
	case TABLE_IMAGE:
		return a->function[n->function].image;
	default:
		return stacks_component((struct stacks *)(uintptr_t)&a->stacks, &a->model->dictionary, node, column - TABLE_LEVEL_0);
	}
}

#define BLOCKS_ASKED 2 /* sample blocks that are searched for stacks, because the first may be of an event without them */

bool attribute_has_stacks(struct trace_reader *t, const struct model *m)
{
	struct sample_block b = { .unwanted = { { ~0ull, ~0ull } } };
	struct trace_record r;
	bool has = false;

	for (uint32_t i = 0; i < m->nr_events; i++)
		if (m->event[i].stack_bytes)
			return true;
	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	for (int i = 0; i < BLOCKS_ASKED && !has && trace_next(t, &r) == 1;)
		if (r.id == TRACE_SAMPLES && sample_block_decode(&r, &b) == 0) {
			has = b.has_stacks || (b.chain_offset && b.chain_offset[b.nr]);
			i++;
		}
	sample_block_fini(&b);
	trace_select_chunks(t, ~0u);
	return has;
}

void attribution_fini(struct attribution *a)
{
	for (uint32_t i = 0; i < a->nr_functions; i++) {
		free(a->function[i].name);
		free(a->function[i].mangled);
		free(a->function[i].label);
	}
	for (uint32_t i = 0; i < a->nr_lines; i++)
		free(a->line[i].file);
	for (uint32_t i = 0; i < a->nr_images; i++)
		free(a->image[i].path);
	stacks_fini(&a->stacks);
	free(a->function);
	free(a->line);
	free(a->image);
}

void attribution_destroy(struct attribution *a)
{
	attribution_fini(a);
	free(a);
}
