/* SPDX-License-Identifier: MIT */
#include "analyzer/report/show_programs.h"

#include "analyzer/leading/programs.h"

#include <stdio.h>
#include <string.h>

static void show_list(const struct report *r, const struct report_group *by_process, const struct program *list, uint32_t nr,
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

void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p)
{
	struct program *list;
	uint32_t nr = programs_list(r, by_process, &list);

	show_list(r, by_process, list, nr, "Programs", p);
	programs_free(list, nr);
}

void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p)
{
	struct program *list;
	uint32_t nr = programs_list_command_lines(r, by_process, p->utf8, &list);

	if (nr > 1)
		show_list(r, by_process, list, nr, "Command lines", p);
	programs_free(list, nr);
}
