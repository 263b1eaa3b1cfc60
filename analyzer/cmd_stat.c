/* SPDX-License-Identifier: MIT */
/*
 * tailor stat shows the variation between several runs, or between the epochs of a store, line by line, the largest range first, as
 * dcpistats does (J. M. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 3.3).
 */
#include "analyzer/cmd_compare.h"
#include "analyzer/compare/stats.h"
#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/reading/reading_arguments.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TRACES_MAX 256

struct arguments {
	struct reading_arguments trace;
	struct asked_options asked; /* options of `tailor db` */
	struct page_arguments page;
	const char *path[TRACES_MAX];
	uint32_t nr;
};

static error_t parse_stat_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = a->trace.asked ? (void *)&a->asked : &a->trace;
		state->child_inputs[1] = &a->page;
		break;
	case ARGP_KEY_ARG:
		if (a->nr == TRACES_MAX)
			usage_fail(state, "at most %d traces can be given", TRACES_MAX);
		a->path[a->nr++] = arg;
		break;
	case ARGP_KEY_END:
		if (!a->nr || (a->nr < 2 && !a->trace.asked && !asked_is_store(a->path[0])))
			usage_fail(state, "at least two traces, or a window of a store, required");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct spread {
	uint32_t match;
	double range, sum, mean, deviation, smallest, largest; /* statistics of the line's weights; range: as a part of the sum */
	double samples; /* samples in all traces, windows or epochs */
	uint32_t nr; /* number of traces, windows or epochs that have the line */
};

static int compare_ranges(const void *a, const void *b)
{
	const struct spread *x = a, *y = b;

	if (x->range < y->range || x->range > y->range)
		return x->range > y->range ? -1 : 1;
	return x->sum > y->sum ? -1 : x->sum < y->sum;
}

/* The compared sets are the profiles of traces or windows, or the epochs of the one profile if a single window of a store was given. */
struct sets {
	const struct profile *profile;
	const struct match *match;
	uint32_t nr;
	double *v; /* weight of the current line in each of nr sets */
	bool are_epochs;
};

static struct spread spread_of_line(const struct sets *s, uint32_t i)
{
	struct spread l = { .match = i, .smallest = INFINITY };
	struct estimate e;

	for (uint32_t n = 0; n < s->nr; n++) {
		const struct profile_entry *entry = match_entry(s->match, s->profile, i, s->are_epochs ? 0 : n);

		s->v[n] = !entry ? 0 : s->are_epochs ? entry->run[n] : entry->measure;
		l.nr += s->are_epochs ? s->v[n] > 0 : entry != NULL;
		l.samples += entry && (!s->are_epochs || !n) ? entry->samples : 0;
		l.sum += s->v[n];
		l.smallest = s->v[n] < l.smallest ? s->v[n] : l.smallest;
		l.largest = s->v[n] > l.largest ? s->v[n] : l.largest;
	}
	e = stats_mean(s->v, s->nr);
	l.mean = e.mean;
	l.deviation = e.error * sqrt((double)s->nr);
	l.range = l.sum > 0 ? (l.largest - l.smallest) / l.sum : 0;
	return l;
}

