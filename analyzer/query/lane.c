/* SPDX-License-Identifier: MIT */
#include "analyzer/query/lane.h"

#include <stdlib.h>
#include <string.h>

int lanes_cells(int cells, int columns)
{
	int left = columns < 80 ? cells - (80 - columns) : cells;

	return left > 8 ? left : 8;
}

bool lanes_make(const struct report *r, const struct report_group *g, int cells, struct lanes *l)
{
	uint64_t span, first, last;

	memset(l, 0, sizeof(*l));
	/* Cells consist of whole bins, because it is unknown when in a bin its samples were taken. */
	first = r->first_ns > g->g.origin_ns ? (r->first_ns - g->g.origin_ns) / g->g.bin_ns : 0;
	last = r->last_ns > g->g.origin_ns ? (r->last_ns - g->g.origin_ns) / g->g.bin_ns : 0;
	span = last >= first ? last - first + 1 : 1;
	cells = cells < LANE_CELLS_MAX ? cells : LANE_CELLS_MAX;
	l->cell_ns = (span + (uint64_t)cells - 1) / (uint64_t)cells * g->g.bin_ns;
	l->cells = (int)((span * g->g.bin_ns + l->cell_ns - 1) / l->cell_ns);
	l->begin_ns = g->g.origin_ns + first * g->g.bin_ns;
	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 0) >= l->nr)
			l->nr = report_value(g, i, 0) + 1;
	l->height = calloc((size_t)l->nr * (size_t)l->cells + 1, sizeof(*l->height));
	l->sum = calloc((size_t)l->cells + 1, sizeof(*l->sum));
	if (!l->height || !l->sum)
		return false;
	for (uint32_t i = 0; i < g->g.nr; i++) {
		uint64_t bin = report_value(g, i, 1), cell = bin >= first ? (bin - first) * g->g.bin_ns / l->cell_ns : 0;
		double *height;

		if (cell >= (uint64_t)l->cells)
			continue;
		height = &l->height[(size_t)report_value(g, i, 0) * (size_t)l->cells + cell];
		*height += report_measure(r, &g->g.sum[i]);
		l->sum[cell] += report_measure(r, &g->g.sum[i]);
		l->most = *height > l->most ? *height : l->most;
	}
	return true;
}

void lanes_fini(struct lanes *l)
{
	free(l->height);
	free(l->sum);
	memset(l, 0, sizeof(*l));
}

void lanes_text(const struct lanes *l, uint32_t i, double of, bool utf8, char text[4 * LANE_CELLS_MAX])
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	size_t at = 0;

	for (int c = 0; c < l->cells; c++) {
		double height = i < l->nr ? l->height[(size_t)i * (size_t)l->cells + (size_t)c] : 0, whole = of > 0 ? of : l->sum[c];
		int step = whole > 0 ? (int)(height / whole * 8 + 0.5) : 0;
		const char *cell;

		step = height > 0 && step < 1 ? 1 : step > 8 ? 8 : step;
		cell = utf8 ? blocks[step] : ascii[step];
		memcpy(text + at, cell, strlen(cell));
		at += strlen(cell);
	}
	while (at && text[at - 1] == ' ')
		at--;
	text[at] = 0;
}
