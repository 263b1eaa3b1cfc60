/* SPDX-License-Identifier: MIT */
#include "analyzer/view/view.h"

#include "analyzer/query/warnings.h"
#include "jitreg/base/hash_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void view_event_heading(const struct report *r, uint32_t event, char text[12])
{
	const char *name = r->model->event[event].name ? r->model->event[event].name : "?";

	snprintf(text, 12, strlen(name) > 8 ? "%.7s." : "%s", name);
}

struct by_sum {
	const struct report *r;
	const struct split *s;
};

static const struct group_sum *total_of_value(const struct split *s, uint32_t value)
{
	static const struct group_sum none;

	return value < s->totals.nr ? &s->totals.sum[value] : &none;
}

/* Compares by totals, then by the report's event, then by the other events, then by the values themselves, for a stable order. */
static int compare_split_sums(const void *a, const void *b, void *context)
{
	const struct by_sum *o = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double of_i = report_measure(o->r, total_of_value(o->s, i)), of_j = report_measure(o->r, total_of_value(o->s, j));

	if (of_i < of_j || of_i > of_j)
		return of_i > of_j ? -1 : 1;
	for (uint32_t n = 0; n < VIEW_EVENTS_MAX; n++) {
		uint32_t e = n == 0 ? o->r->event : n <= o->r->event ? n - 1 : n;
		double x = report_measure(o->r, &o->s->sum[e][i]), y = report_measure(o->r, &o->s->sum[e][j]);

		if (x < y || x > y)
			return x > y ? -1 : 1;
	}
	return i < j ? -1 : i > j;
}


static bool value_has_samples(const struct split *s, uint32_t value)
{
	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		if (s->sum[e][value].samples > 0)
			return true;
	return total_of_value(s, value)->samples > 0;
}

/*
 * This struct says how values are merged to rows. Each value has a row, or components with the same label in several processes have one
 * (same_value), or values with the same text do.
 */
struct merging {
	bool same_value;
	const char *(*text)(const struct report *r, uint32_t value);
	struct hash_map first; /* (hash of a text, 0) -> 1 + first value */
};

static uint32_t merged_value(struct merging *m, const struct report *r, const struct report_group *g, uint32_t value)
{
	uint64_t hash;
	uint32_t first;

	if (m->same_value)
		return report_same_value(r, g->g.key[0], value);
	if (!m->text)
		return value;
	hash = hash_text(m->text(r, value));
	first = hash_map_find(&m->first, hash, 0);
	if (first)
		return strcmp(m->text(r, first - 1), m->text(r, value)) == 0 ? first - 1 : value;
	hash_map_set(&m->first, hash, 0, value + 1); /* if memory runs out, the value has a row of its own */
	return value;
}

static bool make_split(const struct report *r, const struct report_group *g, const struct report_group *totals, struct merging *merging,
		       struct split *s)
{
	memset(s, 0, sizeof(*s));
	if (!totals_make(r, totals, &s->totals))
		return false;
	s->nr = s->totals.nr ? s->totals.nr : 1;
	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 0) >= s->nr)
			s->nr = report_value(g, i, 0) + 1;
	for (int e = 0; e < VIEW_EVENTS_MAX; e++) {
		s->sum[e] = calloc(s->nr, sizeof(*s->sum[e]));
		if (!s->sum[e])
			return false;
	}
	s->order = malloc(s->nr * sizeof(*s->order));
	if (!s->order)
		return false;
	for (uint32_t i = 0; i < g->g.nr; i++) {
		uint32_t e = g->g.nr_keys > 1 ? report_value(g, i, 1) : r->event, value = report_value(g, i, 0);

		if (e >= VIEW_EVENTS_MAX)
			continue;
		value = merged_value(merging, r, g, value);
		group_sum_add(&s->sum[e][value], &g->g.sum[i]);
		group_sum_add(&s->total[e], &g->g.sum[i]);
	}
	for (uint32_t v = 0; v < s->nr; v++) {
		if (value_has_samples(s, v))
			s->order[s->nr_order++] = v;
		s->totals_differ |= s->totals.nr && total_of_value(s, v)->samples > s->sum[r->event][v].samples + 0.01;
	}
	qsort_r(s->order, s->nr_order, sizeof(*s->order), compare_split_sums, &(struct by_sum){ r, s });
	return true;
}

