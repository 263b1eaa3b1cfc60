/* SPDX-License-Identifier: MIT */
/*
 * stalls: where the cycles of what passes the filters went (J. Anderson et al., SOSP 1997, figure 4): into execution without stalls,
 * into causes of stalls, each within bounds, into page faults and the kernel; and the functions that lost most.
 */
#include "analyzer/listing/stalls.h"
#include "analyzer/pictures/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_LEAST 0.1 /* ns a cycle takes, of a fault's costs: at 10 GHz */
#define CLOCK_MOST 1.0	/* at 1 GHz */

static void prepare(struct report *r, struct view_instance *v)
{
	v->group[0] = hits_ask(r, 0);
	v->group[1] = report_group(r, 0, TABLE_MODE, TABLE_EVENT, -1);
}

struct summary {
	double all, user, kernel; /* of the event */
	double known, floor; /* cycles of the blocks that are known, and what they take without any stall */
	struct stall_bounds bounds;
	struct group_sum total[VIEW_EVENTS_MAX];
};

struct lost { /* by one function */
	const struct hot *hot;
	double cycles, floor;
	struct stall_bounds bounds;
	bool named; /* a block of it has causes worth a name */
};

static void add_modes(const struct report *r, const struct report_group *by, struct summary *s)
{
	for (uint32_t i = 0; i < by->g.nr; i++) {
		const uint32_t event = report_value(by, i, 1);

		if (event < VIEW_EVENTS_MAX)
			group_sum_add(&s->total[event], &by->g.sum[i]);
		if (event != r->event)
			continue;
		s->all += by->g.sum[i].weight;
		if (report_value(by, i, 0) == TABLE_MODE_KERNEL)
			s->kernel += by->g.sum[i].weight;
	}
	s->user = s->all - s->kernel;
}

/* The kernel's time is that of page faults within bounds, and the rest. */
static void add_kernel(const struct report *r, struct summary *s)
{
	const bool is_time = strcmp(report_unit(r), "ns") == 0;
	double low = 0, high = s->kernel;

	for (uint32_t i = 0; i < r->model->nr_events && i < VIEW_EVENTS_MAX; i++) {
		const struct group_sum *t = &s->total[i];
		const struct event *e = &r->model->event[i];
		struct stall_count c;

		if (stall_event_of(e->name) != STALL_FAULT)
			continue;
		c = stall_count_of(t->weight, t->samples, t->weight_squares, e->period ? (double)e->period : 1);
		low = c.low * COST_FAULT_LEAST * (is_time ? CLOCK_LEAST : 1);
		high = c.high * COST_FAULT_MOST * (is_time ? CLOCK_MOST : 1);
		break;
	}
	s->bounds.high[CULPRIT_PAGE_FAULT] = fmin(high, s->kernel);
	s->bounds.low[CULPRIT_PAGE_FAULT] = fmin(low, s->bounds.high[CULPRIT_PAGE_FAULT]);
	s->bounds.high[CULPRIT_KERNEL] = s->kernel - s->bounds.low[CULPRIT_PAGE_FAULT];
	s->bounds.low[CULPRIT_KERNEL] = s->kernel - s->bounds.high[CULPRIT_PAGE_FAULT];
	s->bounds.stall += s->kernel;
}

static void add_function(struct report *r, const struct hot *h, const struct hit *hit, struct summary *s, struct lost *out)
{
	enum culprit order[NR_CULPRITS];
	struct block_stalls *b;
	struct graph f;
	int nr_steps;
	struct step *steps = disassemble(h, hit, &nr_steps);

	*out = (struct lost){ .hot = h };
	b = graph_make(r, h, steps, nr_steps, &f) ? stalls_of(r, s->total, h, &f) : NULL;
	for (uint32_t i = 0; b && i < f.nr_blocks; i++) {
		if (!b[i].known)
			continue;
		out->named |= stalls_rank(&b[i], order) > 0;
		out->cycles += b[i].cycles;
		out->floor += fmin(b[i].floor, b[i].cycles);
		culprits_add(&out->bounds, &b[i].bounds);
	}
	s->known += out->cycles;
	s->floor += out->floor;
	culprits_add(&s->bounds, &out->bounds);
	free(b);
	graph_fini(&f);
	free(steps);
}

