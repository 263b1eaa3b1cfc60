/* SPDX-License-Identifier: MIT */
/*
 * cpi: the basic blocks of the hottest generated functions: how often each ran, what one execution took, and the cycles per instruction
 * (J. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6).  Executions are the host's counts,
 * for all blocks of a class that one of its blocks has; else they are estimated from samples of retired instructions.
 */
#include "analyzer/flow/classes.h"
#include "analyzer/listing/disassembly.h"
#include "analyzer/listing/event_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PART 0.01 /* of all: colder functions are left out, unless --top 0 */

static void prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = report_group(r, 0, TABLE_CODE, GROUP_IP_HIGH, GROUP_IP_LOW, TABLE_EVENT, -1);
}

struct block {
	int first, nr; /* steps */
	uint32_t class;
	struct group_sum sum[VIEW_EVENTS_MAX];
	struct frequency executions; /* FLOW_UNKNOWN: the host does not count them */
};

/* Of a class: what the host counts, or else what samples say. */
struct frequency_class {
	uint64_t count;
	enum flow_state state;
	double steps;		       /* instructions of its blocks, all together */
	struct group_sum instructions; /* samples of them */
};

struct graph {
	const struct step *step;
	int nr_steps;
	struct block *block;
	uint32_t nr_blocks;
	struct frequency_class *class;
	uint32_t nr_classes;
	bool is_indirect; /* a jump leads where its register says: classes are not known */
};

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