bool split_make(const struct report *r, const struct report_group *g, struct split *s)
{
	return make_split(r, g, NULL, &(struct merging){ 0 }, s);
}

bool split_make_with_totals(const struct report *r, const struct report_group *g, const struct report_group *totals, struct split *s)
{
	return make_split(r, g, totals, &(struct merging){ .same_value = true }, s);
}

bool split_make_by_text(const struct report *r, const struct report_group *g, const char *(*text)(const struct report *r, uint32_t value),
			struct split *s)
{
	struct merging merging = { .text = text };
	bool made = make_split(r, g, NULL, &merging, s);

	hash_map_fini(&merging.first);
	return made;
}

void split_fini(struct split *s)
{
	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		free(s->sum[e]);
	totals_fini(&s->totals);
	free(s->order);
	memset(s, 0, sizeof(*s));
}

struct sum_columns sum_columns_add(struct grid *g, const struct report *r, const struct split *s)
{
	struct sum_columns c = { .total = -1, .total_samples = -1 };
	/* If no total differs from its value's own sum, text form hides the totals. */
	bool totals = s->totals.nr > 0, both = s->totals_differ;
	char heading[12];

	if (totals) {
		c.total = grid_column(g, "total", "total", CELL_SHARE, GRID_BAR | GRID_OVERLAP | (both ? 0 : GRID_HIDDEN), 0);
		grid_set_total(g, c.total, report_measure(r, &s->total[r->event]));
	}
	c.share = grid_column(g, "share", both ? "self" : "share", CELL_SHARE, both ? 0 : GRID_BAR, 0);
	if (both) /* self shares are at most the totals, and are rounded each by itself */
		grid_mark_tree_column(g, c.share);
	grid_set_total(g, c.share, report_measure(r, &s->total[r->event]));
	for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++) {
		c.event[e] = -1;
		if (e == r->event || e >= r->model->nr_events || s->total[e].samples <= 0)
			continue;
		view_event_heading(r, e, heading);
		c.event[e] = grid_column(g, r->model->event[e].name, heading, CELL_SHARE, 0, 0);
		grid_set_total(g, c.event[e], report_measure(r, &s->total[e]));
	}
	c.samples = grid_column(g, "samples", "samples", CELL_COUNT, totals ? GRID_REST : GRID_SAMPLES, 0);
	grid_set_total(g, c.samples, s->total[r->event].samples);
	if (totals) {
		c.total_samples = grid_column(g, "total_samples", "", CELL_COUNT, GRID_HIDDEN | GRID_SAMPLES, 0);
		grid_set_total(g, c.total_samples, s->total[r->event].samples);
	}
	c.kernel = grid_column(g, "kernel", "kernel", CELL_PERCENT, 0, 0);
	c.weight = grid_column(g, "weight", "weight", CELL_NUMBER, GRID_HIDDEN, 0);
	return c;
}

double view_effective_samples(const struct group_sum *part, const struct group_sum *all)
{
	double p, variance;

	if (all->weight <= 0 || all->weight_squares <= 0)
		return all->samples;
	p = part->weight / all->weight;
	variance = (1 - p) * (1 - p) * part->weight_squares + p * p * fmax(all->weight_squares - part->weight_squares, 0);
	if (part->weight <= 0 || p >= 1 || variance <= 0)
		return all->weight * all->weight / all->weight_squares;
	return p * (1 - p) * all->weight * all->weight / variance;
}

void sum_columns_set(struct grid *g, const struct sum_columns *c, const struct report *r, const struct split *s, uint32_t value)
{
	static const struct group_sum none;
	const struct group_sum *sum = value < s->nr ? &s->sum[r->event][value] : &none;

	if (c->total >= 0) {
		const struct group_sum *total = total_of_value(s, value);

		grid_set(g, c->total, report_measure(r, total));
		grid_set_evidence(g, c->total, view_effective_samples(total, &s->total[r->event]));
		grid_set(g, c->total_samples, total->samples);
	}
	grid_set(g, c->share, report_measure(r, sum));
	grid_set_evidence(g, c->share, view_effective_samples(sum, &s->total[r->event]));
	grid_set(g, c->samples, sum->samples);
	if (sum->samples > 0)
		grid_set(g, c->kernel, sum->kernel / sum->samples);
	grid_set(g, c->weight, sum->weight);
	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		if (c->event[e] >= 0) {
			sum = value < s->nr ? &s->sum[e][value] : &none;
			grid_set(g, c->event[e], report_measure(r, sum));
			grid_set_evidence(g, c->event[e], view_effective_samples(sum, &s->total[e]));
		}
}