struct row_columns {
	int low, high, key, cause, by;
};

static void add_row(struct grid *g, const struct row_columns *c, double low, double high, double all, const char *key, const char *text,
		    const char *by, struct bounds_row *picture, int *nr)
{
	grid_row(g);
	grid_set(g, c->low, low / all);
	grid_set(g, c->high, high / all);
	grid_set_text(g, c->key, key);
	grid_set_text(g, c->cause, text);
	grid_set_text(g, c->by, by);
	picture[(*nr)++] = (struct bounds_row){ text, low / all, high / all };
}

#define FIXED_ROWS 3

static void show_summary(struct report *r, const struct summary *s, struct page *p)
{
	struct grid *g = grid_create("summary", "Where the %s went", strcmp(report_unit(r), "ns") == 0 ? "time" : report_unit(r));
	struct row_columns c = { grid_column(g, "at_least", "at least", CELL_PERCENT, 0, 0),
				 grid_column(g, "at_most", "at most", CELL_PERCENT, 0, 0),
				 grid_column(g, "cause_key", "", CELL_TEXT, GRID_HIDDEN, 0),
				 grid_column(g, "cause", "cause", CELL_TEXT, 0, 30),
				 grid_column(g, "known_by", "known by", CELL_TEXT, 0, 0) };
	struct bounds_row picture[NR_CULPRITS + FIXED_ROWS];
	enum culprit order[NR_CULPRITS];
	int nr = 0, nr_causes = 0;

	for (int n = 0; n < NR_CULPRITS; n++) { /* all that there is, the likeliest first */
		int at = nr_causes;

		if (s->bounds.high[n] < 0.0005 * s->all)
			continue;
		for (; at > 0 && s->bounds.low[order[at - 1]] + s->bounds.high[order[at - 1]] < s->bounds.low[n] + s->bounds.high[n]; at--)
			order[at] = order[at - 1];
		order[at] = (enum culprit)n;
		nr_causes++;
	}
	grid_show_all_rows(g);
	if (s->known > 0)
		add_row(g, &c, s->floor, s->floor, s->all, "execution", "execution", "instructions", picture, &nr);
	for (int n = 0; n < nr_causes; n++)
		add_row(g, &c, s->bounds.low[order[n]], s->bounds.high[order[n]], s->all, culprit_key(order[n]), culprit_name(order[n]),
			stalls_known_by(r, s->total, order[n]), picture, &nr);
	if (s->bounds.unexplained > 0.0005 * s->all)
		add_row(g, &c, s->bounds.unexplained, s->bounds.unexplained, s->all, "unexplained", "unexplained", "", picture, &nr);
	if (s->user - s->known > 0.0005 * s->all)
		add_row(g, &c, s->user - s->known, s->user - s->known, s->all, "not_analyzed", "not analyzed", "", picture, &nr);
	grid_show(g, p);
	if (r->svg)
		bounds_svg(strcmp(report_unit(r), "ns") == 0 ? "Where the time went" : "Where the cycles went", picture, nr, r->svg);
}

static int by_loss(const void *a, const void *b)
{
	const struct lost *x = a, *y = b;

	if (x->bounds.stall < y->bounds.stall || x->bounds.stall > y->bounds.stall)
		return x->bounds.stall > y->bounds.stall ? -1 : 1;
	return x->hot < y->hot ? -1 : x->hot > y->hot;
}

static const char *name_causes(const struct lost *l, char *text, size_t bytes)
{
	enum culprit order[NR_CULPRITS];
	int nr = l->named ? culprits_rank(&l->bounds, l->cycles, order) : 0;
	size_t at = 0;

	*text = 0;
	for (int n = 0; n < nr && n < 2; n++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%s %.0f-%.0f %%", n ? ", " : "", culprit_name(order[n]),
				       100 * l->bounds.low[order[n]] / l->cycles, 100 * l->bounds.high[order[n]] / l->cycles);
	return text;
}