static int show_spreads(const struct arguments *a, const struct profile *p, const struct match *m, bool are_programs)
{
	struct sets sets = { .profile = p, .match = m, .nr = m->nr_profiles > 1 ? m->nr_profiles : p->nr_runs,
			     .are_epochs = m->nr_profiles == 1 };
	struct spread *line = calloc((size_t)m->nr + 1, sizeof(*line));
	double all = 0;
	struct page page;
	struct grid *g;
	uint32_t nr = 0;
	bool any_alike = false;
	int c[12];

	sets.v = calloc(sets.nr, sizeof(*sets.v));
	if (!line || !sets.v || page_start(&page, &a->page)) {
		free(line);
		free(sets.v);
		return CMD_FAILED;
	}
	page.top = a->page.top;
	page_fact_number(&page, sets.are_epochs ? "epochs" : "traces", sets.nr);
	compare_show_leading(are_programs, &page);
	for (uint32_t i = 0; i < m->nr; i++) {
		line[nr] = spread_of_line(&sets, i);
		all += line[nr].sum;
		nr += line[nr].sum > 0;
	}
	qsort(line, nr, sizeof(*line), compare_ranges);
	g = grid_create("stat", "Variation between %u %s, largest range first", sets.nr, sets.are_epochs ? "epochs" : "traces");
	c[0] = grid_column(g, "range", "range%", CELL_PERCENT, 0, 0);
	c[10] = grid_column(g, "samples", "samples", CELL_COUNT, 0, 0);
	c[1] = grid_column(g, "sum", "sum", CELL_NUMBER, 0, 0);
	c[2] = grid_column(g, "sum_share", "sum%", CELL_SHARE, 0, 0);
	c[3] = grid_column(g, "n", "N", CELL_COUNT, 0, 0);
	c[4] = grid_column(g, "mean", "mean", CELL_NUMBER, 0, 0);
	c[5] = grid_column(g, "deviation", "std-dev", CELL_NUMBER, 0, 0);
	c[6] = grid_column(g, "min", "min", CELL_NUMBER, 0, 0);
	c[7] = grid_column(g, "max", "max", CELL_NUMBER, 0, 0);
	c[8] = grid_column(g, "name", "name", CELL_TEXT, 0, 0);
	c[9] = grid_column(g, "place", "", CELL_TEXT, GRID_HIDDEN, 0);
	c[11] = grid_column(g, "paired", "", CELL_TEXT, GRID_HIDDEN, 0);
	grid_set_total(g, c[2], all);
	for (uint32_t i = 0; i < nr; i++) {
		const struct profile_entry *e = match_first_entry(m, p, line[i].match);
		bool alike = match_is_alike(m, p, line[i].match);
		char name[300];

		grid_row(g);
		grid_set(g, c[0], line[i].range);
		grid_set(g, c[10], line[i].samples);
		grid_set(g, c[1], line[i].sum);
		grid_set(g, c[2], line[i].sum);
		grid_set(g, c[3], line[i].nr);
		grid_set(g, c[4], line[i].mean);
		grid_set(g, c[5], line[i].deviation);
		grid_set(g, c[6], line[i].smallest);
		grid_set(g, c[7], line[i].largest);
		snprintf(name, sizeof(name), "%s%s", alike ? "alike: " : "", e->label);
		grid_set_text(g, c[8], name);
		grid_set_text(g, c[9], e->path);
		if (line[i].nr > 1)
			grid_set_text(g, c[11], alike ? "alike" : "name");
		any_alike |= alike && (!a->page.top || i < (uint32_t)a->page.top);
	}
	grid_show(g, &page);
	if (any_alike)
		page_sentence(&page, "alike: the names in the traces differ in numbers, addresses, places, folders or a compiler's "
			      "marks.");
	free(line);
	free(sets.v);
	return page_finish(&page, CMD_DONE);
}

int compare_run_stat(int argc, char **argv, bool is_db)
{
	const struct argp_child children[] = { { is_db ? &asked_argp : &reading_argp, 0, "", 10 }, { &page_argp, 0, NULL, 0 },
					       { &confine_argp, 0, NULL, 0 }, { 0 } };
	const struct argp argp = {
		NULL,
		parse_stat_option,
		is_db ? "STORE[@WINDOW]..." : "TRACE TRACE...\nSTORE[@WINDOW]",
		"Show the variation between several traces of one program, by operator (or by --level LEVEL, or --level function): sum, "
		"mean, standard deviation, minimum and maximum of the weights over the traces.  range% is maximum minus minimum, as a "
		"percentage of the sum; the largest range is first.  Of a single window of a store: the variation over its epochs.\v"
		"Example: tailor stat --level pipeline run1.tlr run2.tlr run3.tlr",
		children,
		NULL,
		NULL
	};
	struct arguments args = { .page.top = 10 };
	struct profile *p;
	struct match m = { 0 };
	int status = CMD_DONE;
	bool whole = true, are_programs = false;

	args.trace.asked = is_db ? &args.asked : NULL;
	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args.page.csv_folder));
	p = calloc(args.nr, sizeof(*p));
	if (!p)
		return CMD_FAILED;
	status = compare_choose_view(&args.trace, args.path, args.nr);
	if (status == CMD_DONE)
		status = compare_read_profiles(args.path, args.nr, &args.trace, true, p, &whole, &are_programs);
	if (status == CMD_DONE)
		status = compare_match_profiles(p, args.nr, &m);
	if (status == CMD_DONE)
		status = show_spreads(&args, p, &m, are_programs);
	if (status == CMD_DONE && !whole)
		status = CMD_FAILED;
	match_fini(&m);
	for (uint32_t i = 0; i < args.nr; i++)
		profile_fini(&p[i]);
	free(p);
	return status;
}

static int run_stat(int argc, char **argv)
{
	return compare_run_stat(argc, argv, false);
}

const struct cmd cmd_stat = { "stat", "show the variation between several traces of one program", run_stat };
