/* SPDX-License-Identifier: MIT */
/* A grid for programs: all rows and all columns, as JSON or CSV. */
#include "grid_internal.h"
#include "page_json.h"

static double number_of(const struct column *c, const struct cell *cell)
{
	return c->kind != CELL_SHARE ? cell->value : c->total > 0 ? cell->value / c->total : 0;
}

void grid_show_json(const struct grid *g, struct page *p)
{
	char key[64];

	page_json_table(p->json, g->name);
	for (size_t i = 0; i < g->nr_rows; i++) {
		void *row = g->row[i].text_only ? NULL : page_json_row(p->json, g->name);

		for (int n = 0; row && n < g->nr_columns; n++) {
			const struct column *c = &g->column[n];
			const struct cell *cell = &g->row[i].cell[n];

			if (c->flags & GRID_TEXT_ONLY)
				continue;
			if (!cell->set)
				page_json_cell_null(row, c->key);
			else if (c->kind == CELL_TEXT)
				page_json_cell_text(row, c->key, cell->text);
			else
				page_json_cell_number(row, c->key, number_of(c, cell));
			if (cell->detail) {
				snprintf(key, sizeof(key), "%s_detail", c->key);
				page_json_cell_text(row, key, cell->detail);
			}
			if (c->kind == CELL_SHARE && p->intervals && g->samples >= 0 && cell->set) {
				double low, high, of = g->column[g->samples].total;

				grid_interval(g->row[i].cell[g->samples].value, of, &low, &high);
				snprintf(key, sizeof(key), "%s_low", c->key);
				page_json_cell_number(row, key, low);
				snprintf(key, sizeof(key), "%s_high", c->key);
				page_json_cell_number(row, key, high);
			}
		}
	}
}

void page_put_csv(FILE *to, const char *text)
{
	fputc('"', to);
	if (*text == '=' || *text == '+' || *text == '-' || *text == '@')
		fputc('\'', to);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, to);
	}
	fputc('"', to);
}

void grid_show_csv(const struct grid *g, struct page *p)
{
	bool first = true;

	if (p->begun)
		fputc('\n', p->to);
	p->begun = true;
	for (int n = 0; n < g->nr_columns; n++) {
		if (g->column[n].flags & GRID_TEXT_ONLY)
			continue;
		fprintf(p->to, "%s%s", first ? "" : ",", g->column[n].key);
		first = false;
	}
	fputc('\n', p->to);
	for (size_t i = 0; i < g->nr_rows; i++) {
		if (g->row[i].text_only)
			continue;
		first = true;
		for (int n = 0; n < g->nr_columns; n++) {
			const struct column *c = &g->column[n];
			const struct cell *cell = &g->row[i].cell[n];

			if (c->flags & GRID_TEXT_ONLY)
				continue;
			if (!first)
				fputc(',', p->to);
			first = false;
			if (!cell->set)
				continue;
			if (c->kind == CELL_TEXT)
				page_put_csv(p->to, cell->text ? cell->text : "");
			else
				fprintf(p->to, "%.10g", number_of(c, cell));
		}
		fputc('\n', p->to);
	}
}
