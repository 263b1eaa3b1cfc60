/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/code_queries.h"

#include <stdlib.h>
#include <string.h>

#define COMPILE "compile" /* text in the names of marks that are time spent on generating code */

double code_mark_ns(const struct report *r, const struct mark *k)
{
	uint64_t end_ns = k->end_ns == UINT64_MAX ? r->a->last_ns : k->end_ns;

	return end_ns > k->begin_ns ? (double)(end_ns - k->begin_ns) : 0;
}

bool code_mark_is_compiling(const struct mark *k)
{
	return strstr(k->name, COMPILE) != NULL;
}

bool code_mark_is_run(const struct report *r, const struct mark *k)
{
	return strcmp(k->name, filter_phase(&r->filter)) == 0;
}

/* A query, script or function is the text of marks of a process. The numbers of these marks and their times (ns) are summed up. */
struct query {
	uint32_t process;
	const char *text;
	double compiles, compile_ns, runs, run_ns;
};

static int compare_query_texts(const void *a, const void *b)
{
	const struct query *x = a, *y = b;
	int c = strcmp(x->text, y->text);

	return x->process != y->process ? (x->process < y->process ? -1 : 1) : c;
}

static int compare_compile_times(const void *a, const void *b)
{
	const struct query *x = a, *y = b;

	return x->compile_ns < y->compile_ns ? 1 : x->compile_ns > y->compile_ns ? -1 : compare_query_texts(a, b);
}

static uint32_t make_queries(const struct report *r, struct query *q)
{
	const struct model *m = r->model;
	uint32_t n = 0, nr = 0;

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		double ns = code_mark_ns(r, k);

		if (!k->name || !k->text || !*k->text)
			continue;
		if (code_mark_is_compiling(k))
			q[n++] = (struct query){ k->process, k->text, 1, ns, 0, 0 };
		else if (code_mark_is_run(r, k))
			q[n++] = (struct query){ k->process, k->text, 0, 0, 1, ns };
	}
	if (n)
		qsort(q, n, sizeof(*q), compare_query_texts);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || compare_query_texts(&q[i], &q[nr - 1]) != 0) {
			q[nr++] = q[i];
			continue;
		}
		q[nr - 1].compiles += q[i].compiles;
		q[nr - 1].compile_ns += q[i].compile_ns;
		q[nr - 1].runs += q[i].runs;
		q[nr - 1].run_ns += q[i].run_ns;
	}
	if (nr)
		qsort(q, nr, sizeof(*q), compare_compile_times);
	return nr;
}

void code_show_queries(struct report *r, struct page *p)
{
	struct query *q = malloc(((size_t)r->model->marks.nr + 1) * sizeof(*q));
	uint32_t nr = q ? make_queries(r, q) : 0;
	struct grid *g = grid_create("queries", "Queries by compilation time");
	int compile = grid_column(g, "compile_ns", "compilation", CELL_DURATION, 0, 0);
	int compiles = grid_column(g, "compilations", "count", CELL_COUNT, GRID_REST, 0);
	int run = grid_column(g, "run_ns", "execution", CELL_DURATION, 0, 0);
	int runs = grid_column(g, "runs", "count", CELL_COUNT, GRID_REST, 0);
	int even = grid_column(g, "break_even_runs", "to amortize", CELL_NUMBER, 0, 0);
	int spent = grid_column(g, "compile_share", "of total", CELL_PERCENT, 0, 0);
	int pid = grid_column(g, "process", "", CELL_COUNT, GRID_HIDDEN, 0), text = grid_column(g, "text", "query", CELL_TEXT, 0, 0);

	for (uint32_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, compile, q[i].compile_ns);
		grid_set(g, compiles, q[i].compiles);
		grid_set(g, run, q[i].run_ns);
		grid_set(g, runs, q[i].runs);
		if (q[i].compiles > 0 && q[i].run_ns > 0)
			grid_set(g, even, q[i].compile_ns / q[i].compiles / (q[i].run_ns / q[i].runs));
		if (q[i].compile_ns + q[i].run_ns > 0)
			grid_set(g, spent, q[i].compile_ns / (q[i].compile_ns + q[i].run_ns));
		grid_set(g, pid, r->model->numbered.at[q[i].process]->pid);
		grid_set_text(g, text, q[i].text);
	}
	free(q);
	if (nr)
		grid_show(g, p);
	else
		grid_discard(g);
}
