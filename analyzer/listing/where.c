/* SPDX-License-Identifier: MIT */
/*
 * Shows the view stalls: where the cycles of the samples that pass the filters went (J. Anderson et al., Continuous Profiling: Where Have
 * All the Cycles Gone?, SOSP 1997, figure 4). They went into execution without stalls, into causes of stalls, each within bounds, and into
 * page faults and the kernel. The components and functions that lost most follow.
 */
#include "analyzer/listing/losses.h"
#include "analyzer/pictures/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENTS_MAX 64 /* maximum number of components that are analyzed */

/* Return the level by whose components stalls are shown, or LEVELS_MAX if there is none. */
static uint32_t level_of_components(const struct report *r)
{
	return stalls_are_measured(r) ? report_find_level(r, r->level) : LEVELS_MAX;
}

static void prepare_stalls_view(struct report *r, struct view_instance *v)
{
	const uint32_t level = level_of_components(r);

	v->group[0] = level == LEVELS_MAX ? hits_ask_group(r, 0) : hits_ask_group_by_level(r, 0, level);
	v->group[1] = report_add_group(r, 0, TABLE_MODE, TABLE_EVENT, -1);
	v->group[2] = level == LEVELS_MAX ? NULL : report_add_group(r, 0, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
}

struct summary {
	double all, user, kernel; /* weights of the report's event: of all samples, and of those in user mode and in the kernel */
	double known, floor; /* known: cycles of the blocks that could be analyzed; floor: those without any stall, of the same blocks */
	struct stall_bounds bounds;
	struct group_sum total[VIEW_EVENTS_MAX];
};

static void add_mode_sums(const struct report *r, const struct report_group *by, struct summary *s)
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

static void add_kernel_bounds(const struct report *r, struct summary *s)
{
	struct stall_count faults = { 0 };

	for (uint32_t i = 0; i < r->model->nr_events && i < VIEW_EVENTS_MAX && !faults.recorded; i++) {
		const struct group_sum *t = &s->total[i];
		const struct model_event *e = &r->model->event[i];

		if (stall_event_of(e->name) == STALL_FAULT)
			faults = stall_count_bounds(t->weight, t->samples, t->weight_squares, e->period ? (double)e->period : 1);
	}
	culprits_bound_kernel(s->kernel, faults.recorded ? &faults : NULL, report_weighs(r) == WEIGHT_NS, &s->bounds);
}

struct row_columns {
	int low, high, key, cause, by;
};

static void add_cause_row(struct grid *g, const struct row_columns *c, double low, double high, double all, const char *key,
			  const char *text, const char *by, struct bounds_row *picture, int *nr)
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

static void show_stalls_summary(struct report *r, const struct summary *s, FILE *svg, struct page *p)
{
	struct grid *g = grid_create("summary", "Where the %s went", report_weighs(r) == WEIGHT_NS ? "time" : report_unit(r));
	struct row_columns c = { grid_column(g, "at_least", "at least", CELL_PERCENT, 0, 0),
				 grid_column(g, "at_most", "at most", CELL_PERCENT, 0, 0),
				 grid_column(g, "cause_key", "", CELL_TEXT, GRID_HIDDEN, 0),
				 grid_column(g, "cause", "cause", CELL_TEXT, 0, 30),
				 grid_column(g, "known_by", "known by", CELL_TEXT, 0, 0) };
	struct bounds_row picture[NR_CULPRITS + FIXED_ROWS];
	enum culprit order[NR_CULPRITS];
	int nr = 0, nr_causes = 0;

	for (int n = 0; n < NR_CULPRITS; n++) { /* causes that may explain 0.05 % or more, the likeliest first */
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
		add_cause_row(g, &c, s->floor, s->floor, s->all, "execution", "execution", "instructions", picture, &nr);
	for (int n = 0; n < nr_causes; n++)
		add_cause_row(g, &c, s->bounds.low[order[n]], s->bounds.high[order[n]], s->all, culprit_key(order[n]),
			      culprit_name(order[n]), stalls_name_of_evidence(r, s->total, order[n]), picture, &nr);
	if (s->bounds.unexplained > 0.0005 * s->all)
		add_cause_row(g, &c, s->bounds.unexplained, s->bounds.unexplained, s->all, "unexplained", "unexplained", "", picture, &nr);
	if (s->user - s->known > 0.0005 * s->all)
		add_cause_row(g, &c, s->user - s->known, s->user - s->known, s->all, "not_analyzed", "not analyzed", "", picture, &nr);
	grid_show(g, p);
	if (svg)
		bounds_svg(report_weighs(r) == WEIGHT_NS ? "Where the time went" : "Where the cycles went", picture, nr, svg);
}

/* A loser is a function or a component, and a row of a table. */
struct loser {
	const char *name, *image;
	double cycles; /* all its cycles, of which loss.cycles could be analyzed */
	struct loss loss;
};

static int compare_losses(const void *a, const void *b)
{
	const struct loser *x = a, *y = b;

	if (x->loss.bounds.stall < y->loss.bounds.stall || x->loss.bounds.stall > y->loss.bounds.stall)
		return x->loss.bounds.stall > y->loss.bounds.stall ? -1 : 1;
	if (x->cycles < y->cycles || x->cycles > y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void show_loss_rows(struct grid *g, const char *what, struct loser *l, uint32_t nr, const struct summary *s, bool in_part,
			   struct page *p)
{
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), stalled = grid_column(g, "stalled", "stalled", CELL_PERCENT, 0, 0);
	int analyzed = in_part ? grid_column(g, "analyzed", "analyzed", CELL_PERCENT, 0, 0) : -1;
	int name = grid_column(g, "name", what, CELL_TEXT, 0, 26);
	int image = in_part ? -1 : grid_column(g, "image", "", CELL_TEXT, GRID_HIDDEN, 0);
	int causes = grid_column(g, "causes", in_part ? "causes" : "causes, of the function", CELL_TEXT, 0, 0);
	char text[160];

	grid_set_total(g, share, s->all);
	grid_mark_tree_column(g, share);
	qsort(l, nr, sizeof(*l), compare_losses);
	for (uint32_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, share, l[i].cycles);
		if (l[i].loss.cycles > 0)
			grid_set(g, stalled, l[i].loss.bounds.stall / l[i].loss.cycles);
		else
			grid_set_blank(g, stalled);
		if (in_part)
			grid_set(g, analyzed, fmin(1, l[i].loss.cycles / l[i].cycles));
		else
			grid_set_text(g, image, l[i].image ? l[i].image : "");
		grid_set_text(g, name, l[i].name);
		grid_set_text(g, causes, loss_causes(&l[i].loss, text, sizeof(text)));
	}
	grid_show(g, p);
}

/* Show functions with the cycles of those of their blocks that could be analyzed. The cycles of other blocks are in no row. */
static void show_function_losses(const struct report *r, const struct losses *all, const struct summary *s, struct page *p)
{
	struct loser *l = calloc((size_t)all->nr + 1, sizeof(*l));
	uint32_t nr = 0;

	for (uint32_t i = 0; l && i < all->nr; i++)
		if (all->of[i].cycles > 0)
			l[nr++] = (struct loser){ all->hot[i].name, all->hot[i].image, all->of[i].cycles, all->of[i] };
	if (nr)
		show_loss_rows(grid_create("functions", "Functions by stalled %s", report_unit(r)), "function", l, nr, s, false, p);
	free(l);
}

static struct loss loss_of_component(struct report *r, const struct report_group *by_place, const struct split *by, uint32_t component)
{
	struct group_sum total[VIEW_EVENTS_MAX];
	struct losses l;
	struct loss sum;
	uint32_t nr;
	double all;
	struct hit *hit = hits_make_of_component(r, by_place, component, &nr, &all);

	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		total[e] = by->sum[e][component];
	losses_analyze_functions(r, total, hit, nr, &l);
	sum = l.sum;
	losses_fini(&l);
	free(hit);
	return sum;
}

/* Show components. The row of a component has the same numbers as the whole view has with --component of it. */
static void show_component_losses(struct report *r, const struct view_instance *v, const struct summary *s, struct page *p)
{
	const uint32_t level = level_of_components(r);
	char (*spare)[32] = calloc(COMPONENTS_MAX, sizeof(*spare));
	struct loser *l = calloc(COMPONENTS_MAX, sizeof(*l));
	struct split by = { 0 };
	bool any = false;
	uint32_t nr = 0;

	if (spare && l && split_make(r, v->group[2], &by))
		for (uint32_t i = 0; i < by.nr_order && nr < COMPONENTS_MAX; i++) {
			const uint32_t component = by.order[i];
			struct loser *row = &l[nr];

			row->cycles = by.sum[r->event][component].weight;
			if (row->cycles <= 0)
				continue;
			any |= component != COMPONENT_NONE;
			row->name = report_component_name(r, component, spare[nr++]);
			row->loss = loss_of_component(r, v->group[0], &by, component);
		}
	if (any)
		show_loss_rows(grid_create("components", "Stalled %s by %s", report_unit(r), report_level_name(r, level)),
			       report_level_name(r, level), l, nr, s, true, p);
	split_fini(&by);
	free(l);
	free(spare);
}

static void print_missing_stall_data(struct report *r, const struct summary *s, struct page *p)
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
	stalls_print_simulator(r, p);
}

static void show_stalls_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct summary s = { 0 };
	struct losses all;
	double measure;
	uint32_t nr;
	struct hit *hit = hits_make_all(r, v->group[0], &nr, &measure);

	add_mode_sums(r, v->group[1], &s);
	losses_analyze_functions(r, s.total, hit, nr, &all);
	s.known = all.sum.cycles;
	s.floor = all.sum.floor;
	s.bounds = all.sum.bounds;
	add_kernel_bounds(r, &s);
	if (s.all > 0) {
		show_stalls_summary(r, &s, v->options.svg, p);
		if (v->group[2])
			show_component_losses(r, v, &s, p);
		show_function_losses(r, &all, &s, p);
		print_missing_stall_data(r, &s, p);
	} else {
		page_sentence(p, "No samples.");
	}
	losses_fini(&all);
	free(hit);
}

const struct view view_stalls = { "stalls", "where the cycles went: execution, causes of stalls within bounds, page faults, kernel",
				  prepare_stalls_view, show_stalls_view };
