/* SPDX-License-Identifier: MIT */
#include "analyzer/store/tables.h"

#include "analyzer/store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 32 /* of a line over time */

static const struct {
	const char *table, *heading;
} of[] = {
	[SUMS_COMPONENT] = { "components", "Components" },
	[SUMS_FUNCTION] = { "functions", "Functions" },
	[SUMS_QUERY] = { "queries", "Queries, without their literals" },
	[SUMS_PROCESS] = { "processes", "Processes" },
};

void tables_describe(struct page *p, const struct sums *s)
{
	const struct sums_epoch *last = s->nr_epochs ? &s->epoch[s->nr_epochs - 1] : NULL;
	char from[32], to[32], number[16];
	double covered_ns = 0;

	page_fact(p, "event", s->event ? s->event : "");
	page_fact(p, "unit", s->unit ? s->unit : "");
	page_fact_number(p, "epochs", s->nr_epochs);
	page_fact_number(p, "samples", s->samples);
	page_fact_number(p, "weight", s->weight);
	page_fact_number(p, "lost", (double)s->lost);
	if (!last) {
		page_sentence(p, "No epoch is in that window.");
		return;
	}
	for (uint32_t i = 0; i < s->nr_epochs; i++)
		covered_ns += (double)(s->epoch[i].end_ns - s->epoch[i].begin_ns);
	page_fact_number(p, "begin_ns", (double)s->epoch[0].begin_ns);
	page_fact_number(p, "end_ns", (double)last->end_ns);
	page_sentence(p, "%u epoch%s from %s to %s (%s recorded): %.0f samples of %s, %llu lost.", s->nr_epochs,
		      s->nr_epochs == 1 ? "" : "s", window_format_time(s->epoch[0].begin_ns, from), window_format_time(last->end_ns, to),
		      grid_duration(covered_ns, number), s->samples, s->event ? s->event : "nothing", (unsigned long long)s->lost);
}

int tables_lines(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d)
{
	struct grid *g = grid_create(of[by].table, "%s", of[by].heading);
	bool components = by == SUMS_COMPONENT;
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES | GRID_HIDDEN, 0);
	int weight = grid_column(g, "weight", s->unit && strcmp(s->unit, "ns") == 0 ? "time" : "weight",
				 s->unit && strcmp(s->unit, "ns") == 0 ? CELL_DURATION : CELL_NUMBER, 0, 0);
	int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0);
	int where = grid_column(g,
				by == SUMS_FUNCTION ? "image" :
				by == SUMS_PROCESS  ? "executable" :
						      "place",
				by == SUMS_FUNCTION ? "in" : "", CELL_TEXT, by == SUMS_FUNCTION ? 0 : GRID_HIDDEN, 0);
	int level = grid_column(g, "level", "", CELL_TEXT, GRID_HIDDEN, 0);
	int query = components ? grid_column(g, "query", "", CELL_TEXT, GRID_HIDDEN, 0) : -1;
	int ret = 0;

	grid_set_total(g, share, s->weight);
	for (uint32_t i = 0; i < s->nr && ret == 0; i++) {
		struct sums_names n;

		ret = sums_names(store, by, s->line[i].id, &n, d);
		if (ret == 0) {
			grid_row(g);
			grid_set(g, share, s->line[i].weight);
			grid_set(g, samples, s->line[i].samples);
			grid_set(g, weight, s->line[i].weight);
			grid_set_text(g, name, strchr(n.label, '#') || !*n.detail ? n.label : n.name);
			if (components && *n.detail)
				grid_set_detail(g, name, n.detail);
			grid_set_text(g, where, n.place);
			grid_set_text(g, level, n.level);
			if (query >= 0)
				grid_set_text(g, query, n.query);
		}
		sums_names_fini(&n);
	}
	if (ret)
		grid_discard(g);
	else
		grid_show(g, p);
	return ret;
}