static uint32_t block_at(const struct graph *f, int step)
{
	uint32_t low = 0, high = f->nr_blocks;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (f->block[middle].first <= step)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* What nothing leads to is entered from outside: the function's begin, handlers, and what follows padding. */
static bool find_classes(struct graph *f)
{
	struct class_arc *arc = calloc(4 * (size_t)f->nr_blocks + 1, sizeof(*arc));
	uint32_t *class_of = calloc((size_t)f->nr_blocks + 1, sizeof(*class_of)), nr = 0;
	bool *reached = calloc((size_t)f->nr_blocks + 1, sizeof(*reached));

	for (uint32_t b = 0; arc && class_of && reached && b < f->nr_blocks; b++) {
		const struct step *last = &f->step[f->block[b].first + f->block[b].nr - 1];
		bool falls = last->insn.kind != INSN_JUMP && last->insn.kind != INSN_RETURN;

		if (ends_block(last) && last->to >= 0)
			arc[nr++] = (struct class_arc){ b, block_at(f, last->to) };
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
		f->nr_classes = f->is_indirect ? f->nr_blocks : flow_classes(arc, nr, f->nr_blocks, class_of);
	for (uint32_t b = 0; f->nr_classes && b < f->nr_blocks; b++)
		f->block[b].class = f->is_indirect ? b : class_of[b];
	free(arc);
	free(class_of);
	free(reached);
	f->class = calloc((size_t)f->nr_classes + 1, sizeof(*f->class));
	return f->nr_classes && f->class;
}

/* What most of a block's instructions say: an optimizer moves some of them to other blocks, whose count they keep. */
static void count_block(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct graph *f,
			struct block *b)
{
	struct frequency said;
	int votes = 0;

	for (int i = b->first; i < b->first + b->nr; i++) { /* (R. Boyer and J. Moore, MJRTY, 1981: the majority, if there is one) */
		if (!step_executions(r, counts, h, &f->step[i], &said))
			continue;
		if (votes == 0)
			b->executions = said;
		votes += said.count == b->executions.count ? 1 : -1;
	}
}

static uint32_t event_named(const struct report *r, const char *name)
{
	for (uint32_t e = 0; e < r->model->nr_events && e < VIEW_EVENTS_MAX; e++)
		if (r->model->event[e].name && strcmp(r->model->event[e].unit, name) == 0)
			return e;
	return VIEW_EVENTS_MAX;
}

static void count_classes(const struct report *r, const struct frequencies *counts, const struct hot *h, struct graph *f)
{
	const uint32_t retired = event_named(r, "instructions");

	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		struct block *b = &f->block[i];
		struct frequency_class *c = &f->class[b->class];

		count_block(r, counts, h, f, b);
		if (b->executions.state && (!c->state || b->executions.state < c->state)) {
			c->count = b->executions.count;
			c->state = b->executions.state;
		}
		c->steps += b->nr;
		if (retired < VIEW_EVENTS_MAX)
			group_sum_add(&c->instructions, &b->sum[retired]);
	}
}

struct columns {
	int offset, nr, class, executions, state, low, high, per, cpi;
	struct event_columns events;
};

static void add_columns(struct grid *g, struct columns *c, const struct report *r, const struct report_group *by)
{
	bool is_time = strcmp(report_unit(r), "ns") == 0;
	struct group_sum total[VIEW_EVENTS_MAX];
	char heading[48];

	event_columns_total(by, 3, total);
	c->events = event_columns_add(g, r, total, 0);
	c->offset = grid_column(g, "offset", "block", CELL_HEX, 0, 0);
	c->nr = grid_column(g, "instructions", "insns", CELL_COUNT, 0, 0);
	c->class = grid_column(g, "class", "class", CELL_COUNT, 0, 0);
	c->executions = grid_column(g, "executions", "executions", CELL_NUMBER, 0, 0);
	c->state = grid_column(g, "executions_state", "by", CELL_TEXT, 0, 9);
	c->low = grid_column(g, "executions_low", "", CELL_NUMBER, GRID_HIDDEN, 0);
	c->high = grid_column(g, "executions_high", "", CELL_NUMBER, GRID_HIDDEN, 0);
	snprintf(heading, sizeof(heading), "%.16s/exec", is_time ? "time" : report_unit(r));
	c->per = grid_column(g, "per_execution", heading, is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
	snprintf(heading, sizeof(heading), "%.16s/insn", is_time ? "time" : report_unit(r));
	c->cpi = grid_column(g, "per_instruction", strcmp(report_unit(r), "cycles") == 0 ? "CPI" : heading,
			     is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
}

#define CERTAIN 1.96 /* standard errors of 95 % */

/* Of a class without counts: its retired instructions by how many it has.  Poisson: a sample is as likely as any other. */
static void estimate(struct frequency_class *c, double *executions, double *low, double *high)
{
	double error = c->instructions.weight > 0 ? CERTAIN * sqrt(c->instructions.weight_squares) / c->instructions.weight : 1;

	*executions = c->instructions.weight / c->steps;
	*low = *executions * fmax(1 - error, 0);
	*high = *executions * (1 + error);
}

static void add_block(struct grid *g, const struct columns *c, const struct report *r, const struct hot *h, const struct graph *f,
		      const struct block *b)
{
	struct frequency_class *class = &f->class[b->class];
	const struct group_sum *sum = &b->sum[r->event];
	const struct group_sum *sums[VIEW_EVENTS_MAX];
	double executions = 0, low, high;

	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		sums[e] = &b->sum[e];
	grid_row(g);
	event_columns_set(g, &c->events, r, sums);
	grid_set_address(g, c->offset, f->step[b->first].address - h->place.start);
	grid_set(g, c->nr, b->nr);
	if (!f->is_indirect)
		grid_set(g, c->class, b->class + 1);
	if (class->state) {
		executions = (double)class->count;
		grid_set_text(g, c->state, frequency_state_name(class->state));
	} else if (class->instructions.samples > 0) {
		estimate(class, &executions, &low, &high);
		grid_set(g, c->low, low);
		grid_set(g, c->high, high);
		grid_set_text(g, c->state, "sampled");
	} else {
		return;
	}
	grid_set(g, c->executions, executions);
	if (executions > 0) {
		grid_set(g, c->per, sum->weight / executions);
		grid_set(g, c->cpi, sum->weight / executions / b->nr);
	}
}

static void show_function(struct report *r, const struct report_group *by, const struct hot *h, const struct hit *hit, struct page *p)
{
	char title[400];
	struct grid *g = grid_create("cpi", "%s: %.0f samples", (hot_title(h, title, sizeof(title)), title), h->samples);
	struct graph f = { 0 };
	struct step *steps = disassemble(h, hit, &f.nr_steps);
	struct columns c;

	f.step = steps;
	add_columns(g, &c, r, by);
	grid_show_all_rows(g);
	if (steps && f.nr_steps && find_blocks(&f) && find_classes(&f)) {
		count_classes(r, frequencies_of(r), h, &f);
		for (uint32_t i = 0; i < f.nr_blocks; i++)
			add_block(g, &c, r, h, &f, &f.block[i]);
	}
	grid_show(g, p);
	if (f.is_indirect)
		page_sentence(p, "(no classes: %s has a jump to an address in a register or table)", h->name);
	free(steps);
	free(f.block);
	free(f.class);
}

/* Counts of lines are exact; which machine code a line became is the code generator's. */
static bool counts_lines(const struct report *r, const struct frequencies *counts)
{
	return counts && counts->nr_known > counts->nr_at && r->model->nr_sources;
}

static void say_what_is_missing(struct report *r, struct page *p)
{
	const struct frequencies *counts = frequencies_of(r);

	if (!r->model->event[r->event].precise)
		page_sentence(p, "(%s is not precise: its samples are some instructions late, so blocks have sums and instructions have "
			      "none; a block after a slow one may have some of its samples)", r->model->event[r->event].name ?
			      r->model->event[r->event].name : "the event");
	if (counts_lines(r, counts))
		page_sentence(p, "(executions are those of the lines that a block is of; where the code generator split a line's "
			      "condition, some of its blocks run less often)");
	if ((!counts || !counts->nr_known) && event_named(r, "instructions") == VIEW_EVENTS_MAX)
		page_sentence(p, "(no executions: the host does not count, and the trace has no event 'instructions'; run -e "
			      "cycles,instructions)");
}

static void show(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct report_group *by = v->group[0];
	double all = 0;
	uint32_t nr_hits, shown = 0;
	struct hit *hit = hits_make_all(r, by, &nr_hits, &all);
	struct hot *hot = NULL;
	uint32_t nr = nr_hits ? hot_find(r, hit, nr_hits, &hot) : 0;

	for (; shown < nr && shown < DISASSEMBLY_FUNCTIONS_MAX; shown++)
		if (p->form == PAGE_TEXT && p->top && shown && hot[shown].measure < SHOWN_PART * all)
			break;
	hot_read(r, hot, shown);
	for (uint32_t i = 0; i < shown; i++) {
		if (hot[i].place.bytes)
			show_function(r, by, &hot[i], hit, p);
		else
			page_sentence(p, "The trace has no code bytes of %s.", hot[i].name);
		free(hot[i].place.bytes);
	}
	if (nr > shown)
		page_sentence(p, "(%u colder functions omitted; --top 0 shows more)", nr - shown);
	if (shown)
		say_what_is_missing(r, p);
	else
		page_sentence(p, "No blocks: no code that the trace has the bytes of has samples.");
	free(hit);
	free(hot);
}

const struct view view_cpi = { "cpi", "basic blocks of functions with samples: executions, cost of one, cycles per instruction", prepare,
			       show };
