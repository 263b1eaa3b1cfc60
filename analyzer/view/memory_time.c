/* SPDX-License-Identifier: MIT */
#include "analyzer/view/memory_time.h"

#include "analyzer/query/lane.h"

#include <stdlib.h>
#include <string.h>

#define PICTURES 3
#define PICTURE_CELLS 64
#define PICTURE_ROWS 8
#define INTERVALS 40
#define WORKING_SETS 6

/* For each page, the number of the last interval in which it was touched, to count each page once per interval. */
struct page_marks {
	uint32_t *of_page, last;
};

/*
 * Counts the pages that samples touched in one interval. region: the region whose pages count, or UINT32_MAX for all. The process may have
 * touched more, which no sample shows.
 */
static size_t count_pages_in_interval(const struct memory_part *part, uint32_t region, uint64_t from_ns, uint64_t to_ns,
				      struct page_marks *marks)
{
	size_t nr = 0;

	marks->last++;
	for (size_t i = 0; i < part->nr; i++) {
		const struct access *x = &part->list[i];

		if (x->time_ns < from_ns || x->time_ns >= to_ns || (region != UINT32_MAX && x->region != region))
			continue;
		nr += marks->of_page[x->page] != marks->last;
		marks->of_page[x->page] = marks->last;
	}
	return nr;
}

static int count_intervals(const struct page *p)
{
	return p->form == PAGE_TEXT ? lanes_cells(INTERVALS, p->columns) : INTERVALS;
}

static void show_working_set(struct report *r, const struct memory_part *part, uint32_t region, uint64_t cell_ns, struct grid *g,
			     const int column[5], const struct page *p, struct page_marks *marks)
{
	struct lanes l = { .cells = count_intervals(p), .nr = 1 };
	double height[INTERVALS] = { 0 }, most = 0;
	char text[4 * LANE_CELLS_MAX], spare[64];
	const char *name = region == UINT32_MAX ? "(all)" : access_region_name(&part->all->regions.at[region], spare);

	l.height = height;
	for (int c = 0; c < l.cells; c++) {
		uint64_t from_ns = r->first_ns + (uint64_t)c * cell_ns;

		if (from_ns > r->last_ns)
			break;
		height[c] = (double)count_pages_in_interval(part, region, from_ns, from_ns + cell_ns, marks);
		most = height[c] > most ? height[c] : most;
		if (p->form == PAGE_TEXT)
			continue;
		grid_row(g);
		grid_set_text(g, column[0], name);
		grid_set_text(g, column[1], part->event);
		grid_set(g, column[2], (double)(from_ns - r->a->first_ns));
		grid_set(g, column[3], height[c]);
	}
	if (p->form != PAGE_TEXT)
		return;
	grid_row(g);
	grid_set_text(g, column[0], name);
	grid_set(g, column[3], most);
	lanes_text(&l, 0, most, p->utf8, text);
	grid_set_text(g, column[4], text);
}

static int compare_region_counts(const void *a, const void *b, void *counts)
{
	const double *count = counts;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	return count[i] != count[j] ? (count[i] > count[j] ? -1 : 1) : i < j ? -1 : i > j;
}

/*
 * Returns the regions with the most samples of the event, at most *nr of them, and sets *nr to their number. If memory runs out, *nr is 0,
 * and the result may be NULL. The caller frees the list.
 */
static uint32_t *largest_regions(const struct memory_part *part, uint32_t *nr)
{
	double *count = calloc((size_t)part->all->regions.nr + 1, sizeof(*count));
	uint32_t *order = malloc(((size_t)part->all->regions.nr + 1) * sizeof(*order)), n = 0;

	for (size_t i = 0; count && i < part->nr; i++)
		count[part->list[i].region] += part->list[i].share;
	for (uint32_t i = 0; order && count && i < part->all->regions.nr; i++)
		if (count[i] > 0)
			order[n++] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), compare_region_counts, count);
	free(count);
	*nr = n < *nr ? n : *nr;
	return order;
}

void memory_show_working_sets(struct report *r, const struct memory_part *part, struct page *p)
{
	const int cells = count_intervals(p);
	uint64_t cell_ns = (r->last_ns - r->first_ns) / (uint64_t)cells + 1;
	char width[16];
	struct grid *g = grid_create("working_set", "Pages touched per %s (lower bound), event %s", grid_duration((double)cell_ns, width),
				     part->event);
	struct page_marks marks = { calloc((size_t)part->all->columns.nr_pages + 1, sizeof(*marks.of_page)), 0 };
	uint32_t nr = WORKING_SETS, *order = largest_regions(part, &nr);
	int column[5];

	column[0] = grid_column(g, "memory", "memory", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	column[2] = grid_column(g, "begin_ns", "", CELL_DURATION, GRID_HIDDEN, 0);
	column[3] = grid_column(g, "pages", "max", CELL_NUMBER, 0, 0);
	column[4] = grid_column(g, "lane", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, cells);
	grid_show_all_rows(g);
	if (marks.of_page && order) {
		show_working_set(r, part, UINT32_MAX, cell_ns, g, column, p, &marks);
		for (uint32_t i = 0; i < nr; i++)
			show_working_set(r, part, order[i], cell_ns, g, column, p, &marks);
	}
	free(order);
	free(marks.of_page);
	grid_show(g, p);
}

/* ------------------------------------------------------------------------------------------------------------- pictures */

static void draw_region_picture(const struct report *r, const struct memory_part *part, uint32_t region, struct page *p)
{
	static const unsigned char bit[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	const struct access_region *x = &part->all->regions.at[region];
	const int cells = lanes_cells(PICTURE_CELLS, p->columns); /* a cell has two columns and four rows of dots */
	unsigned char cell[PICTURE_ROWS * PICTURE_CELLS] = { 0 };
	double time = (double)(r->last_ns - r->first_ns) + 1, range = (double)(x->high - x->low) + 1;
	char size[16], span[16], spare[64];
	double samples = 0;
	int digits;

	for (size_t i = 0; i < part->nr; i++) {
		int column, row;

		if (part->list[i].region != region)
			continue;
		samples += part->list[i].share;
		column = (int)((double)(part->list[i].time_ns - r->first_ns) / time * 2 * cells);
		row = 4 * PICTURE_ROWS - 1 - (int)((double)(part->list[i].address - x->low) / range * 4 * PICTURE_ROWS);
		if (column >= 0 && column < 2 * cells && row >= 0 && row < 4 * PICTURE_ROWS)
			cell[row / 4 * cells + column / 2] |= bit[row % 4][column % 2];
	}
	digits = (int)strspn(grid_short_number(range, size), "0123456789.");
	if (samples >= GRID_SMALL)
		page_dots(p, cell, cells, PICTURE_ROWS, "%s: %.0f samples (vertical: %.*s %sB, horizontal: %s)",
			  access_region_name(x, spare), samples, digits, size, size + digits, grid_duration(time, span));
}

void memory_draw(const struct report *r, const struct memory_part *part, struct page *p)
{
	uint32_t nr = PICTURES, *order = largest_regions(part, &nr);

	for (uint32_t i = 0; order && i < nr && p->form == PAGE_TEXT; i++)
		draw_region_picture(r, part, order[i], p);
	free(order);
}
