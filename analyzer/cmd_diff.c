/* SPDX-License-Identifier: MIT */
/*
 * tailor diff shows what changed between two versions of a program, or two runs of one, by operator or another level. A change is
 * significant if neither sampling error nor the run-to-run variation of unchanged lines explains it (95 % confidence for all lines
 * together). compare/README.md has the model. Without --expr, the output names the sources of error if any line was tested.
 */
#include "analyzer/cmd_compare.h"
#include "analyzer/cmd_diff.h"
#include "analyzer/compare/formula.h"
#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/reading/reading_arguments.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/base/weight_unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ALL = 0x100, KEY_EXPR, KEY_FAIL, KEY_METHODS, KEY_BETWEEN, KEY_NO_INLINE };

struct arguments {
	struct reading_arguments trace;
	struct asked_options asked; /* options of `tailor db` */
	struct page_arguments page; /* top < 0: not given */
	char *side[2];
	int nr_sides;
	bool all, methods, no_inline;
	const char *expression;
	double fail_above; /* part of the total, 0.05 for 5 %; < 0: never */
	double between;	   /* run-to-run standard deviation, as a part of a line's cost; < 0: not given */
};

static const struct argp_option options[] = {
	{ "all", KEY_ALL, NULL, 0, "also show changes that are not significant", 0 },
	{ "expr", KEY_EXPR, "FORMULA", 0, "sort by a formula of a and b (cost per execution), share_a, share_b, rows_a, rows_b, samples_a, "
	  "samples_b, executions_a and executions_b (where the host counts), with + - * / ^, parentheses, abs, log, sqrt, min and max; "
	  "'b - 2*a' is positive where the cost more than "
	  "doubled", 0 },
	{ "fail-above", KEY_FAIL, "PERCENT", 0, "exit with status 3 if the cost of an execution, or the part of it in one line, grew "
	  "significantly by more than this percentage of the total", 0 },
	{ "between-runs", KEY_BETWEEN, "PERCENT", 0, "run-to-run standard deviation of the cost of an unchanged line, as a percentage "
	  "of it (default: measured, with several traces per side; else 1, or the variation within a trace if larger)", 0 },
	{ "no-inline", KEY_NO_INLINE, NULL, 0, "count what a compiler inlined for its caller, as the page's Compare does", 0 },
	{ "methods", KEY_METHODS, NULL, 0, "compare attribution by tag with attribution by call stack, on the samples of one trace", 0 },
	{ 0 },
};

static double parse_percentage(struct argp_state *state, const char *option, const char *arg)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%") != 0) || !(percent >= 0) || isinf(percent))
		usage_fail(state, "--%s must be a percentage, not '%s'", option, arg);
	return percent / 100;
}

static error_t parse_diff_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = a->trace.asked ? (void *)&a->asked : &a->trace;
		state->child_inputs[1] = &a->page;
		break;
	case KEY_ALL:
		a->all = true;
		break;
	case KEY_EXPR:
		a->expression = arg;
		break;
	case KEY_FAIL:
		a->fail_above = parse_percentage(state, "fail-above", arg);
		break;
	case KEY_BETWEEN:
		a->between = parse_percentage(state, "between-runs", arg);
		break;
	case KEY_NO_INLINE:
		a->no_inline = true;
		break;
	case KEY_METHODS:
		a->methods = true;
		break;
	case ARGP_KEY_ARG:
		if (a->nr_sides == 2)
			usage_fail(state, "more than two sides given; separate the traces of one side by commas");
		a->side[a->nr_sides++] = arg;
		break;
	case ARGP_KEY_END:
		if (a->methods && a->nr_sides != 1)
			usage_fail(state, "--methods takes exactly one trace");
		if (!a->methods && a->nr_sides < 2)
			usage_fail(state, "two traces required: before and after");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