struct ranking {
	const struct report *r;
	const struct split *s;
	const unsigned char *rank;
};

/* Compare values by rank, and those of rank 0 by their own samples. Others keep their order, which the index of each in `order` tells. */
static int compare_ranks(const void *a, const void *b, void *context)
{
	const struct ranking *k = context;
	const uint32_t i = k->s->order[*(const uint32_t *)a], j = k->s->order[*(const uint32_t *)b];
	const double x = report_measure(k->r, &k->s->sum[k->r->event][i]), y = report_measure(k->r, &k->s->sum[k->r->event][j]);

	if (k->rank[i] != k->rank[j])
		return k->rank[i] < k->rank[j] ? -1 : 1;
	if (!k->rank[i] && (x < y || x > y))
		return x > y ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void sort_by_rank(const struct report *r, struct split *s, const unsigned char *rank)
{
	uint32_t *place = malloc(((size_t)s->nr_order + 1) * sizeof(*place)), *sorted = malloc(((size_t)s->nr_order + 1) * sizeof(*sorted));

	for (uint32_t i = 0; place && i < s->nr_order; i++)
		place[i] = i;
	if (place && sorted) {
		qsort_r(place, s->nr_order, sizeof(*place), compare_ranks, &(struct ranking){ r, s, rank });
		for (uint32_t i = 0; i < s->nr_order; i++)
			sorted[i] = s->order[place[i]];
		memcpy(s->order, sorted, s->nr_order * sizeof(*sorted));
	}
	free(place);
	free(sorted);
}

void view_show_ranked_table(struct report *r, const struct report_group *group, const struct report_group *totals,
			    const unsigned char *rank, struct page *p, const char *name, const char *heading,
			    void (*columns)(struct grid *g, int column[VIEW_COLUMNS]),
			    void (*cells)(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t value))
{
	char truncated[TRUNCATED_TEXT];
	struct grid *g = grid_create(name, "%s%s", heading, view_truncated(r, totals, truncated));
	struct split s;

	if (split_make_with_totals(r, group, totals, &s)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		int column[VIEW_COLUMNS] = { 0 };

		if (rank && s.nr_order)
			sort_by_rank(r, &s, rank);
		columns(g, column);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			cells(r, g, column, s.order[i]);
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

void view_show_simple_table(struct report *r, const struct report_group *group, const struct report_group *totals, struct page *p,
			    const char *name, const char *heading,
			    void (*columns)(struct grid *g, int column[VIEW_COLUMNS]),
			    void (*cells)(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t value))
{
	view_show_ranked_table(r, group, totals, NULL, p, name, heading, columns, cells);
}

void view_ask_for_hottest_text(struct report *r, const struct report_group *by_line)
{
	uint32_t *order = report_order(r, by_line), line;
	size_t bytes;

	for (uint32_t i = 0; order && i < by_line->g.nr; i++) {
		line = report_value(by_line, order[i], 0);
		if (line && report_value(by_line, order[i], 1) == r->event) {
			source_text_of_line(r, line, &bytes);
			break;
		}
	}
	free(order);
}

void view_say_source_texts(struct report *r, struct page *p)
{
	char text[512];

	while (source_text_say(r, text))
		page_sentence(p, "%s", text);
}

#define TRUNCATED_WORTH 0.02 /* share of truncated stacks from which on headings mention it */

const char *view_truncated(const struct report *r, const struct report_group *totals, char text[TRUNCATED_TEXT])
{
	const double share = totals_truncated_share(r, totals);

	*text = 0;
	if (share > TRUNCATED_WORTH)
		snprintf(text, TRUNCATED_TEXT, ", %.1f %% of the stacks truncated", grid_percent(share));
	return text;
}

#define BRIEF_BYTES 2048
#define BRIEF_OWN 0.001 /* share below which a value counts as without samples of its own (view_brief.is_dull) */

static bool has_nothing_own(const struct report *r, const struct split *s, uint32_t value)
{
	return report_measure(r, &s->sum[r->event][value]) < BRIEF_OWN * report_measure(r, &s->total[r->event]);
}

static bool brief_has_line(const struct report *r, const struct split *s, const struct view_brief *b, uint32_t value)
{
	if (value < b->first || (b->part && b->part[value] != b->wanted))
		return false;
	return !b->is_dull || !has_nothing_own(r, s, value) || !b->is_dull(r, value);
}

void view_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, const struct view_brief *b,
		     struct page *p)
{
	char truncated[TRUNCATED_TEXT];
	struct split s;
	bool made = split_make_with_totals(r, group, totals, &s), both = s.totals_differ;
	struct grid *g = grid_create(NULL, "%s%s", b->heading, view_truncated(r, totals, truncated));
	int total = both ? grid_column(g, "total", "total", CELL_SHARE, GRID_OVERLAP, 0) : -1;
	int share = grid_column(g, "share", both ? "self" : "", CELL_SHARE, 0, 0);
	int samples = grid_column(g, "samples", "", CELL_COUNT, both ? GRID_HIDDEN : GRID_REST, 0);
	int name = grid_column(g, "name", "", CELL_TEXT, b->flags, 0), nr = 0;
	char text[BRIEF_BYTES];

	if (both)
		grid_place(g, total, 0, 8);
	grid_place(g, share, 0, both ? 10 : 8);
	if (!both)
		grid_place(g, samples, 0, 10);
	grid_place(g, name, 2, BRIEF_COLUMNS(p));
	if (made) {
		grid_set_total(g, share, report_measure(r, &s.total[r->event]));
		if (both)
			grid_set_total(g, total, report_measure(r, &s.total[r->event]));
		if (totals)
			grid_mark_tree_column(g, share);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			if (!brief_has_line(r, &s, b, s.order[i]))
				continue;
			grid_row(g);
			if (both)
				grid_set(g, total, report_measure(r, total_of_value(&s, s.order[i])));
			grid_set(g, share, report_measure(r, &s.sum[r->event][s.order[i]]));
			grid_set(g, samples, s.sum[r->event][s.order[i]].samples);
			if (++nr <= p->top + 1 || !p->top || p->sort) {
				b->put(r, p, s.order[i], text, sizeof(text));
				grid_set_text(g, name, text);
			}
		}
	}
	split_fini(&s);
	if (nr)
		grid_show(g, p);
	else
		grid_discard(g);
}

#define SCALE_WORTH 1.02 /* smaller factors come from the clock's late interrupts and are not mentioned */

static const char *why_scaled(const struct model *m, const struct model_event *e)
{
	if (model_event_is_multiplexed(e))
		return e->count_lost ? "multiplexed, and samples were lost" : "multiplexed";
	return e->count_lost || e->sampled <= 0 ? "samples were lost" : model_why_not_covered(m);
}

static double covered_part(const struct model_event *e)
{
	return e->unsampled > 0 && e->sampled > 0 ? e->sampled + e->unsampled : 1 / e->scale;
}

#define UNSAMPLED_WORTH 0.005 /* part of an event that is in no sample, from which on a sentence says so */

/*
 * Writes, in one sentence, which events' weights are scaled up, and why. Then writes which part of each event is in no sample, if it is
 * larger than UNSAMPLED_WORTH.
 */
static void print_event_scales(const struct model *m, struct page *p)
{
	char line[1024];
	size_t at = 0;

	for (uint32_t i = 0; i < m->nr_events && at < sizeof(line); i++)
		if (m->event[i].scale > 0 && covered_part(&m->event[i]) < 1 / SCALE_WORTH)
			at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%.0f %% of %.60s (%s)", at ? ", " : "",
					       100 * covered_part(&m->event[i]), m->event[i].name, why_scaled(m, &m->event[i]));
	if (at)
		page_sentence(p, "(samples cover %s; weights are scaled up)", line);
	for (uint32_t i = 0; i < m->nr_events; i++)
		if (m->event[i].unsampled > UNSAMPLED_WORTH)
			page_sentence(p, "(%s%.1f %% of %.60s are threads shorter than a period: counted, and in no sample)",
				      m->event[i].exclude_kernel && m->event[i].sampled <= 0 ? "at most " : "",
				      100 * m->event[i].unsampled, m->event[i].name);
}

