/* SPDX-License-Identifier: MIT */
/* Writes a grid for people, as wide as the terminal. Names that do not fit lose their middle, and a table that does not fit is written in
 * blocks. */
#include "analyzer/output/grid_internal.h"
#include "jitreg/base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define DETAIL_LINES 3 /* full lines to which a cell's detail, which is shown below it, is cut */
#define DETAIL_BYTES 2048
#define INTERVAL_WIDTH 11 /* "12.3-45.6 %" */
#define TEXT_MIN 8
#define TEXT_WANTED 16 /* columns in which names of rows are easily readable */
#define MORE_WANTED 12 /* columns in which other texts are easily readable */
#define TREE_WANTED 16 /* columns that branches in front of names may take while the names still are easily readable */
#define HEADING_MAX 16 /* columns to which the heading of a number may widen its column; a longer one is cut there */

/* Draw a share in tenths of per cent as a bar of at most so many cells, followed by blanks up to that width. */
static void put_bar(const struct page *p, int tenths, int cells)
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

/* Return what a cell shows as text. tenths: the share of a cell of kind CELL_SHARE. */
static const char *cell_to_text(const struct column *c, const struct cell *cell, int tenths, char text[32])
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
		snprintf(text, 32, "%#llx", (unsigned long long)cell->address);
		break;
	}
	return text;
}

static const struct cell *cell_at(const struct grid *g, size_t row, int column)
{
	return row < g->shown ? &g->rows.at[row].cell[column] : &g->rest[column];
}

static size_t count_grid_lines(const struct grid *g)
{
	return g->shown + (g->rows.nr > g->shown);
}

static int tenths_of_row(const struct column *c, size_t row)
{
	return c->tenths ? c->tenths[row] : 0;
}

/* Choose how many rows are shown, and fill in the line for the others. That line has sums for shares that do not overlap, for counts of
 * samples and for columns with GRID_REST, "(N more)" in the first text that may be cut, and no value in the other columns. */
static void choose_rows(struct grid *g, const struct page *p)
{
	size_t most = p->top > 0 && !g->all_rows ? (size_t)p->top : g->rows.nr;
	bool named = false;

	/* A single further row is shown, because a line in its place would say less. */
	g->shown = g->rows.nr <= most + 1 ? g->rows.nr : most;
	for (int c = 0; c < g->nr_columns && g->shown < g->rows.nr; c++) {
		struct column *column = &g->column[c];
		double doubt = 0;

		if (column->kind == CELL_TEXT && !(column->flags & (GRID_HIDDEN | GRID_FIXED)) && !named) {
			snprintf(g->rest_text, sizeof(g->rest_text), "(%zu more)", g->rows.nr - g->shown);
			g->rest[c] = (struct cell){ .set = true, .text = g->rest_text };
			named = true;
		} else if (column->kind == CELL_TEXT) {
			g->rest[c] = (struct cell){ .set = true };
		} else if (column->flags & GRID_OVERLAP) {
			g->rest[c] = (struct cell){ .blank = true };
		} else if (column->kind == CELL_SHARE || (column->flags & (GRID_REST | GRID_SAMPLES))) {
			for (size_t i = g->shown; i < g->rows.nr; i++) {
				g->rest[c].set |= g->rows.at[i].cell[c].set;
				g->rest[c].value += g->rows.at[i].cell[c].value;
				if (g->rows.at[i].cell[c].evidence > 0)
					doubt += g->rows.at[i].cell[c].value / g->rows.at[i].cell[c].evidence;
			}
			if (doubt > 0)
				g->rest[c].evidence = g->rest[c].value / doubt;
		} else {
			g->rest[c] = (struct cell){ .set = false };
		}
	}
}

/* Compute the tenths of per cent of all shares, so that those of the rows that programs get and of the line "(N more)" add up. The shares
 * of sums and remarks, and of trees, are rounded each by itself. */