/* Cells of a line over time, each relative to the largest of all lines: what it has of the weight there. */
static void make_lane(const struct sums *s, const struct sums_line *l, char text[4 * CELLS + 1], bool utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = " .:-=+*%#";
	int64_t begin = s->epoch[0].begin_ns, span = s->epoch[s->nr_epochs - 1].end_ns - begin;
	double mine[CELLS] = { 0 }, all[CELLS] = { 0 };

	text[0] = 0;
	for (uint32_t i = 0; i < s->nr_epochs; i++) {
		int64_t middle = s->epoch[i].begin_ns / 2 + s->epoch[i].end_ns / 2 - begin;
		int cell = span > 0 ? (int)((double)middle / (double)span * CELLS) : 0;

		cell = cell < 0 ? 0 : cell < CELLS ? cell : CELLS - 1;
		mine[cell] += l->of_epoch[i];
		all[cell] += s->epoch[i].weight;
	}
	for (int i = 0; i < CELLS; i++) {
		double share = all[i] > 0 ? mine[i] / all[i] : 0;
		int height = share > 0 ? 1 + (int)(share * 7.999) : 0;

		if (utf8)
			strcat(text, blocks[height]);
		else
			strncat(text, &ascii[height], 1);
	}
}

int tables_timeline(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d)
{
	struct grid *g =
		grid_create("timeline", "Share of each epoch's %s, from the first (left) to the last", s->event ? s->event : "samples");
	struct grid *points = NULL;
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0);
	int first = grid_column(g, "first", "first", CELL_PERCENT, 0, 0), last = grid_column(g, "last", "last", CELL_PERCENT, 0, 0);
	int lane = grid_column(g, "lane", "over time", CELL_TEXT, GRID_FIXED | GRID_TEXT_ONLY, 0);
	int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0), ret = 0;
	int at = 0, of_name = 0, value = 0, part = 0;
	uint32_t nr = p->top && (uint32_t)p->top < s->nr ? (uint32_t)p->top : s->nr;

	grid_set_total(g, share, s->weight);
	if (p->form != PAGE_TEXT) { /* each epoch by itself */
		points = grid_create("points", "Epochs");
		at = grid_column(points, "begin_ns", "", CELL_COUNT, 0, 0);
		of_name = grid_column(points, "name", "", CELL_TEXT, 0, 0);
		value = grid_column(points, "weight", "", CELL_COUNT, 0, 0);
		part = grid_column(points, "share", "", CELL_PERCENT, 0, 0);
		grid_show_all_rows(points);
	}
	for (uint32_t i = 0; i < nr && s->nr_epochs && ret == 0; i++) {
		const struct sums_line *l = &s->line[i];
		const struct sums_epoch *e = s->epoch, *end = &s->epoch[s->nr_epochs - 1];
		struct sums_names n;
		char text[4 * CELLS + 1];

		ret = sums_names(store, by, l->id, &n, d);
		if (ret == 0) {
			grid_row(g);
			grid_set(g, share, l->weight);
			grid_set(g, first, e->weight > 0 ? l->of_epoch[0] / e->weight : 0);
			grid_set(g, last, end->weight > 0 ? l->of_epoch[s->nr_epochs - 1] / end->weight : 0);
			make_lane(s, l, text, p->utf8);
			grid_set_text(g, lane, text);
			grid_set_text(g, name, n.label);
		}
		for (uint32_t k = 0; points && k < s->nr_epochs && ret == 0; k++) {
			grid_row(points);
			grid_set(points, at, (double)s->epoch[k].begin_ns);
			grid_set_text(points, of_name, n.label);
			grid_set(points, value, l->of_epoch[k]);
			grid_set(points, part, s->epoch[k].weight > 0 ? l->of_epoch[k] / s->epoch[k].weight : 0);
		}
		sums_names_fini(&n);
	}
	if (ret == 0) {
		grid_show(g, p);
		if (points)
			grid_show(points, p);
	} else {
		grid_discard(g);
		if (points)
			grid_discard(points);
	}
	return ret;
}