/*
 * Writes how many call stacks are complete, and why callers are missing in the others. Writes nothing if at least 99.5 % are complete, or
 * if no view needs call stacks.
 */
static void put_stack_ends(const struct report *r, struct page *p)
{
	const uint64_t *n = r->a->stack_ends;
	const struct model_event *e = r->event < r->model->nr_events ? &r->model->event[r->event] : NULL;
	const uint32_t bytes = e ? e->stack_bytes : 0;
	uint64_t all = 0;
	char line[600], option[STACK_REMEDY_TEXT], remedy[STACK_REMEDY_TEXT + 8] = "";
	int at;

	for (int i = 0; i < NR_REASONS; i++)
		all += n[i];
	if (*stack_remedy(bytes, r->model->way, option))
		snprintf(remedy, sizeof(remedy), " (%s)", option);
	if (!r->stacks || !all || n[REASON_NONE] >= all - all / 200)
		return;
	at = snprintf(line, sizeof(line), "(%.1f %% of call stacks are complete",
		      100 * (double)n[REASON_NONE] / (double)all);
	if (n[REASON_TRUNCATED] > all / 1000)
		at += snprintf(line + at, sizeof(line) - (size_t)at, "; %.1f %% are truncated: longer than %.3g KiB, which were recorded%s",
			       100 * (double)n[REASON_TRUNCATED] / (double)all, bytes / 1024.0, remedy);
	if (n[REASON_CHAIN_CUT] > all / 1000)
		at += snprintf(line + at, sizeof(line) - (size_t)at, "; %.1f %% are truncated: longer than the 127 addresses that the "
			       "kernel follows by frame pointers", 100 * (double)n[REASON_CHAIN_CUT] / (double)all);
	if (n[REASON_NO_UNWIND_INFO] > all / 1000)
		at += snprintf(line + at, sizeof(line) - (size_t)at, "; %.1f %% end at code without unwind information",
			       100 * (double)n[REASON_NO_UNWIND_INFO] / (double)all);
	if (n[REASON_NO_STACK] > all / 1000)
		snprintf(line + at, sizeof(line) - (size_t)at, "; of %.1f %% no stack was recorded%s",
			 100 * (double)n[REASON_NO_STACK] / (double)all, bytes ? ", though it was asked for" : remedy);
	page_sentence(p, "%s)", line);
}