static void make_share_tenths(struct grid *g)
{
	size_t nr = count_grid_lines(g);
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

			values[i] = cell->set && !(i < g->shown && g->rows.at[i].text_only) ? cell->value : 0;
		}
		grid_round_to_tenths(values, nr, column->total, column->tenths);
		for (size_t i = 0; i < g->shown; i++)
			if ((g->rows.at[i].text_only || column->tree) && column->total > 0)
				column->tenths[i] = grid_tenths(g->rows.at[i].cell[c].value, column->total);
	}
	free(values);
}

static bool column_is_shown(const struct column *c)
{
	return !(c->flags & GRID_HIDDEN);
}

static int frame_width(const struct grid *g, const struct page *p, int column)
{
	const struct column *c = &g->column[column];
	int width = c->kind == CELL_SHARE && (c->flags & GRID_BAR) ? g->bar_cells + 1 : 0;

	return width + (grid_has_interval(g, p, column) ? INTERVAL_WIDTH + 1 : 0);
}

static int int_at_most(int n, int most)
{
	return n < most ? n : most;
}

static void measure_column(struct grid *g, const struct page *p, struct column *c, int n)
{
	int width = page_width(p, c->heading), with_details, branches = 0;
	char text[32];

	if (c->kind != CELL_TEXT && width > HEADING_MAX)
		width = HEADING_MAX;
	with_details = width;
	for (size_t row = 0; row < count_grid_lines(g); row++) {
		const struct cell *cell = cell_at(g, row, n);
		int prefix = page_width(p, cell->prefix), w = page_width(p, cell_to_text(c, cell, tenths_of_row(c, row), text)) + prefix;
		int detail = cell->detail ? page_width(p, cell->detail) + prefix : 0;

		w = prefix && w < prefix + PAGE_NAME_LEAST ? prefix + PAGE_NAME_LEAST : w; /* the branches would be cut otherwise */
		branches = prefix > branches ? prefix : branches;
		width = w > width ? w : width;
		with_details = detail > with_details ? detail : with_details;
	}
	with_details = width > with_details ? width : with_details;
	c->natural = c->kind != CELL_TEXT ? width : c->width && with_details > c->width ? c->width : with_details;
	c->least = c->wanted = c->natural;
	if (c->kind == CELL_TEXT && !(c->flags & GRID_FIXED)) {
		width = width < c->natural ? width : c->natural;
		branches = branches < TREE_WANTED ? branches : TREE_WANTED;
		c->least = int_at_most(TEXT_MIN + branches, width);
		c->wanted = int_at_most(n == g->name_of_row ? TEXT_WANTED + branches : MORE_WANTED, width);
	}
}

static int least_width(const struct grid *g, const struct page *p)
{
	int width = -2;

	for (int i = 0; i < g->nr_columns; i++)
		if (column_is_shown(&g->column[i]))
			width += g->column[i].least + frame_width(g, p, i) + 2;
	return width;
}

/* Distribute the columns over several blocks of lines if they do not fit side by side even with texts at their shortest. Each block repeats
 * the column that names the rows. Bars are left out before that, one after the other. */
static void make_column_blocks(struct grid *g, const struct page *p)
{
	int name, used;

	g->name_of_row = -1;
	g->nr_blocks = 1;
	if (g->placed)
		return;
	for (int i = 0; i < g->nr_columns; i++) {
		struct column *c = &g->column[i];

		c->block = 0;
		if (!column_is_shown(c))
			continue;
		if (g->name_of_row < 0 && c->kind == CELL_TEXT && !(c->flags & GRID_FIXED))
			g->name_of_row = i;
		measure_column(g, p, c, i);
		if (p->intervals)
			c->flags &= ~GRID_BAR; /* intervals take the room that bars would have */
	}
	for (int i = 0; i < g->nr_columns && least_width(g, p) > p->columns; i++)
		g->column[i].flags &= ~GRID_BAR;
	if (least_width(g, p) <= p->columns)
		return;
	used = name = g->name_of_row >= 0 ? g->column[g->name_of_row].wanted + 2 : 0;
	for (int i = 0; i < g->nr_columns; i++) {
		struct column *c = &g->column[i];
		int width = c->wanted + frame_width(g, p, i) + 2;

		if (!column_is_shown(c) || i == g->name_of_row)
			continue;
		if (used > name && used + width > p->columns + 2) {
			g->nr_blocks++;
			used = name;
		}
		used += width;
		c->block = g->nr_blocks - 1;
	}
}

