/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/programs.h"

#include "analyzer/leading/command_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	snprintf(text, COMMAND_LABEL_BYTES, "%s", process_program(p));
	return true;
}

static uint32_t list_by_name(const struct report *r, const struct report_group *by_process, write_name *name, const void *context,
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

void programs_free(struct program *list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		free(list[i].name);
	free(list);
}

uint32_t programs_list(const struct report *r, const struct report_group *by_process, struct program **list)
{
	return list_by_name(r, by_process, write_path, NULL, list);
}

uint32_t programs_count(const struct report *r, const struct report_group *by_process)
{
	struct program *list;
	uint32_t nr = programs_list(r, by_process, &list);

	programs_free(list, nr);
	return nr;
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

uint32_t programs_list_command_lines(const struct report *r, const struct report_group *by_process, bool utf8, struct program **list)
{
	struct labelling l = { .utf8 = utf8 };
	uint32_t nr;

	*list = NULL;
	nr = command_words_make(&l.words, r->model) ? list_by_name(r, by_process, write_command_line, &l, list) : 0;
	command_words_fini(&l.words);
	return nr;
}