const char *view_in_phase(const struct report *r, char text[PHASE_TEXT])
{
	*text = 0;
	if (r->has_run)
		snprintf(text, PHASE_TEXT, ", in the %.*s phase", PHASE_CHARACTERS, filter_phase(&r->filter));
	return text;
}

/* Checks whether some table of the views shows only the run phase. */
static bool is_of_run_phase(const struct report *r)
{
	bool run = false;

	for (uint32_t i = 0; i < r->nr_groups; i++)
		run |= (r->group[i]->flags & REPORT_RUN) != 0;
	return run && r->has_run;
}

void view_header(const struct report *r, struct page *p)
{
	const struct model *m = r->model;
	const struct attribution *a = r->a;
	const char *event = r->event < m->nr_events && m->event[r->event].name ? m->event[r->event].name : "";
	double seconds = a->nr_samples ? (double)(a->last_ns - a->first_ns) / 1e9 : 0;
	uint64_t lost = model_count_lost(m, LOSS_OF_SAMPLES);
	char line[400];
	int n;

	page_fact(p, "command", m->command);
	page_fact(p, "event", event);
	page_fact(p, "unit", report_unit(r));
	page_fact_number(p, "recorded", (double)a->nr_samples);
	page_fact_number(p, "samples", r->samples);
	page_fact_number(p, "lost", (double)lost);
	page_fact_number(p, "seconds", seconds);
	if (is_of_run_phase(r))
		page_fact(p, "phase", filter_phase(&r->filter));
	n = snprintf(line, sizeof(line), "%llu sample%s in %.1f s, %llu lost", (unsigned long long)a->nr_samples,
		     a->nr_samples == 1 ? "" : "s", seconds, (unsigned long long)lost);
	if (r->samples + 0.5 < (double)a->nr_samples)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "; %.0f %s", r->samples, report_what_passes(r));
	if (m->nr_events > 1)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "; event %.100s", event);
	if (m->nr_events > VIEW_EVENTS_MAX)
		snprintf(line + n, sizeof(line) - (size_t)n, "; columns for %d of %u events", VIEW_EVENTS_MAX, m->nr_events);
	if (p->form == PAGE_TEXT)
		page_put_wrapped(p, line);
	print_event_scales(m, p);
	put_stack_ends(r, p);
}
