/* SPDX-License-Identifier: MIT */
/* processes: one line a program in a process; exec makes a new one with the same number. */
#include "view.h"

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, 0, TABLE_PROCESS, TABLE_EVENT, -1);
}

static void columns(struct grid *g, int column[4])
{
	column[0] = grid_column(g, "pid", "pid", CELL_COUNT, 0, 0);
	column[1] = grid_column(g, "parent", "parent", CELL_COUNT, 0, 0);
	column[2] = grid_column(g, "comm", "name", CELL_TEXT, 0, 16);
	column[3] = grid_column(g, "executable", "executable", CELL_TEXT, 0, 0);
}

static void cells(const struct report *r, struct grid *g, const int column[4], uint32_t i)
{
	const struct process *p = r->model->numbered[i];

	grid_set(g, column[0], p->pid);
	if (p->parent)
		grid_set(g, column[1], p->parent->pid);
	grid_set_text(g, column[2], p->comm);
	grid_set_text(g, column[3], p->executable);
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	view_simple(r, v->group[0], p, "processes", "Processes", columns, cells);
}

const struct view view_processes = { "processes", "one line a program in a process", prepare, show };