#define NAME_COLUMNS 48 /* columns of a name in a sentence */

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double p = fabs(x->growth), q = fabs(y->growth);

	if (x->significant != y->significant)
		return x->significant ? -1 : 1;
	if (p < q || p > q)
		return p > q ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_formula_results(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (isnan(x->result) || isnan(y->result))
		return isnan(x->result) - isnan(y->result);
	if (x->result < y->result || x->result > y->result)
		return x->result > y->result ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct diff_columns {
	int share[2], points, change, margin, cost[2], times, row[2], result, name, name_b, paired, place, there, significant, service;
};

static struct diff_columns add_diff_columns(struct grid *g, const struct arguments *args, const struct comparison *c, bool formula)
{
	bool is_time = weight_unit_parse(c->profile[0].unit) == WEIGHT_NS;
	enum cell_kind kind = is_time ? CELL_DURATION : CELL_NUMBER;
	struct diff_columns k = { .result = -1 };

	if (formula)
		k.result = grid_column(g, "result", args->expression, CELL_NUMBER, 0, 0);
	k.share[0] = grid_column(g, "share_a", "share A", CELL_SHARE, 0, 0);
	k.share[1] = grid_column(g, "share_b", "share B", CELL_SHARE, 0, 0);
	for (int s = 0; s < 2; s++) {
		grid_set_total(g, k.share[s], 1);
		grid_mark_tree_column(g, k.share[s]);
	}
	k.points = grid_column(g, "change", "", CELL_POINTS, GRID_HIDDEN, 0);
	k.change = grid_column(g, "cost_change", "change%", CELL_POINTS, formula ? GRID_HIDDEN : 0, 0);
	k.margin = grid_column(g, "cost_margin", "+-", CELL_POINTS_OF, formula ? GRID_HIDDEN : 0, 0);
	k.cost[0] = grid_column(g, "cost_a", "A/exec", kind, 0, 0);
	k.cost[1] = grid_column(g, "cost_b", "B/exec", kind, 0, 0);
	k.times = grid_column(g, "times", "B/A", CELL_NUMBER, formula ? 0 : GRID_HIDDEN, 0);
	k.row[0] = grid_column(g, "cost_per_row_a", "", kind, GRID_HIDDEN, 0);
	k.row[1] = grid_column(g, "cost_per_row_b", "", kind, GRID_HIDDEN, 0);
	k.there = grid_column(g, "there", "", CELL_TEXT, GRID_HIDDEN, 0);
	k.significant = grid_column(g, "significant", "", CELL_COUNT, GRID_HIDDEN, 0);
	k.name = grid_column(g, "name", "name", CELL_TEXT, 0, 0);
	k.place = grid_column(g, "place", "", CELL_TEXT, GRID_HIDDEN, 0);
	k.service = args->asked.per_service ? grid_column(g, "service", "", CELL_TEXT, GRID_HIDDEN, 0) : -1;
	k.paired = grid_column(g, "paired", "", CELL_TEXT, GRID_HIDDEN, 0);
	k.name_b = grid_column(g, "name_b", "", CELL_TEXT, GRID_HIDDEN, 0);
	return k;
}

static const char *name_in_b(const struct comparison *c, uint32_t line)
{
	for (uint32_t i = 0; i < c->side[1].nr; i++) {
		const struct profile_entry *e = match_entry(&c->match, c->profile, line, c->side[1].first + i);

		if (e)
			return e->name;
	}
	return "";
}

static void add_change(struct grid *g, const struct diff_columns *k, const struct comparison *c, const struct change *x)
{
	const struct profile_entry *e = match_first_entry(&c->match, c->profile, x->line);
	bool both = x->there[0] && x->there[1], alike = both && match_is_alike(&c->match, c->profile, x->line);
	bool has_detail = *e->detail && k->result < 0;
	char name[300];

	grid_row(g);
	if (k->result >= 0)
		grid_set(g, k->result, x->result);
	for (int s = 0; s < 2; s++) {
		if (!x->there[s])
			continue;
		grid_set(g, k->share[s], x->share[s]);
		grid_set(g, k->cost[s], x->cost[s].mean);
		if (x->has_rows[s] && x->rows[s] > 0)
			grid_set(g, k->row[s], x->cost[s].mean / x->rows[s]);
	}
	grid_set(g, k->points, x->share[1] - x->share[0]);
	if (isfinite(x->change))
		grid_set(g, k->change, x->change);
	if (isfinite(x->margin))
		grid_set(g, k->margin, x->margin);
	if (x->there[0] && x->there[1] && x->cost[0].mean > 0)
		grid_set(g, k->times, x->cost[1].mean / x->cost[0].mean);
	grid_set_text(g, k->there, both ? "both" : x->there[0] ? "a" : "b");
	grid_set(g, k->significant, x->significant);
	snprintf(name, sizeof(name), "%s%s", alike ? "alike: " : both ? "" : x->there[0] ? "only in A: " : "only in B: ",
		 has_detail && !strchr(e->label, '#') ? e->name : e->label);
	grid_set_text(g, k->name, name);
	if (has_detail)
		grid_set_detail(g, k->name, e->detail);
	grid_set_text(g, k->place, e->path);
	if (k->service >= 0 && e->group)
		grid_set_text(g, k->service, e->group);
	if (both)
		grid_set_text(g, k->paired, alike ? "alike" : "name");
	if (alike)
		grid_set_text(g, k->name_b, name_in_b(c, x->line));
}

static void show_sides(const struct arguments *args, const struct comparison *c, struct page *page)
{
	for (int s = 0; s < 2; s++) {
		bool is_fleet = strstr(args->side[s], "://"); /* an address of a server, which may contain a password, is not shown */
		double samples = 0;
		uint32_t runs = 0;

		for (uint32_t i = 0; i < c->side[s].nr; i++) {
			samples += c->profile[c->side[s].first + i].samples;
			runs += c->profile[c->side[s].first + i].nr_runs;
		}
		page_sentence(page, "%c: %s%s: %.0f samples in %u execution%s", 'A' + s,
			      is_fleet ? c->profile[c->side[s].first].trace : args->side[s],
			      is_fleet && c->side[s].nr > 1 ? " and others" : "", samples, runs,
			      runs == 1 ? "" : "s");
	}
}

#define ONE_PROGRAM 0.5 /* share of lines that both sides have; with less on both, they may be of different programs */

/* Return the share of a side's samples in lines that both sides have. */
static double share_of_both(const struct change *x, uint32_t nr, int side)
{
	double both = 0;

	for (uint32_t i = 0; i < nr; i++)
		both += x[i].there[0] && x[i].there[1] && x[i].share[0] > 0 && x[i].share[1] > 0 ? x[i].share[side] : 0;
	return both;
}

/* Are the names those of one program, but for the version at their ends, as of python3.11 and python3.12? */
static bool have_one_stem(const char *a, const char *b)
{
	size_t bytes[2] = { strlen(a), strlen(b) };

	while (bytes[0] > 0 && strchr("0123456789.-", a[bytes[0] - 1]))
		bytes[0]--;
	while (bytes[1] > 0 && strchr("0123456789.-", b[bytes[1] - 1]))
		bytes[1]--;
	return bytes[0] == bytes[1] && memcmp(a, b, bytes[0]) == 0;
}

/* Writes a doubt whether both sides are of one program if the programs have other names and little in common. */
static void show_doubt(const struct comparison *c, const struct change *x, uint32_t nr, struct page *page)
{
	const struct profile *a = &c->profile[c->side[0].first], *b = &c->profile[c->side[1].first];
	const double both[2] = { share_of_both(x, nr, 0), share_of_both(x, nr, 1) };
	char name[2][80];

	if (!a->program || !b->program || !(a->samples > 0) || !(b->samples > 0) ||
	    have_one_stem(a->program, b->program) || both[0] >= ONE_PROGRAM || both[1] >= ONE_PROGRAM)
		return;
	page_sentence(page, "Are these the same program? Lines of both have %.1f %% of A (%s) and %.1f %% of B (%s).",
		      grid_percent(both[0]), page_cut_name(page, a->program, NAME_COLUMNS / 2, name[0], sizeof(name[0])),
		      grid_percent(both[1]),
		      page_cut_name(page, b->program, NAME_COLUMNS / 2, name[1], sizeof(name[1])));
}

struct growth {
	double share, chance; /* growth of the mean from A to B, and the largest growth that chance explains, as parts of the mean of A */
	bool assumed;
};

static struct growth growth_of(const struct comparison *c, struct estimate a, struct estimate b)
{
	struct estimate d = stats_difference(a, b);
	struct growth g = { a.mean > 0 ? d.mean / a.mean : 0, a.mean > 0 && d.df > 0 ? stats_t_quantile(d.df, 0.05) * d.error / a.mean : 0,
			    false };

	if ((c->side[0].nr == 1 || c->side[1].nr == 1) && g.chance < CHANGE_NOISE_TIME) {
		g.chance = CHANGE_NOISE_TIME;
		g.assumed = true;
	}
	return g;
}

/*
 * Shows how the time per execution by the clock grew if the host marks executions on both sides, or else how the total grew. Returns true
 * if --fail-above was given, both sides have the same event, and the cost of an execution grew significantly by more than it. The cost is
 * used because the time by the clock also grows when the machine is busy.
 */
static bool show_total(const struct arguments *args, const struct comparison *c, struct page *page)
{
	struct estimate a = change_duration(c, &c->side[0]), b = change_duration(c, &c->side[1]);
	const struct estimate cost_a = change_line_cost(c, &c->side[0], MATCH_NOT), cost_b = change_line_cost(c, &c->side[1], MATCH_NOT);
	const struct growth cost = growth_of(c, cost_a, cost_b);
	const char *what = "Time per execution";
	bool is_time = true;
	struct growth g;
	char x[16], y[16];

	if (!(a.mean > 0) || !(b.mean > 0)) {
		a = cost_a;
		b = cost_b;
		is_time = weight_unit_parse(c->profile[0].unit) == WEIGHT_NS;
		what = "Total";
	}
	g = growth_of(c, a, b);
	page_fact_number(page, "whole_a", a.mean);
	page_fact_number(page, "whole_b", b.mean);
	page_fact_number(page, "whole_change", g.share);
	page_fact_number(page, "whole_chance", g.chance);
	if (is_time)
		page_sentence(page, "%s: %s in A, %s in B: %+.1f %% +- %.1f%s", what, grid_duration(a.mean, x),
			      grid_duration(b.mean, y), 100 * g.share, 100 * g.chance, g.assumed ? " (assumed)" : "");
	else
		page_sentence(page, "%s %s: %s in A, %s in B: %+.1f %% +- %.1f%s", what, c->profile[0].unit,
			      grid_short_number(a.mean, x), grid_short_number(b.mean, y), 100 * g.share, 100 * g.chance,
			      g.assumed ? " (assumed)" : "");
	return args->fail_above >= 0 && c->same_unit && cost.share - cost.chance > args->fail_above;
}

/*
 * Writes the confidence and the sources of the margins as facts. If `sentences` is set and any line was tested, also explains the columns
 * and names the sources of error in sentences.
 */
static void show_error_sources(const struct comparison *c, bool sentences, struct page *page)
{
	static const struct {
		const char *word, *sentence;
	} from[] = {
		[NOISE_IS_ASSUMED] = { "assumed", "%.3g %% of a line (assumed: one trace per side cannot show it; see --between-runs)" },
		[NOISE_IS_GIVEN] = { "given", "%.3g %% of a line (given by --between-runs)" },
		[NOISE_FROM_SEGMENTS] = { "stretches", "%.3g %% of a line (estimated from the variation within one of the traces; see "
					   "--between-runs)" },
		[NOISE_FROM_TRACES] = { "traces", "%.3g %% of a line (measured between the traces of a side)" },
	};
	bool executions = true;
	char between[160];

	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < c->side[s].nr; i++)
			executions &= c->profile[c->side[s].first + i].nr_runs >= NOISE_RUNS_MIN;
	page_fact_number(page, "confidence", CHANGE_CONFIDENCE);
	page_fact_number(page, "lines_asked", c->nr_tested);
	page_fact_number(page, "smallest_share", CHANGE_SHARE_MIN);
	page_fact_number(page, "between_runs", c->noise.between);
	page_fact(page, "between_runs_from", from[c->noise.source].word);
	if (!c->nr_tested || !sentences)
		return;
	if (c->noise.source == NOISE_FROM_TRACES && c->noise.between < 0.0005)
		snprintf(between, sizeof(between), "none (the traces of a side differ by sampling error only)");
	else
		snprintf(between, sizeof(between), from[c->noise.source].sentence, 100 * c->noise.between);
	page_sentence(page, "change%%: change of the cost of a line, relative to the lines that did not change. +-: the smallest "
		      "significant change (%.0f %% confidence for all %u lines together).", 100 * CHANGE_CONFIDENCE, c->nr_tested);
	page_sentence(page, "Sources of error: sampling%s; run-to-run variation, %s.",
		      executions ? ", or variation between executions if larger" : "", between);
}

