/* SPDX-License-Identifier: MIT */
/* functions: where the instructions were, by function, with the share of all functions down to each. */
#include "view.h"

#include <string.h>

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, 0, TABLE_FUNCTION, TABLE_EVENT, -1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Beside its image: a symbol, where code without one begins, or that there is nothing to tell. */
static const char *name_of(const struct function *f)
{
	const char *offset = f->symbol || f->unknown || f->name[0] == '[' ? NULL : strrchr(f->name, '+');

	if (f->symbol || f->unknown || f->name[0] == '[')
		return f->name;
	return offset && strncmp(offset, "+0x", 3) == 0 ? offset : "(no symbol)";
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	struct grid *g = grid_create("functions", "Functions");
	struct split s;

	if (split_make(r, v->group[0], &s)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		double total = report_measure(r, &s.total[r->event]), before = 0;
		int cumulative = grid_column(g, "cumulative", "sum", CELL_PERCENT, 0, 0);
		int name = grid_column(g, "name", "function", CELL_TEXT, 0, 0);
		int image = grid_column(g, "image", "image", CELL_TEXT, 0, 20);
		int path = grid_column(g, "path", "", CELL_TEXT, GRID_HIDDEN, 0);
		int generated = grid_column(g, "generated", "", CELL_COUNT, GRID_HIDDEN, 0);
		int symbol = grid_column(g, "symbol", "", CELL_COUNT, GRID_HIDDEN, 0);

		for (uint32_t i = 0; i < s.nr_order; i++) {
			const struct function *f = &r->a->function[s.order[i]];

			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			before += report_measure(r, &s.sum[r->event][s.order[i]]);
			grid_set(g, cumulative, total > 0 ? before / total : 0);
			grid_set_text(g, name, name_of(f));
			grid_set_text(g, image, base_name(r->a->image[f->image].path));
			grid_set_text(g, path, r->a->image[f->image].path);
			grid_set(g, generated, f->jit);
			grid_set(g, symbol, f->symbol);
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

const struct view view_functions = { "functions", "where the instructions were, by function, the kernel's too", prepare, show };