void tables_epochs(struct page *p, const struct sums *s)
{
	static const char *const tiers[] = { "epoch", "hour", "day" };
	struct grid *g = grid_create("epochs", "Epochs");
	int begin = grid_column(g, "begin", "begin", CELL_TEXT, GRID_FIXED, 0);
	int begin_ns = grid_column(g, "begin_ns", "", CELL_COUNT, GRID_HIDDEN, 0);
	int length = grid_column(g, "duration_ns", "length", CELL_DURATION, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0), lost = grid_column(g, "lost", "lost", CELL_COUNT, 0, 0);
	int weight = grid_column(g, "weight", "weight", CELL_NUMBER, 0, 0), tier = grid_column(g, "tier", "of", CELL_TEXT, 0, 0);
	int parts = grid_column(g, "parts", "parts", CELL_COUNT, 0, 0);

	for (uint32_t i = 0; i < s->nr_epochs; i++) {
		const struct sums_epoch *e = &s->epoch[i];
		char text[32];

		grid_row(g);
		grid_set_text(g, begin, window_format_time(e->begin_ns, text));
		grid_set(g, begin_ns, (double)e->begin_ns);
		grid_set(g, length, (double)(e->end_ns - e->begin_ns));
		grid_set(g, samples, e->samples);
		grid_set(g, lost, (double)e->lost);
		grid_set(g, weight, e->weight);
		grid_set_text(g, tier, e->tier < 3 ? tiers[e->tier] : "?");
		grid_set(g, parts, e->parts);
	}
	grid_show(g, p);
}

int tables_reasons(struct page *p, struct store *store, const struct sums *s, struct diag *d)
{
	static struct statement
		reasons = STATEMENT(
			"SELECT t.s, sum(r.samples), sum(r.weight) FROM reason r JOIN text t ON t.id = r.reason JOIN "
			"event e ON e.id = r.event JOIN "
			"text n ON n.id = e.name WHERE n.s = ?1 AND r.epoch BETWEEN ?2 AND ?3 GROUP BY 1 ORDER BY 3 DESC"),
		losses = STATEMENT("SELECT t.s, sum(l.count) FROM loss l JOIN text t ON t.id = l.reason WHERE l.epoch "
				   "BETWEEN ?1 AND ?2 GROUP BY 1 ORDER BY 2 DESC");
	struct grid *g = grid_create("reasons", "Why samples have no component"), *l = grid_create("losses", "What was lost");
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), samples = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0);
	int name = grid_column(g, "name", "reason", CELL_TEXT, 0, 0);
	int count = grid_column(l, "count", "count", CELL_COUNT, 0, 0), what = grid_column(l, "name", "reason", CELL_TEXT, 0, 0);
	int64_t least = INT64_MAX, most = 0;

	for (uint32_t i = 0; i < s->nr_epochs; i++) {
		least = s->epoch[i].id < least ? s->epoch[i].id : least;
		most = s->epoch[i].id > most ? s->epoch[i].id : most;
	}
	grid_set_total(g, share, s->weight);
	for (bool more = store_run(store, &reasons, "tii", s->event ? s->event : "", least, most); more;
	     more = store_next(store, &reasons)) {
		grid_row(g);
		grid_set(g, share, sqlite3_column_double(reasons.prepared, 2));
		grid_set(g, samples, sqlite3_column_double(reasons.prepared, 1));
		grid_set_text(g, name, (const char *)sqlite3_column_text(reasons.prepared, 0));
	}
	for (bool more = store_run(store, &losses, "ii", least, most); more; more = store_next(store, &losses)) {
		grid_row(l);
		grid_set(l, count, (double)sqlite3_column_int64(losses.prepared, 1));
		grid_set_text(l, what, (const char *)sqlite3_column_text(losses.prepared, 0));
	}
	grid_show(g, p);
	grid_show(l, p);
	return store_failed(store, d);
}