#define MOSTLY 0.9 /* part of the unchanged lines that makes one of them stand for all */

/* Return the name of a change's line, cut as tables cut names. */
static const char *name_in_sentence(const struct comparison *c, const struct change *x, const struct page *page, char name[160])
{
	return page_cut_name(page, match_first_entry(&c->match, c->profile, x->line)->label, NAME_COLUMNS, name, 160);
}

/*
 * Changes are relative to the unchanged lines. If these are nearly one line, writes that this one may have changed instead. If a loop calls
 * two functions, their shares are the same whether one of them grew or the other one shrank.
 */
static void show_other_reading(const struct comparison *c, const struct change *x, uint32_t nr, struct page *page)
{
	const struct change *rest = NULL, *changed = NULL;
	double unchanged = 0;
	char name[160], other[160];

	for (uint32_t i = 0; i < nr; i++) {
		if (x[i].significant) {
			changed = !changed || fabs(x[i].growth) > fabs(changed->growth) ? &x[i] : changed;
			continue;
		}
		unchanged += x[i].share[0] + x[i].share[1];
		rest = !rest || x[i].share[0] + x[i].share[1] > rest->share[0] + rest->share[1] ? &x[i] : rest;
	}
	if (!changed || !rest || rest->share[0] + rest->share[1] < MOSTLY * unchanged || !isfinite(changed->change) ||
	    changed->change <= -1)
		return;
	page_sentence(page, "What did not change is mainly %s: as well, it may have changed by %+.1f %%, and %s may not.",
		      name_in_sentence(c, rest, page, name), 100 * (1 / (1 + changed->change) - 1),
		      name_in_sentence(c, changed, page, other));
}

