/* SPDX-License-Identifier: MIT */
#include "analyzer/report/programs.h"

#include "analyzer/report/command_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
	char *name; /* path of the executable or name of the process, or label of the command line; on the heap */
	uint32_t processes;
	struct group_sum sum;
};

static const char *path_of_process(const struct process *p)
{
	return p->executable && *p->executable ? p->executable : p->comm ? p->comm : "";
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct program *)a)->name, ((const struct program *)b)->name);
}

static int compare_sums(const void *a, const void *b, void *report)
{
	const struct program *x = a, *y = b;
	double of_x = report_measure(report, &x->sum), of_y = report_measure(report, &y->sum);

	return of_x < of_y ? 1 : of_x > of_y ? -1 : strcmp(x->name, y->name);
}

/* Merge entries of one name. Return how many remain. */
static uint32_t merge_programs(struct program *list, uint32_t nr)
{
	uint32_t to = 0;

	if (nr)
		qsort(list, nr, sizeof(*list), compare_names);
	for (uint32_t i = 1; i < nr; i++)
		if (strcmp(list[to].name, list[i].name) == 0) {
			list[to].processes += list[i].processes;
			free(list[i].name);
			group_sum_add(&list[to].sum, &list[i].sum);
		} else {
			list[++to] = list[i];
		}
	return nr ? to + 1 : 0;
}

/* Write the name by which processes are merged. Return false if the process is to be left out. */
typedef bool write_name(const void *context, const struct process *p, char text[COMMAND_LABEL_BYTES]);

static bool write_path(const void *context, const struct process *p, char text[COMMAND_LABEL_BYTES])
{
	(void)context;
	snprintf(text, COMMAND_LABEL_BYTES, "%s", path_of_process(p));
	return true;
}

/* List the programs, or command lines, that have samples, the largest first. Return how many there are. The caller frees *list with
 * free_programs(). If memory runs out, some are missing. */
static uint32_t list_programs(const struct report *r, const struct report_group *by_process, write_name *name, const void *context,
			      struct program **list)
{
	char text[COMMAND_LABEL_BYTES];
	uint32_t nr = 0;

	*list = calloc((size_t)by_process->g.nr + 1, sizeof(**list));
	for (uint32_t i = 0; *list && i < by_process->g.nr; i++) {
		if (by_process->g.sum[i].samples <= 0 || !name(context, r->model->numbered.at[report_value(by_process, i, 0)], text))
			continue;
		(*list)[nr] = (struct program){ strdup(text), 1, by_process->g.sum[i] };
		nr += (*list)[nr].name != NULL;
	}
	nr = merge_programs(*list, nr);
	if (nr)
		qsort_r(*list, nr, sizeof(**list), compare_sums, (void *)(uintptr_t)r);
	return nr;
}

static void free_programs(struct program *list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		free(list[i].name);
	free(list);
}

static void show_programs(const struct report *r, const struct report_group *by_process, const struct program *list, uint32_t nr,
			  const char *heading, struct page *p)
{
	struct grid *g = grid_create(NULL, "%s", heading);
	const bool is_time = report_weighs(r) == WEIGHT_NS;
	int share = grid_column(g, "share", "", CELL_SHARE, 0, 0);
	int time = grid_column(g, "time", "", is_time ? CELL_DURATION : CELL_COUNT, GRID_REST, 0);
	int name = grid_column(g, "name", "", CELL_TEXT, 0, 0);
	char text[512], cut[256], processes[32];

	grid_place(g, share, 0, 8);
	grid_place(g, time, 0, 10);
	grid_place(g, name, 2, BRIEF_COLUMNS(p));
	grid_set_total(g, share, report_measure(r, &by_process->g.total));
	for (uint32_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, share, report_measure(r, &list[i].sum));
		grid_set(g, time, is_time ? list[i].sum.weight : list[i].sum.samples);
		processes[0] = 0;
		if (list[i].processes > 1)
			snprintf(processes, sizeof(processes), "  (%u processes)", list[i].processes);
		snprintf(text, sizeof(text), "%s%s",
			 page_cut_name(p, list[i].name, BRIEF_COLUMNS(p) - (int)strlen(processes), cut, sizeof(cut)), processes);
		grid_set_text(g, name, text);
	}
	grid_show(g, p);
}

uint32_t programs_count(const struct report *r, const struct report_group *by_process)
{
	struct program *list;
	uint32_t nr = list_programs(r, by_process, write_path, NULL, &list);

	free_programs(list, nr);
	return nr;
}

void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p)
{
	struct program *list;
	uint32_t nr = list_programs(r, by_process, write_path, NULL, &list);

	show_programs(r, by_process, list, nr, "Programs", p);
	free_programs(list, nr);
}

struct labelling {
	struct command_words words;
	bool utf8;
};

static bool write_command_line(const void *context, const struct process *p, char text[COMMAND_LABEL_BYTES])
{
	const struct labelling *l = context;

	if (p->command_line)
		command_words_label(&l->words, p, l->utf8, text);
	return p->command_line != NULL;
}

void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p)
{
	struct labelling l = { .utf8 = p->utf8 };
	struct program *list = NULL;
	uint32_t nr = command_words_make(&l.words, r->model) ? list_programs(r, by_process, write_command_line, &l, &list) : 0;

	if (nr > 1)
		show_programs(r, by_process, list, nr, "Command lines", p);
	free_programs(list, nr);
	command_words_fini(&l.words);
}
