/* SPDX-License-Identifier: MIT */
/* A grid for people: as wide as the terminal, no line ends in a blank, names are cut and never break it. */
#include "grid_internal.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#define BAR_CELLS 8
#define INTERVAL_WIDTH 11 /* "12.3-45.6 %" */
#define TEXT_MIN 8

void grid_bar(const struct page *p, int tenths, int cells)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int parts = (tenths * cells * 8 + 500) / 1000, cell = 0;

	if (parts > cells * 8)
		parts = cells * 8;
	page_style(p, "36");
	if (p->utf8) {
		for (; cell < parts / 8; cell++)
			fputs("█", p->to);
		if (parts % 8 && cell < cells) {
			fputs(eighths[parts % 8], p->to);
			cell++;
		}
	} else {
		for (; cell < (parts + 4) / 8; cell++)
			fputc('#', p->to);
	}
	page_style(p, "0");
	fprintf(p->to, "%*s", cells - cell, "");
}

/* Number of a cell as text; "" for kinds that draw themselves. */
static const char *to_text(const struct column *c, const struct cell *cell, int tenths, char text[32])
{
	if (!cell->set)
		return cell->blank ? "" : "-";
	switch (c->kind) {
	case CELL_TEXT:
		return cell->text ? cell->text : "";
	case CELL_SHARE:
		snprintf(text, 32, "%d.%d %%", tenths / 10, abs(tenths) % 10);
		break;
	case CELL_COUNT:
		snprintf(text, 32, "%.0f", cell->value);
		break;
	case CELL_NUMBER:
		return grid_short_number(cell->value, text);
	case CELL_DURATION:
		return grid_duration(cell->value, text);
	case CELL_TIMES:
		snprintf(text, 32, cell->value < 9.95 ? "%.1fx" : cell->value < 10000 ? "%.0fx" : "%.0ex", cell->value);
		break;
	case CELL_PERCENT:
		snprintf(text, 32, "%.0f %%", 100 * cell->value);
		break;
	case CELL_POINTS:
		snprintf(text, 32, "%+.1f", 100 * cell->value);
		break;
	case CELL_POINTS_OF:
		snprintf(text, 32, "%.1f", 100 * cell->value);
		break;
	case CELL_HEX:
		snprintf(text, 32, "%#llx", (unsigned long long)cell->value);
		break;
	}
	return text;
}

static const struct cell *cell_at(const struct grid *g, size_t row, int column)
{
	return row < g->shown ? &g->row[row].cell[column] : &g->rest[column];
}

static size_t nr_lines(const struct grid *g)
{
	return g->shown + (g->nr_rows > g->shown);
}

static int tenths_at(const struct column *c, size_t row)
{
	return c->tenths ? c->tenths[row] : 0;
}

/* Which rows, and the sums of the others. */
static void choose_rows(struct grid *g, const struct page *p)
{
	size_t most = p->top > 0 && !g->all_rows ? (size_t)p->top : g->nr_rows;
	bool named = false;

	/* a line for one row would say less than the row */
	g->shown = g->nr_rows <= most + 1 ? g->nr_rows : most;
	for (int c = 0; c < g->nr_columns && g->shown < g->nr_rows; c++) {
		struct column *column = &g->column[c];

		if (column->kind == CELL_TEXT && !(column->flags & (GRID_HIDDEN | GRID_FIXED)) && !named) {
			snprintf(g->rest_text, sizeof(g->rest_text), "(%zu more)", g->nr_rows - g->shown);
			g->rest[c] = (struct cell){ .set = true, .text = g->rest_text };
			named = true;
		} else if (column->kind == CELL_TEXT) {
			g->rest[c] = (struct cell){ .set = true };
		} else if (column->kind == CELL_SHARE || (column->flags & (GRID_REST | GRID_SAMPLES))) {
			for (size_t i = g->shown; i < g->nr_rows; i++) {
				g->rest[c].set |= g->row[i].cell[c].set;
				g->rest[c].value += g->row[i].cell[c].value;
			}
		} else {
			g->rest[c] = (struct cell){ .set = false };
		}
	}
}

