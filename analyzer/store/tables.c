/* SPDX-License-Identifier: MIT */
#include "analyzer/store/tables.h"

#include "analyzer/store/internal.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/weight_unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 32 /* characters that show a line's share over time */

static const struct {
	const char *table, *heading;
} of[] = {
	[SUMS_COMPONENT] = { "components", "Components" },
	[SUMS_FUNCTION] = { "functions", "Functions" },
	[SUMS_QUERY] = { "queries", "Queries, without their literals" },
	[SUMS_PROCESS] = { "processes", "Processes" },
	[SUMS_SERVICE] = { "services", "Services: systemd units, containers, names for OpenTelemetry" },
};

/* Describes what the store dropped to keep its cap: epochs, whose samples are not among the sums, and functions of epochs that are. */
static void describe_went(struct page *p, const struct sums *s)
{
	char from[32], to[32];

	page_fact_number(p, "went_epochs", (double)s->went.epochs);
	page_fact_number(p, "without_functions", s->nr_without_functions);
	if (s->went.epochs) {
		page_fact_number(p, "went_samples", s->went.samples);
		page_fact_time(p, "went_begin_ns", s->went.begin_ns);
		page_fact_time(p, "went_end_ns", s->went.end_ns);
		page_sentence(p, "To keep its cap, the store dropped %lld epoch%s from %s to %s, with %.0f samples of all events.",
			      (long long)s->went.epochs, s->went.epochs == 1 ? "" : "s", window_format_time(s->went.begin_ns, from),
			      window_format_time(s->went.end_ns, to), s->went.samples);
	}
	if (s->nr_without_functions && s->by == SUMS_FUNCTION)
		page_sentence(p, "To keep its cap, the store dropped the functions of %u of these epochs.", s->nr_without_functions);
}

static void describe_lacking(struct page *p, const struct sums *s)
{
	for (uint32_t i = 0; i < s->lacking.nr; i++) {
		page_fact(p, "lacking", s->lacking.sentence[i]);
		page_sentence(p, "%s.", s->lacking.sentence[i]);
	}
}

void tables_describe(struct page *p, const struct sums *s)
{
	const struct sums_epoch *last = s->epochs.nr ? &s->epochs.at[s->epochs.nr - 1] : NULL;
	char from[32], to[32], number[16];
	double covered_ns = 0;

	page_fact(p, "event", s->event ? s->event : "");
	page_fact(p, "unit", s->unit ? s->unit : "");
	page_fact_number(p, "epochs", s->epochs.nr);
	page_fact_number(p, "samples", s->samples);
	page_fact_number(p, "weight", s->weight);
	page_fact_number(p, "lost", (double)s->lost);
	describe_lacking(p, s);
	if (!last) {
		page_sentence(p, "No epoch is in that window.");
		describe_went(p, s);
		return;
	}
	for (uint32_t i = 0; i < s->epochs.nr; i++)
		covered_ns += (double)s->epochs.at[i].end_ns - (double)s->epochs.at[i].begin_ns;
	page_fact_time(p, "begin_ns", s->epochs.at[0].begin_ns);
	page_fact_time(p, "end_ns", last->end_ns);
	page_sentence(p, "%u epoch%s from %s to %s (%s recorded): %.0f samples of %s, %llu lost.", s->epochs.nr,
		      s->epochs.nr == 1 ? "" : "s", window_format_time(s->epochs.at[0].begin_ns, from),
		      window_format_time(last->end_ns, to), grid_duration(covered_ns, number), s->samples,
		      s->event ? s->event : "nothing", (unsigned long long)s->lost);
	describe_went(p, s);
}

static bool are_per_service(const struct sums *s)
{
	return s->lines.nr && s->lines.at[0].service != SUMS_ALL_SERVICES;
}

/* Reads the names of the first nr lines, with labels that differ. The caller frees them, also if the result is -errno. */
static int read_names(struct store *store, enum sums_by by, const struct sums *s, uint32_t nr, struct sums_names **out, struct diag *d)
{
	struct sums_names *n = *out = calloc((size_t)nr + 1, sizeof(*n));
	char **label = calloc((size_t)nr + 1, sizeof(*label));
	const char **detail = calloc((size_t)nr + 1, sizeof(*detail));
	int ret = n && label && detail ? 0 : diag_fail(d, ENOMEM, "%s", strerror(ENOMEM));

	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		ret = sums_names(store, by, &s->lines.at[i], &n[i], d);
		label[i] = n[i].label;
		detail[i] = n[i].detail;
	}
	if (ret == 0 && by == SUMS_COMPONENT && !sums_tell_apart(label, detail, nr))
		ret = diag_fail(d, ENOMEM, "%s", strerror(ENOMEM));
	for (uint32_t i = 0; i < nr && n && label && label[i]; i++)
		n[i].label = label[i];
	free(label);
	free(detail);
	return ret;
}