/*
 * If no change is significant, writes the smallest change of the largest tested line that would be, unless no tested line has a finite
 * margin. Without --all, also writes how many lines are not shown, if there are any.
 */
static void show_omitted(const struct arguments *args, const struct comparison *c, const struct change *x, uint32_t nr, uint32_t shown,
			 uint32_t small, struct page *page)
{
	const struct change *largest = NULL;
	uint32_t listed = 0;
	char name[160];

	for (uint32_t i = 0; i < nr; i++) {
		listed += x[i].significant;
		if (!x[i].tested || !isfinite(x[i].margin))
			continue;
		if (!largest || x[i].share[0] + x[i].share[1] > largest->share[0] + largest->share[1])
			largest = &x[i];
	}
	if (!listed && largest)
		page_sentence(page, "Smallest significant change of the largest line, %s: %.1f %%.",
			      name_in_sentence(c, largest, page, name), 100 * largest->margin);
	if (shown < nr && !args->all)
		page_sentence(page, "Not shown: %u line%s without a significant change, and %u with less than %.1f %% of each side; use "
			      "--all to show them%s.", nr - shown - small, nr - shown - small == 1 ? "" : "s", small,
			      100 * CHANGE_SHARE_MIN, c->side[0].nr == 1 || c->side[1].nr == 1 ?
			      ", or several traces per side, separated by commas, to detect smaller changes" : "");
}