/* Tenths that add up, over the rows that programs get too: sums and remarks stand for themselves. */
static void make_tenths(struct grid *g)
{
	size_t nr = nr_lines(g);
	double *values = malloc((nr + 1) * sizeof(*values));

	for (int c = 0; values && c < g->nr_columns; c++) {
		struct column *column = &g->column[c];

		if (column->kind != CELL_SHARE)
			continue;
		column->tenths = calloc(nr + 1, sizeof(*column->tenths));
		if (!column->tenths)
			break;
		for (size_t i = 0; i < nr; i++) {
			const struct cell *cell = cell_at(g, i, c);

			values[i] = cell->set && !(i < g->shown && g->row[i].text_only) ? cell->value : 0;
		}
		summary_tenths(values, nr, column->total, column->tenths);
		for (size_t i = 0; i < g->shown; i++)
			if ((g->row[i].text_only || column->tree) && column->total > 0)
				column->tenths[i] = (int)(g->row[i].cell[c].value * 1000 / column->total + 0.5);
	}
	free(values);
}

static bool is_shown(const struct column *c)
{
	return !(c->flags & GRID_HIDDEN);
}

static void make_widths(struct grid *g, const struct page *p)
{
	int left = p->columns, flexible[COLUMNS_MAX], nr_flexible = 0;
	char text[32];

	for (int i = 0; i < g->nr_columns; i++) {
		struct column *c = &g->column[i];
		int most = c->width, width = page_width(p, c->heading);

		if (!is_shown(c))
			continue;
		if (p->intervals)
			c->flags &= ~GRID_BAR; /* they need its room */
		for (size_t row = 0; row < nr_lines(g); row++) {
			const struct cell *cell = cell_at(g, row, i);
			int w = page_width(p, to_text(c, cell, tenths_at(c, row), text)) + page_width(p, cell->prefix);
			int detail = cell->detail ? page_width(p, cell->detail) + page_width(p, cell->prefix) : 0;

			w = detail > w ? detail : w;
			width = w > width ? w : width;
		}
		if (c->kind == CELL_TEXT) {
			c->width = most && width > most ? most : width;
			if (!(c->flags & GRID_FIXED))
				flexible[nr_flexible++] = i;
		} else {
			c->width = width;
		}
		left -= c->width + 2;
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR))
			left -= BAR_CELLS + 1;
		if (c->kind == CELL_SHARE && p->intervals && g->samples >= 0)
			left -= INTERVAL_WIDTH + 1;
	}
	/* what does not fit is taken from the widest text, a column at a time */
	for (left += 2; left < 0 && nr_flexible; left++) {
		int widest = flexible[0];

		for (int i = 1; i < nr_flexible; i++)
			if (g->column[flexible[i]].width > g->column[widest].width)
				widest = flexible[i];
		if (g->column[widest].width <= TEXT_MIN)
			break;
		g->column[widest].width--;
	}
}

static void put_pad(const struct page *p, int n)
{
	fprintf(p->to, "%*s", n > 0 ? n : 0, "");
}

static void put_interval(const struct grid *g, const struct page *p, size_t row, int c)
{
	double n = 0, low, high;
	const struct cell *samples = cell_at(g, row, g->samples);
	char text[32];

	for (size_t i = 0; i < nr_lines(g); i++)
		if (!(i < g->shown && g->row[i].text_only))
			n += cell_at(g, i, g->samples)->value;
	if (g->column[g->samples].total > n || g->column[c].tree)
		n = g->column[g->samples].total;
	grid_interval(samples->value, n, &low, &high);
	if (cell_at(g, row, c)->set && samples->set && !(row < g->shown && g->row[row].text_only))
		snprintf(text, sizeof(text), "%.1f-%.1f", 100 * low, 100 * high);
	else
		text[0] = 0;
	fprintf(p->to, " %*s", INTERVAL_WIDTH, text);
}