static void free_names(struct sums_names *n, uint32_t nr)
{
	for (uint32_t i = 0; n && i < nr; i++)
		sums_names_fini(&n[i]);
	free(n);
}

/* Marks the lines that are called as another one: nodes of plans of several queries, such as "Gather". */
static bool *find_namesakes(const struct sums_names *n, uint32_t nr)
{
	struct hash_map first = { 0 };
	bool *namesake = calloc((size_t)nr + 1, sizeof(*namesake)), ok = namesake;

	for (uint32_t i = 0; ok && i < nr; i++) {
		uint64_t name = hash_text(n[i].label), detail = hash_text(n[i].detail);
		uint32_t other = hash_map_find(&first, name, detail);

		if (other)
			namesake[i] = namesake[other - 1] = true;
		else
			ok = hash_map_set(&first, name, detail, i + 1);
	}
	hash_map_fini(&first);
	if (ok)
		return namesake;
	free(namesake);
	return NULL;
}

/* Returns the text below a component's name, which is its detail, or its query where that tells it from another one. */
static const char *detail_of(const struct sums_names *n, bool is_namesake)
{
	return is_namesake && *n->query ? n->query : n->detail;
}

int tables_lines(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d)
{
	struct grid *g = grid_create(of[by].table, "%s", of[by].heading);
	bool components = by == SUMS_COMPONENT, is_time = weight_unit_parse(s->unit) == WEIGHT_NS;
	int total = s->has_totals ? grid_column(g, "total", "total", CELL_PERCENT, 0, 0) : -1;
	int share = grid_column(g, "share", s->has_totals ? "self" : "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES | GRID_HIDDEN, 0);
	int weight = grid_column(g, "weight", is_time ? "time" : "weight", is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
	int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0);
	int where = grid_column(g,
				by == SUMS_FUNCTION ? "image" :
				by == SUMS_PROCESS  ? "executable" :
						      "place",
				by == SUMS_FUNCTION ? "in" : "", CELL_TEXT, by == SUMS_FUNCTION ? 0 : GRID_HIDDEN, 0);
	int level = grid_column(g, "level", "", CELL_TEXT, GRID_HIDDEN, 0);
	int query = components ? grid_column(g, "query", "", CELL_TEXT, GRID_HIDDEN, 0) : -1;
	int paths = by == SUMS_FUNCTION ? grid_column(g, "paths", "", CELL_COUNT, GRID_HIDDEN, 0) : -1;
	int service = are_per_service(s) ? grid_column(g, "service", "service", CELL_TEXT, 0, 0) : -1;
	/* rows that text will not show need no names, and reading names takes longer than summing up */
	uint32_t nr = p->form == PAGE_TEXT && p->top && (uint32_t)p->top < s->lines.nr ? (uint32_t)p->top + 1 : s->lines.nr;
	struct sums_names *n;
	bool *namesake = NULL;
	int ret = read_names(store, by, s, nr, &n, d);

	if (ret == 0 && !(namesake = find_namesakes(n, nr)))
		ret = diag_fail(d, ENOMEM, "%s", strerror(ENOMEM));
	grid_set_total(g, share, s->weight);
	for (uint32_t i = 0; i < s->lines.nr && ret == 0; i++) {
		grid_row(g);
		grid_set(g, share, s->lines.at[i].weight);
		if (s->lines.at[i].total > 0 && s->weight > 0)
			grid_set(g, total, s->lines.at[i].total / s->weight);
		grid_set(g, samples, s->lines.at[i].samples);
		grid_set(g, weight, s->lines.at[i].weight);
		if (i >= nr)
			continue;
		grid_set_text(g, name, strchr(n[i].label, '#') || !*n[i].detail ? n[i].label : n[i].name);
		if (components && *detail_of(&n[i], namesake[i]))
			grid_set_detail(g, name, detail_of(&n[i], namesake[i]));
		grid_set_text(g, where, n[i].place);
		grid_set_text(g, level, n[i].level);
		if (query >= 0)
			grid_set_text(g, query, n[i].query);
		if (paths >= 0)
			grid_set(g, paths, s->lines.at[i].paths);
		if (service >= 0)
			grid_set_text(g, service, n[i].service);
	}
	free_names(n, nr);
	free(namesake);
	if (ret)
		grid_discard(g);
	else
		grid_show(g, p);
	return ret;
}

static int cell_of_time(const struct sums *s, int64_t ns)
{
	double begin_ns = (double)s->epochs.at[0].begin_ns, span_ns = (double)s->epochs.at[s->epochs.nr - 1].end_ns - begin_ns;
	double part = span_ns > 0 ? ((double)ns - begin_ns) / span_ns : 0;

	return part > 0 && part < 1 ? (int)(part * CELLS) : part >= 1 ? CELLS - 1 : 0;
}

/* Formats a line's share over time as CELLS characters.  A cell shows the line's share of the weight of all epochs that overlap the
 * cell's time. */
static void make_lane(const struct sums *s, const struct sums_line *l, char text[4 * CELLS + 1], bool utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	double mine[CELLS] = { 0 }, all[CELLS] = { 0 };

	text[0] = 0;
	for (uint32_t i = 0; i < s->epochs.nr; i++) {
		int last = cell_of_time(s, s->epochs.at[i].end_ns - 1);

		for (int cell = cell_of_time(s, s->epochs.at[i].begin_ns); cell <= last; cell++) {
			mine[cell] += l->of_epoch[i];
			all[cell] += s->epochs.at[i].weight;
		}
	}
	for (int i = 0; i < CELLS; i++) {
		double share = all[i] > 0 ? mine[i] / all[i] : 0;
		int height = share > 0 ? 1 + (int)((share < 1 ? share : 1) * 7.999) : 0;

		text = stpcpy(text, (utf8 ? blocks : ascii)[height]);
	}
}

/* This table has the weight and the share of each listed line in each epoch. It is for programs, so it is not shown as text. */
struct points {
	struct grid *grid;
	int begin, name, service, weight, share; /* columns; service: -1 if rows are not split by service */
};

static struct points points_create(bool per_service)
{
	struct points p = { .grid = grid_create("points", "Epochs") };

	p.begin = grid_column(p.grid, "begin_ns", "", CELL_HEX, 0, 0);
	p.name = grid_column(p.grid, "name", "", CELL_TEXT, 0, 0);
	p.service = per_service ? grid_column(p.grid, "service", "", CELL_TEXT, 0, 0) : -1;
	p.weight = grid_column(p.grid, "weight", "", CELL_COUNT, 0, 0);
	p.share = grid_column(p.grid, "share", "", CELL_PERCENT, 0, 0);
	grid_show_all_rows(p.grid);
	return p;
}

static double share_of_epoch(const struct sums *s, const struct sums_line *l, uint32_t epoch)
{
	return s->epochs.at[epoch].weight > 0 ? l->of_epoch[epoch] / s->epochs.at[epoch].weight : 0;
}

static void points_add(const struct points *p, const struct sums *s, const struct sums_line *l, const struct sums_names *n)
{
	for (uint32_t i = 0; i < s->epochs.nr; i++) {
		grid_row(p->grid);
		grid_set_address(p->grid, p->begin, (uint64_t)s->epochs.at[i].begin_ns);
		grid_set_text(p->grid, p->name, n->label);
		if (p->service >= 0)
			grid_set_text(p->grid, p->service, n->service);
		grid_set(p->grid, p->weight, l->of_epoch[i]);
		grid_set(p->grid, p->share, share_of_epoch(s, l, i));
	}
}

int tables_timeline(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d)
{
	struct grid *g = grid_create("timeline", "Share of each epoch's %s, from the first (left) to the last",
				     s->event ? s->event : "samples");
	struct points points = points_create(are_per_service(s));
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0);
	int first = grid_column(g, "first", "first", CELL_PERCENT, 0, 0), last = grid_column(g, "last", "last", CELL_PERCENT, 0, 0);
	int lane = grid_column(g, "lane", "over time", CELL_TEXT, GRID_FIXED | GRID_TEXT_ONLY, 0);
	int name = grid_column(g, "name", "name", CELL_TEXT, 0, 0), ret = 0;
	int service = are_per_service(s) ? grid_column(g, "service", "service", CELL_TEXT, 0, 0) : -1;
	uint32_t nr = p->top && (uint32_t)p->top < s->lines.nr ? (uint32_t)p->top : s->lines.nr;
	struct sums_names *n;

	grid_set_total(g, share, s->weight);
	ret = read_names(store, by, s, nr, &n, d);
	for (uint32_t i = 0; i < nr && s->epochs.nr && ret == 0; i++) {
		const struct sums_line *l = &s->lines.at[i];
		char text[4 * CELLS + 1];

		grid_row(g);
		grid_set(g, share, l->weight);
		grid_set(g, first, share_of_epoch(s, l, 0));
		grid_set(g, last, share_of_epoch(s, l, s->epochs.nr - 1));
		make_lane(s, l, text, p->utf8);
		grid_set_text(g, lane, text);
		grid_set_text(g, name, n[i].label);
		if (service >= 0)
			grid_set_text(g, service, n[i].service);
		if (store_spend(store, 2ull * s->epochs.nr))
			points_add(&points, s, l, &n[i]);
		ret = store_failed(store, d);
	}
	free_names(n, nr);
	if (ret) {
		grid_discard(g);
		grid_discard(points.grid);
		return ret;
	}
	grid_show(g, p);
	if (p->form == PAGE_TEXT)
		grid_discard(points.grid);
	else
		grid_show(points.grid, p);
	return 0;
}