static int show_changes(const struct arguments *args, const struct comparison *c, struct change *x, uint32_t nr, bool are_programs)
{
	bool formula = args->expression != NULL, failed;
	struct page page;
	struct diff_columns k;
	struct grid *g;
	uint32_t shown = 0, small = 0, significant = 0, alike = 0;

	if (page_start(&page, &args->page))
		return CMD_FAILED;
	page.top = args->page.top;
	show_sides(args, c, &page);
	failed = show_total(args, c, &page);
	show_doubt(c, x, nr, &page);
	compare_show_leading(are_programs, &page);
	if (!c->same_unit)
		page_sentence(&page, "The events differ (%s and %s): only shares are comparable.", c->profile[c->side[0].first].event,
			      c->profile[c->side[1].first].event);
	compare_show_plans(args->side, &args->trace, &page);
	g = grid_create("changes", formula ? "Lines by %s (a, b: cost per execution)" : args->all ? "Changes" : "Significant changes",
			formula ? args->expression : "");
	k = add_diff_columns(g, args, c, formula);
	for (uint32_t i = 0; i < nr; i++) {
		significant += x[i].significant;
		bool has_any = x[i].samples[0] + x[i].samples[1] > 0 || (formula && x[i].executions[0] + x[i].executions[1] > 0);

		if (!has_any || (!formula && !args->all && !x[i].significant)) {
			small += !x[i].tested;
			continue;
		}
		add_change(g, &k, c, &x[i]);
		shown++;
		alike += x[i].there[0] && x[i].there[1] && match_is_alike(&c->match, c->profile, x[i].line);
		failed |= args->fail_above >= 0 && x[i].significant && c->same_unit && x[i].growth > args->fail_above;
	}
	page_fact_number(&page, "significant", significant);
	grid_show(g, &page);
	if (alike)
		page_sentence(&page, "alike: the name in B differs in numbers, addresses, places, folders or a "
			      "compiler's marks (--json has it).");
	if (!formula)
		show_other_reading(c, x, nr, &page);
	if (!formula)
		show_omitted(args, c, x, nr, shown, small, &page);
	show_error_sources(c, !formula, &page);
	if (failed)
		page_sentence(&page, "Failed: the cost grew by more than %.3g %% (--fail-above).", 100 * args->fail_above);
	return page_finish(&page, failed ? CMD_DIFFERENT : CMD_DONE);
}