/* Blanks are kept back until something follows them, so that no line ends in one. */
static void put_line(const struct grid *g, const struct page *p, size_t row)
{
	char text[32];
	int pending = 0;
	bool small = g->samples >= 0 && cell_at(g, row, g->samples)->set && cell_at(g, row, g->samples)->value < GRID_SMALL;

	if (small)
		page_style(p, "2");
	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		const struct cell *cell = cell_at(g, row, i);
		const char *shown = to_text(c, cell, tenths_at(c, row), text);
		int used;

		if (!is_shown(c))
			continue;
		if (c->kind == CELL_TEXT) {
			int prefix = page_width(p, cell->prefix), width = c->width - prefix;

			if (prefix || (shown && *shown)) {
				put_pad(p, pending);
				pending = 0;
				if (cell->prefix)
					fputs(cell->prefix, p->to);
				used = prefix + page_put(p, cell->set ? shown : "-", width > 4 ? width : 4);
			} else {
				used = 0;
			}
			pending += c->width - used + 2;
			continue;
		}
		put_pad(p, pending + c->width - page_width(p, shown));
		fputs(shown, p->to);
		pending = 2;
		if (c->kind == CELL_SHARE && p->intervals && g->samples >= 0)
			put_interval(g, p, row, i);
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR)) {
			fputc(' ', p->to);
			if (row < g->shown && g->row[row].text_only)
				put_pad(p, BAR_CELLS);
			else
				grid_bar(p, tenths_at(c, row), BAR_CELLS);
			if (small)
				page_style(p, "2");
		}
	}
	if (small)
		page_style(p, "0");
	fputc('\n', p->to);
}

static void put_details(const struct grid *g, const struct page *p, size_t row)
{
	int at = 0;

	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		const struct cell *cell = cell_at(g, row, i);
		int prefix = page_width(p, cell->prefix);

		if (!is_shown(c))
			continue;
		if (cell->detail && *cell->detail) {
			put_pad(p, at + prefix);
			page_style(p, "2");
			page_put(p, cell->detail, c->width - prefix > 4 ? c->width - prefix : 4);
			page_style(p, "0");
			fputc('\n', p->to);
		}
		at += c->width + 2;
		if (c->kind == CELL_SHARE && p->intervals && g->samples >= 0)
			at += INTERVAL_WIDTH + 1;
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR))
			at += BAR_CELLS + 1;
	}
}

static void put_headings(const struct grid *g, const struct page *p)
{
	int pending = 0, some = 0;

	for (int i = 0; i < g->nr_columns; i++)
		some += is_shown(&g->column[i]) && *g->column[i].heading;
	if (!some)
		return;
	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		int width = page_width(p, c->heading);

		if (!is_shown(c))
			continue;
		if (!width && c->kind == CELL_TEXT) {
			pending += c->width + 2;
			continue;
		}
		put_pad(p, pending + (c->kind == CELL_TEXT ? 0 : c->width - width));
		width = page_put(p, c->heading, c->kind == CELL_TEXT || c->width > width ? c->width : width);
		pending = 2 + (c->kind == CELL_TEXT ? c->width - width : 0);
		if (c->kind == CELL_SHARE && p->intervals && g->samples >= 0)
			fprintf(p->to, " %*s", INTERVAL_WIDTH, "95 %");
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR))
			pending += BAR_CELLS + 1;
	}
	fputc('\n', p->to);
}

void grid_show_text(struct grid *g, const struct page *p)
{
	choose_rows(g, p);
	make_tenths(g);
	make_widths(g, p);
	fputc('\n', p->to);
	page_style(p, "1");
	page_put(p, g->heading, 4096);
	page_style(p, "0");
	fputs(g->nr_rows ? "\n" : ": none\n", p->to);
	if (g->nr_rows)
		put_headings(g, p);
	for (size_t row = 0; row < nr_lines(g); row++) {
		put_line(g, p, row);
		put_details(g, p, row);
	}
}