void tables_epochs(struct page *p, const struct sums *s)
{
	static const char *const tiers[] = { "epoch", "hour", "day" };
	struct grid *g = grid_create("epochs", "Epochs");
	int begin = grid_column(g, "begin", "begin", CELL_TEXT, GRID_FIXED, 0);
	int begin_ns = grid_column(g, "begin_ns", "", CELL_HEX, GRID_HIDDEN, 0);
	int length = grid_column(g, "duration_ns", "length", CELL_DURATION, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0), lost = grid_column(g, "lost", "lost", CELL_COUNT, 0, 0);
	int weight = grid_column(g, "weight", "weight", CELL_NUMBER, 0, 0), tier = grid_column(g, "tier", "of", CELL_TEXT, 0, 0);
	int parts = grid_column(g, "parts", "parts", CELL_COUNT, 0, 0);
	int functions = grid_column(g, "functions", "functions", CELL_TEXT, 0, 0);

	for (uint32_t i = 0; i < s->epochs.nr; i++) {
		const struct sums_epoch *e = &s->epochs.at[i];
		char text[32];

		grid_row(g);
		grid_set_text(g, begin, window_format_time(e->begin_ns, text));
		grid_set_address(g, begin_ns, (uint64_t)e->begin_ns);
		grid_set(g, length, (double)e->end_ns - (double)e->begin_ns);
		grid_set(g, samples, e->samples);
		grid_set(g, lost, (double)e->lost);
		grid_set(g, weight, e->weight);
		grid_set_text(g, tier, e->tier < 3 ? tiers[e->tier] : "?");
		grid_set(g, parts, e->parts);
		grid_set_text(g, functions, e->has_functions ? "yes" : "dropped");
	}
	grid_show(g, p);
}

