/* SPDX-License-Identifier: MIT */
/* images: executables and libraries, the kernel, and generated code. */
#include "view.h"

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, 0, TABLE_IMAGE, TABLE_EVENT, -1);
}

static void columns(struct grid *g, int column[4])
{
	column[0] = grid_column(g, "path", "image", CELL_TEXT, 0, 0);
}

static void cells(const struct report *r, struct grid *g, const int column[4], uint32_t i)
{
	grid_set_text(g, column[0], r->a->image[i].path);
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	view_simple(r, v->group[0], p, "images", "Images", columns, cells);
}

const struct view view_images = { "images", "executables, libraries, the kernel, generated code", prepare, show };
