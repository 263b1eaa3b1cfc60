/* SPDX-License-Identifier: MIT */
/*
 * Shows the view cpi: the basic blocks of the hottest functions, each with its executions, the cost of one execution, and the cycles per
 * instruction (J. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6). Executions are the host's
 * counts, and the count of one block holds for all blocks of its class. Without counts they are estimated from samples of retired
 * instructions.
 */
#include "analyzer/listing/stalls.h"
#include "analyzer/listing/event_columns.h"

#include <stdlib.h>
#include <string.h>

static void prepare_cpi_view(struct report *r, struct view_instance *v)
{
	v->group[0] = hits_ask_group(r, 0);
}

struct cpi_columns {
	int function, offset, nr, class, executions, state, low, high, per, cpi;
	struct event_columns events;
};

static void add_cpi_columns(struct grid *g, struct cpi_columns *c, const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX])
{
	bool is_time = report_weighs(r) == WEIGHT_NS;
	char heading[48];

	c->events = event_columns_add(g, r, total, 0);
	c->function = grid_column(g, "function", "", CELL_TEXT, GRID_HIDDEN, 0);
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
	c->cpi = grid_column(g, "per_instruction", report_weighs(r) == WEIGHT_CYCLES ? "CPI" : heading,
			     is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
}

static void add_block_row(struct grid *g, const struct cpi_columns *c, const struct report *r, const struct hot *h, const struct graph *f,
			  const struct block *b)
{
	const struct group_sum *sum = &b->sum[r->event];
	const struct group_sum *sums[VIEW_EVENTS_MAX];
	struct block_frequency n;

	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		sums[e] = &b->sum[e];
	grid_row(g);
	event_columns_set(g, &c->events, r, sums);
	grid_set_text(g, c->function, h->name);
	grid_set_address(g, c->offset, f->step[b->first].address - h->place.start);
	grid_set(g, c->nr, b->nr);
	if (!f->is_indirect)
		grid_set(g, c->class, b->class + 1);
	if (!block_executions(f, b, &n))
		return;
	if (n.low < n.executions) {
		grid_set(g, c->low, n.low);
		grid_set(g, c->high, n.high);
	}
	grid_set_text(g, c->state, n.state);
	grid_set(g, c->executions, n.executions);
	if (n.executions > 0) {
		grid_set(g, c->per, sum->weight / n.executions);
		grid_set(g, c->cpi, sum->weight / n.executions / b->nr);
	}
}

static void show_cpi_of_function(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				 const struct hit *hit, struct page *p)
{
	char title[400];
	struct grid *g = grid_create("cpi", "%s: %.0f samples", (hot_title(h, title, sizeof(title)), title), h->samples);
	struct block_stalls *stalls = NULL;
	struct graph f;
	struct cpi_columns c;
	int nr_steps;
	struct step *steps = disassemble_hot_function(h, hit, &nr_steps);

	add_cpi_columns(g, &c, r, total);
	grid_show_all_rows(g);
	if (graph_make_of_function(r, h, steps, nr_steps, &f))
		for (uint32_t i = 0; i < f.nr_blocks; i++)
			add_block_row(g, &c, r, h, &f, &f.block[i]);
	grid_show(g, p);
	if (stalls_are_measured(r) && f.nr_classes)
		stalls = stalls_of_blocks(r, total, h, &f);
	if (stalls)
		stalls_show_blocks(h, &f, stalls, p);
	free(stalls);
	if (f.is_indirect)
		page_sentence(p, "(no classes: %s has a jump to an address in a register or table)", h->name);
	graph_fini(&f);
	free(steps);
}

/* Return whether counts of executions come from lines of the host's texts. They are exact for lines, but the code generator decides which
 * machine code a line becomes. */
static bool host_counts_lines(const struct report *r, const struct frequencies *counts)
{
	return counts && counts->nr_known > counts->nr_at && r->model->sources.nr;
}

static void print_missing_cpi_data(struct report *r, struct page *p)
{
	const struct frequencies *counts = frequencies_of_report(r);

	if (!r->model->event[r->event].precise)
		page_sentence(p, "(%s is not precise: its samples are some instructions late, so blocks have sums and instructions have "
			      "none; a block after a slow one may have some of its samples)", r->model->event[r->event].name ?
			      r->model->event[r->event].name : "the event");
	stalls_print_simulator(r, p);
	if (host_counts_lines(r, counts))
		page_sentence(p, "(executions are those of the lines that a block is of; where the code generator split a line's "
			      "condition, some of its blocks run less often)");
	if ((!counts || !counts->nr_known) && event_of_unit(r, WEIGHT_INSTRUCTIONS) == VIEW_EVENTS_MAX)
		page_sentence(p, "(no executions: the host does not count, and the trace has no event 'instructions'; run -e "
			      "cycles,instructions)");
}

static void show_cpi_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct report_group *by = v->group[0];
	double all = 0;
	uint32_t nr_hits;
	struct hit *hit = hits_make_all(r, by, &nr_hits, &all);
	struct group_sum total[VIEW_EVENTS_MAX];
	struct hot *hot = NULL;
	uint32_t nr = nr_hits ? hot_find(r, hit, nr_hits, &hot) : 0, shown = hot_count_shown(hot, nr, all, p);

	event_columns_total(by, HITS_EVENT, total);
	hot_read_code_bytes(r, hot, shown);
	for (uint32_t i = 0; i < shown; i++) {
		if (hot[i].place.bytes)
			show_cpi_of_function(r, total, &hot[i], hit, p);
		else
			page_sentence(p, "The trace has no code bytes of %s.", hot[i].name);
		free(hot[i].place.bytes);
	}
	if (nr > shown)
		page_sentence(p, "(%u colder functions omitted; --top 0 shows more)", nr - shown);
	if (shown)
		print_missing_cpi_data(r, p);
	else
		page_sentence(p, "No blocks: no code that the trace has the bytes of has samples.");
	free(hit);
	free(hot);
}

const struct view view_cpi = { "cpi", "basic blocks of functions with samples: executions, cost of one, cycles per instruction",
			       prepare_cpi_view, show_cpi_view };