/* List the sources of one side behind those that are there. list: the text with commas, which is changed. */
static int list_side(char *list, struct side *side, const char **source, uint32_t *nr)
{
	side->first = *nr;
	for (char *path = asked_next_source(&list); path; path = asked_next_source(&list)) {
		if (side->nr == CHANGE_TRACES_MAX) {
			message_print("at most %d traces per side can be given", CHANGE_TRACES_MAX);
			return CMD_MISUSED;
		}
		source[(*nr)++] = path;
		side->nr++;
	}
	return CMD_DONE;
}

/* Read all sources of both sides, of the view that leads in all of them if the user chose none. */
static int read_sides(struct arguments *args, struct comparison *c, bool *whole, bool *are_programs)
{
	char *list[2] = { strdup(args->side[0]), strdup(args->side[1]) };
	const char *source[2 * CHANGE_TRACES_MAX];
	uint32_t nr = 0;
	int status = list[0] && list[1] ? CMD_DONE : CMD_FAILED;

	if (status)
		message_print("no memory for the list of traces");
	for (int s = 0; s < 2 && status == CMD_DONE; s++)
		status = list_side(list[s], &c->side[s], source, &nr);
	if (status == CMD_DONE)
		status = compare_choose_view(&args->trace, source, nr);
	if (status == CMD_DONE)
		status = compare_read_profiles(source, nr, &args->trace, !args->no_inline, c->profile, whole, are_programs);
	free(list[0]);
	free(list[1]);
	if (status)
		return status;
	c->same_unit = strcmp(c->profile[0].event, c->profile[c->side[1].first].event) == 0;
	return compare_match_profiles(c->profile, nr, &c->match);
}