static bool is_in_block(const struct grid *g, int column, int block)
{
	return column_is_shown(&g->column[column]) && (g->column[column].block == block || column == g->name_of_row);
}

static void set_column_widths(struct grid *g, const struct page *p, int block)
{
	int left = p->columns + 2, flexible[COLUMNS_MAX], nr_flexible = 0;

	for (int i = 0; i < g->nr_columns && !g->placed; i++) {
		struct column *c = &g->column[i];

		if (!is_in_block(g, i, block))
			continue;
		c->width = c->natural;
		left -= c->width + frame_width(g, p, i) + 2;
		if (c->kind == CELL_TEXT && !(c->flags & GRID_FIXED))
			flexible[nr_flexible++] = i;
	}
	/* Make the widest text narrower by one, until everything fits or each text has only TEXT_MIN columns. */
	for (; left < 0 && nr_flexible; left++) {
		int widest = flexible[0];

		for (int i = 1; i < nr_flexible; i++)
			if (g->column[flexible[i]].width > g->column[widest].width)
				widest = flexible[i];
		if (g->column[widest].width <= TEXT_MIN)
			break;
		g->column[widest].width--;
	}
}

static void put_blanks(const struct page *p, int n)
{
	fprintf(p->to, "%*s", n > 0 ? n : 0, "");
}

static void put_interval(const struct grid *g, const struct page *p, size_t row, int c)
{
	const struct cell *cells = row < g->shown ? g->rows.at[row].cell : g->rest;
	char text[32] = "";
	double low, high;

	if (cells[c].set && cells[g->samples].set && !(row < g->shown && g->rows.at[row].text_only)) {
		grid_cell_interval(g, cells, c, g->all_samples, &low, &high);
		snprintf(text, sizeof(text), "%.1f-%.1f", 100 * low, 100 * high);
	}
	fprintf(p->to, " %*s", INTERVAL_WIDTH, text);
}

static void put_wrapped_cell(const struct page *p, const char *text, int at)
{
	char *words = strdup(text);

	if (words)
		page_put_words(p, words, at, at);
	free(words);
}

/* Write the line of a row in one block. Blanks behind a text are held back until something follows them, so that no line ends in them. */
static void put_row_line(const struct grid *g, const struct page *p, size_t row, int block)
{
	char text[32];
	int pending = 0, at = 0;
	bool small = g->samples >= 0 && cell_at(g, row, g->samples)->set && cell_at(g, row, g->samples)->value < GRID_SMALL;

	if (small)
		page_style(p, "2");
	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		const struct cell *cell = cell_at(g, row, i);
		const char *shown = cell_to_text(c, cell, tenths_of_row(c, row), text);
		int used;

		if (!is_in_block(g, i, block))
			continue;
		pending += at ? c->gap : 0;
		at += (at ? c->gap : 0) + c->width + frame_width(g, p, i);
		if (c->kind == CELL_TEXT) {
			used = 0;
			if (c->flags & GRID_WRAP) {
				put_blanks(p, pending);
				put_wrapped_cell(p, shown, at - c->width);
				continue;
			}
			if ((cell->prefix && *cell->prefix) || (shown && *shown)) {
				put_blanks(p, pending);
				pending = 0;
				if (c->flags & GRID_DIM)
					page_style(p, "2");
				used = page_put_branches(p, cell->prefix, c->width);
				used += (c->flags & GRID_NAME ? page_put_name : page_put)(p, cell->set ? shown : "-", c->width - used);
				if (c->flags & GRID_DIM && !small)
					page_style(p, "0");
			}
			pending += c->width - used;
			continue;
		}
		put_blanks(p, pending + c->width - page_width(p, shown));
		fputs(shown, p->to);
		pending = 0;
		if (grid_has_interval(g, p, i))
			put_interval(g, p, row, i);
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR)) {
			fputc(' ', p->to);
			if (row < g->shown && (g->rows.at[row].text_only || g->rows.at[row].no_bar))
				put_blanks(p, g->bar_cells);
			else
				put_bar(p, tenths_of_row(c, row), g->bar_cells);
			if (small)
				page_style(p, "2");
		}
	}
	if (small)
		page_style(p, "0");
	fputc('\n', p->to);
}

