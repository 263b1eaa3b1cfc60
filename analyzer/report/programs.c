/* SPDX-License-Identifier: MIT */
#include "analyzer/report/programs.h"

#include <stdlib.h>
#include <string.h>

struct program {
	const char *path; /* of the executable, or the process's name */
	uint32_t processes;
	struct group_sum sum;
};

static const char *path_of_process(const struct process *p)
{
	return p->executable && *p->executable ? p->executable : p->comm ? p->comm : "";
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct program *)a)->path, ((const struct program *)b)->path);
}

static int compare_sums(const void *a, const void *b, void *report)
{
	const struct program *x = a, *y = b;
	double of_x = report_measure(report, &x->sum), of_y = report_measure(report, &y->sum);

	return of_x < of_y ? 1 : of_x > of_y ? -1 : strcmp(x->path, y->path);
}

/* One for each path; returns how many. */
static uint32_t merge_programs(struct program *list, uint32_t nr)
{
	uint32_t to = 0;

	if (nr)
		qsort(list, nr, sizeof(*list), compare_paths);
	for (uint32_t i = 1; i < nr; i++)
		if (strcmp(list[to].path, list[i].path) == 0) {
			list[to].processes += list[i].processes;
			group_sum_add(&list[to].sum, &list[i].sum);
		} else {
			list[++to] = list[i];
		}
	return nr ? to + 1 : 0;
}

void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p)
{
	struct grid *g = grid_create(NULL, "Programs");
	int share = grid_column(g, "share", "", CELL_SHARE, 0, 0), samples = grid_column(g, "samples", "", CELL_COUNT, GRID_REST, 0);
	int name = grid_column(g, "name", "", CELL_TEXT, 0, 0);
	struct program *list = calloc((size_t)by_process->g.nr + 1, sizeof(*list));
	uint32_t nr = 0;
	char text[512], cut[256];

	grid_place(g, share, 0, 8);
	grid_place(g, samples, 0, 10);
	grid_place(g, name, 2, BRIEF_COLUMNS(p));
	grid_set_total(g, share, report_measure(r, &by_process->g.total));
	for (uint32_t i = 0; list && i < by_process->g.nr; i++)
		if (by_process->g.sum[i].samples > 0)
			list[nr++] = (struct program){ path_of_process(r->model->numbered[report_value(by_process, i, 0)]), 1,
						       by_process->g.sum[i] };
	nr = merge_programs(list, nr);
	if (nr)
		qsort_r(list, nr, sizeof(*list), compare_sums, r);
	for (uint32_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, share, report_measure(r, &list[i].sum));
		grid_set(g, samples, list[i].sum.samples);
		snprintf(text, sizeof(text), "%s  (%u process%s)", page_cut_name(p, list[i].path, 40, cut, sizeof(cut)), list[i].processes,
			 list[i].processes == 1 ? "" : "es");
		grid_set_text(g, name, text);
	}
	free(list);
	grid_show(g, p);
}