static void show_functions(const struct report *r, struct lost *lost, uint32_t nr, const struct summary *s, struct page *p)
{
	struct grid *g = grid_create("functions", "Functions by stalled %s", report_unit(r));
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), stalled = grid_column(g, "stalled", "stalled", CELL_PERCENT, 0, 0);
	int name = grid_column(g, "name", "function", CELL_TEXT, 0, 26), image = grid_column(g, "image", "", CELL_TEXT, GRID_HIDDEN, 0);
	int causes = grid_column(g, "causes", "causes, of the function", CELL_TEXT, 0, 0);
	char text[160];
	bool any = false;

	grid_set_total(g, share, s->all);
	grid_is_tree(g, share);
	if (nr)
		qsort(lost, nr, sizeof(*lost), by_loss);
	for (uint32_t i = 0; i < nr; i++) {
		if (lost[i].cycles <= 0)
			continue;
		any = true;
		grid_row(g);
		grid_set(g, share, lost[i].cycles);
		grid_set(g, stalled, lost[i].bounds.stall / lost[i].cycles);
		grid_set_text(g, name, lost[i].hot->name);
		grid_set_text(g, image, lost[i].hot->image ? lost[i].hot->image : "");
		grid_set_text(g, causes, name_causes(&lost[i], text, sizeof(text)));
	}
	if (any)
		grid_show(g, p);
	else
		grid_discard(g);
}

static void say_what_is_missing(struct report *r, const struct summary *s, struct page *p)
{
	bool faults = false;

	for (uint32_t i = 0; i < r->model->nr_events; i++)
		faults |= stall_event_of(r->model->event[i].name) == STALL_FAULT;
	if (!stalls_are_measured(r))
		page_sentence(p, "(user code is not analyzed: that needs cycles and instructions; run -e cycles,instructions,cache-misses,"
			      "branch-misses,dTLB-load-misses, on a machine that has them)");
	else if (s->known <= 0)
		page_sentence(p, "(no block is analyzed: its executions are not known; run -e cycles,instructions)");
	else if (s->user - s->known > 0.0005 * s->all)
		page_sentence(p, "(not analyzed: code without bytes in the trace, blocks without samples of instructions, functions beyond "
			      "the %d hottest)", DISASSEMBLY_FUNCTIONS_MAX);
	if (!faults && s->kernel > 0)
		page_sentence(p, "(page faults were not recorded: -e ...,page-faults tells them from the kernel's other work)");
	stalls_say_by_what(r, p);
}

static void show(struct report *r, const struct view_instance *v, struct page *p)
{
	struct summary s = { 0 };
	double all = 0;
	uint32_t nr_hits, nr = 0;
	struct hit *hit = hits_make_all(r, v->group[0], &nr_hits, &all);
	struct hot *hot = NULL;
	struct lost *lost;

	add_modes(r, v->group[1], &s);
	if (nr_hits && stalls_are_measured(r))
		nr = hot_find(r, hit, nr_hits, &hot);
	nr = nr < DISASSEMBLY_FUNCTIONS_MAX ? nr : DISASSEMBLY_FUNCTIONS_MAX;
	lost = calloc((size_t)nr + 1, sizeof(*lost));
	hot_read(r, hot, nr);
	for (uint32_t i = 0; i < nr && lost; i++) {
		if (hot[i].place.bytes && hot[i].measure > 0)
			add_function(r, &hot[i], hit, &s, &lost[i]);
		free(hot[i].place.bytes);
	}
	add_kernel(r, &s);
	if (s.all > 0) {
		show_summary(r, &s, p);
		show_functions(r, lost, lost ? nr : 0, &s, p);
		say_what_is_missing(r, &s, p);
	} else {
		page_sentence(p, "No samples.");
	}
	free(lost);
	free(hit);
	free(hot);
}

const struct view view_stalls = { "stalls", "where the cycles went: execution, causes of stalls within bounds, page faults, kernel",
				  prepare, show };