/* Write the detail of a cell below it, up to the page's right end. It is cut to DETAIL_LINES full lines, and may take more of them because
 * lines break at blanks. at, width: column in which the cell begins, and its width. */
static void put_detail(const struct page *p, const char *detail, int at, int width)
{
	const int columns = p->columns - at > width ? p->columns - at : width;
	char words[DETAIL_BYTES];

	page_cut(p, detail, DETAIL_LINES * columns, words, sizeof(words));
	put_blanks(p, at);
	page_style(p, "2");
	if (p->columns - at >= width)
		page_put_words(p, words, at, at);
	else
		page_put(p, words, width);
	page_style(p, "0");
	fputc('\n', p->to);
}

static void put_details(const struct grid *g, const struct page *p, size_t row)
{
	int at = 0;

	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		const struct cell *cell = cell_at(g, row, i);
		int prefix;

		if (!is_in_block(g, i, 0))
			continue;
		at += at ? c->gap : 0;
		if (cell->detail && *cell->detail) {
			prefix = page_branches_width(p, cell->prefix, c->width);
			put_detail(p, cell->detail, at + prefix, c->width - prefix);
		}
		at += c->width + frame_width(g, p, i);
	}
}

static void put_headings(const struct grid *g, const struct page *p, int block)
{
	int pending = 0, some = 0;
	bool first = true;

	for (int i = 0; i < g->nr_columns; i++)
		some += is_in_block(g, i, block) && *g->column[i].heading;
	if (!some)
		return;
	for (int i = 0; i < g->nr_columns; i++) {
		const struct column *c = &g->column[i];
		int width = page_width(p, c->heading);

		if (!is_in_block(g, i, block))
			continue;
		pending += first ? 0 : c->gap;
		first = false;
		width = width < c->width ? width : c->width;
		if (!width && c->kind == CELL_TEXT) {
			pending += c->width;
			continue;
		}
		put_blanks(p, pending + (c->kind == CELL_TEXT ? 0 : c->width - width));
		width = page_put(p, c->heading, c->width);
		pending = c->kind == CELL_TEXT ? c->width - width : 0;
		if (grid_has_interval(g, p, i))
			fprintf(p->to, " %*s", INTERVAL_WIDTH, "95 %");
		if (c->kind == CELL_SHARE && (c->flags & GRID_BAR))
			pending += g->bar_cells + 1;
	}
	fputc('\n', p->to);
}

void grid_show_text(struct grid *g, struct page *p)
{
	choose_rows(g, p);
	make_share_tenths(g);
	g->all_samples = g->samples >= 0 ? grid_all_samples(g) : 0;
	make_column_blocks(g, p);
	if (p->begun)
		fputc('\n', p->to);
	p->begun = true;
	page_style(p, "1");
	if (g->rows.nr && g->heading) {
		page_put_wrapped(p, g->heading);
		page_style(p, "0");
	} else {
		page_put(p, g->heading, p->columns - (int)sizeof(": none") + 1);
		page_style(p, "0");
		fputs(": none\n", p->to);
	}
	for (int block = 0; block < g->nr_blocks && g->rows.nr; block++) {
		if (block)
			fputc('\n', p->to);
		set_column_widths(g, p, block);
		put_headings(g, p, block);
		for (size_t row = 0; row < count_grid_lines(g); row++) {
			put_row_line(g, p, row, block);
			if (block == 0)
				put_details(g, p, row);
		}
	}
}