/* Returns the numbers of epochs as JSON, such as "[3,4,9]", or NULL if memory ran out.  The caller frees it. */
static char *list_epochs(const struct sums *s)
{
	size_t room = 2 + 21 * (size_t)s->epochs.nr + 1, at = 0;
	char *list = malloc(room);

	for (uint32_t i = 0; list && i < s->epochs.nr; i++)
		at += (size_t)snprintf(list + at, room - at, "%c%lld", i ? ',' : '[', (long long)s->epochs.at[i].id);
	if (list)
		snprintf(list + at, room - at, s->epochs.nr ? "]" : "[]");
	return list;
}

int tables_reasons(struct page *p, struct store *store, const struct sums *s, struct diag *d)
{
	static struct statement
		reasons = STATEMENT(
			"SELECT t.s, sum(r.samples), sum(r.weight) FROM reason r JOIN text t ON t.id = r.reason JOIN "
			"event e ON e.id = r.event JOIN "
			"text n ON n.id = e.name WHERE n.s = ?1 AND r.epoch IN (SELECT value FROM json_each(?2)) GROUP BY 1 "
			"ORDER BY 3 DESC"),
		losses = STATEMENT("SELECT t.s, sum(l.count) FROM loss l JOIN text t ON t.id = l.reason WHERE l.epoch IN "
				   "(SELECT value FROM json_each(?1)) GROUP BY 1 ORDER BY 2 DESC");
	struct grid *g = grid_create("reasons", "Why samples have no component"), *l = grid_create("losses", "What was lost");
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), samples = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0);
	int name = grid_column(g, "name", "reason", CELL_TEXT, 0, 0);
	int count = grid_column(l, "count", "count", CELL_COUNT, 0, 0), what = grid_column(l, "name", "reason", CELL_TEXT, 0, 0);
	char *epochs = list_epochs(s);

	if (!epochs) {
		grid_discard(g);
		grid_discard(l);
		return diag_fail(d, ENOMEM, "%s", strerror(ENOMEM));
	}
	grid_set_total(g, share, s->weight);
	for (bool more = store_run(store, &reasons, "tt", s->event ? s->event : "", epochs); more;
	     more = store_next(store, &reasons)) {
		grid_row(g);
		grid_set(g, share, sqlite3_column_double(reasons.prepared, 2));
		grid_set(g, samples, sqlite3_column_double(reasons.prepared, 1));
		grid_set_text(g, name, (const char *)sqlite3_column_text(reasons.prepared, 0));
	}
	for (bool more = store_run(store, &losses, "t", epochs); more; more = store_next(store, &losses)) {
		grid_row(l);
		grid_set(l, count, (double)sqlite3_column_int64(losses.prepared, 1));
		grid_set_text(l, what, (const char *)sqlite3_column_text(losses.prepared, 0));
	}
	free(epochs);
	grid_show(g, p);
	grid_show(l, p);
	return store_failed(store, d);
}