static int compare_sides(struct arguments *args, struct comparison *c)
{
	struct diag d = { "" };
	struct change *x;
	uint32_t nr;
	bool whole = true, are_programs = false;
	int status = read_sides(args, c, &whole, &are_programs);

	if (status)
		return status;
	nr = c->match.nr;
	x = calloc((size_t)nr + 1, sizeof(*x));
	if (!x)
		return CMD_FAILED;
	for (uint32_t i = 0; i < nr; i++)
		x[i].line = i;
	c->given = args->between;
	if (change_test_lines(c, x, nr)) {
		message_print("out of memory");
		free(x);
		return CMD_FAILED;
	}
	if (args->expression && change_evaluate(args->expression, x, nr, &d)) {
		message_print("--expr '%s': %s", args->expression, d.text);
		status = CMD_MISUSED;
	}
	qsort(x, nr, sizeof(*x), args->expression ? compare_formula_results : compare_changes);
	if (status == CMD_DONE)
		status = show_changes(args, c, x, nr, are_programs);
	if (!whole && status != CMD_MISUSED) /* a damaged trace is a failure even if the readable part's cost grew (CMD_DIFFERENT) */
		status = CMD_FAILED;
	free(x);
	return status;
}

int compare_run_diff(int argc, char **argv, bool is_db)
{
	const struct argp_child children[] = { { is_db ? &asked_argp : &reading_argp, 0, "", 10 }, { &page_argp, 0, NULL, 0 },
					       { &confine_argp, 0, NULL, 0 }, { 0 } };
	const struct argp argp = {
		options,
		parse_diff_option,
		is_db ? "STORE[@WINDOW] STORE[@WINDOW]" : "TRACE_A[,TRACE_A...] TRACE_B[,TRACE_B...]\n--methods TRACE",
		"Show the significant changes from trace A to trace B by operator (or by --level LEVEL, or --level function): shares, cost "
		"per execution, and the change of the cost relative to the lines that did not change.  (A share also falls when another "
		"line grows, and time also grows when the machine is busy.)  Use several traces per side, separated by commas, to measure "
		"the run-to-run variation: three traces of one second detect a change of 5 % of a large line.\n\n"
		"With --methods: the share of each component by tag and by call stack alone, with 95 % confidence intervals, and the "
		"number of samples on which both agree.\v"
		"Exit status: 0 done; 1 failure; 2 usage error; 3 the cost grew by more than --fail-above.\n\n"
		"Example: tailor diff --fail-above 5% a1.tlr,a2.tlr,a3.tlr b1.tlr,b2.tlr,b3.tlr",
		children,
		NULL,
		NULL
	};
	struct arguments args = { .page.top = -1, .fail_above = -1, .between = -1 };
	struct comparison *c = calloc(1, sizeof(*c));
	int status;

	args.trace.asked = is_db ? &args.asked : NULL;
	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args.page.csv_folder));
	if (args.methods) {
		free(c);
		return diff_methods(args.side[0], args.trace.level, &args.page);
	}
	if (!c)
		return CMD_FAILED;
	args.page.top = args.page.top < 0 ? 10 : args.page.top;
	status = compare_sides(&args, c);
	match_fini(&c->match);
	for (uint32_t i = 0; i < 2 * CHANGE_TRACES_MAX; i++)
		profile_fini(&c->profile[i]);
	free(c);
	return status;
}

static int run_diff(int argc, char **argv)
{
	return compare_run_diff(argc, argv, false);
}

const struct cmd cmd_diff = { "diff", "show the significant changes between two traces", run_diff };
