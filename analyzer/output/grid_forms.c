/* SPDX-License-Identifier: MIT */
/* Writes a grid for programs, as JSON or CSV, with all rows and columns except those that only text shows. */
#include "analyzer/output/escape.h"
#include "analyzer/output/grid_internal.h"
#include "analyzer/output/page_json.h"

#include <math.h>
#include <string.h>

static double number_of_cell(const struct column *c, const struct cell *cell)
{
	return c->kind != CELL_SHARE ? cell->value : c->total > 0 ? cell->value / c->total : 0;
}

void grid_show_json(const struct grid *g, struct page *p)
{
	double all = g->samples >= 0 ? grid_all_samples(g) : 0;
	char key[256];

	page_json_table(p->json, g->name);
	for (size_t i = 0; i < g->rows.nr; i++) {
		void *row = g->rows.at[i].text_only ? NULL : page_json_row(p->json, g->name);

		for (int n = 0; row && n < g->nr_columns; n++) {
			const struct column *c = &g->column[n];
			const struct cell *cell = &g->rows.at[i].cell[n];

			if (c->flags & GRID_TEXT_ONLY)
				continue;
			if (!cell->set)
				page_json_cell_null(row, c->key);
			else if (c->kind == CELL_TEXT)
				page_json_cell_text(row, c->key, cell->text);
			else if (c->kind == CELL_HEX)
				page_json_cell_address(row, c->key, cell->address);
			else
				page_json_cell_number(row, c->key, number_of_cell(c, cell));
			if (cell->detail) {
				snprintf(key, sizeof(key), "%s_detail", c->key);
				page_json_cell_text(row, key, cell->detail);
			}
			if (grid_has_interval(g, p, n) && cell->set) {
				double low, high;

				grid_cell_interval(g, g->rows.at[i].cell, n, all, &low, &high);
				snprintf(key, sizeof(key), "%s_low", c->key);
				page_json_cell_number(row, key, low);
				snprintf(key, sizeof(key), "%s_high", c->key);
				page_json_cell_number(row, key, high);
			}
		}
	}
}

/* Write a key with a suffix. Keys of letters, digits and _-.:/ are written as they are. Others, and those that begin with -, are quoted,
 * because the name of an event may contain anything. */
static void put_key(FILE *to, const char *key, const char *suffix)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s", key, suffix);
	if (text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/")] || *text == '-')
		escape_csv(to, text);
	else
		fputs(text, to);
}

/* Write a number. Whole numbers below 9e15, such as counts and times, are written to their last digit. */
static void put_csv_number(FILE *to, double v)
{
	fprintf(to, fabs(v) < 9e15 && v == trunc(v) ? "%.0f" : "%.10g", v);
}

static void put_csv_interval(const struct grid *g, const struct page *p, size_t row, int column, double all)
{
	double low, high;

	if (!g->rows.at[row].cell[column].set) {
		fputs(",,", p->to);
		return;
	}
	grid_cell_interval(g, g->rows.at[row].cell, column, all, &low, &high);
	fprintf(p->to, ",%.10g,%.10g", low, high);
}

void grid_show_csv(const struct grid *g, struct page *p)
{
	double all = g->samples >= 0 ? grid_all_samples(g) : 0;
	bool first = true;

	if (p->begun)
		fputc('\n', p->to);
	p->begun = true;
	for (int n = 0; n < g->nr_columns; n++) {
		if (g->column[n].flags & GRID_TEXT_ONLY)
			continue;
		if (!first)
			fputc(',', p->to);
		put_key(p->to, g->column[n].key, "");
		if (grid_has_interval(g, p, n)) {
			fputc(',', p->to);
			put_key(p->to, g->column[n].key, "_low");
			fputc(',', p->to);
			put_key(p->to, g->column[n].key, "_high");
		}
		first = false;
	}
	fputc('\n', p->to);
	for (size_t i = 0; i < g->rows.nr; i++) {
		if (g->rows.at[i].text_only)
			continue;
		first = true;
		for (int n = 0; n < g->nr_columns; n++) {
			const struct column *c = &g->column[n];
			const struct cell *cell = &g->rows.at[i].cell[n];

			if (c->flags & GRID_TEXT_ONLY)
				continue;
			if (!first)
				fputc(',', p->to);
			first = false;
			if (cell->set && c->kind == CELL_TEXT)
				escape_csv(p->to, cell->text ? cell->text : "");
			else if (c->kind == CELL_HEX && cell->set)
				fprintf(p->to, "%llu", (unsigned long long)cell->address);
			else if (cell->set)
				put_csv_number(p->to, number_of_cell(c, cell));
			if (grid_has_interval(g, p, n))
				put_csv_interval(g, p, i, n, all);
		}
		fputc('\n', p->to);
	}
}
