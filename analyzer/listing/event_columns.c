/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/event_columns.h"

#include <string.h>

void event_columns_total(const struct report_group *by, int key, struct group_sum total[VIEW_EVENTS_MAX])
{
	memset(total, 0, VIEW_EVENTS_MAX * sizeof(*total));
	for (uint32_t i = 0; i < by->g.nr; i++)
		if (report_value(by, i, key) < VIEW_EVENTS_MAX)
			group_sum_add(&total[report_value(by, i, key)], &by->g.sum[i]);
}

/* Add a column of shares. They are of all samples, also of those outside of the listing, so they need not add up to 100 %. */
static int add_share_column(struct grid *g, const struct report *r, const char *name, const char *heading, const struct group_sum *total)
{
	int column = grid_column(g, name, heading, CELL_SHARE, 0, 0);

	grid_set_total(g, column, report_measure(r, total));
	grid_mark_tree_column(g, column);
	return column;
}

struct event_columns event_columns_add(struct grid *g, const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX],
				       unsigned flags)
{
	struct event_columns c;
	char heading[12];

	memset(&c, -1, sizeof(c));
	c.share = add_share_column(g, r, "share", "share", &total[r->event]);
	for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++)
		if (e != r->event && e < r->model->nr_events && total[e].samples > 0) {
			view_event_heading(r, e, heading);
			c.event[e] = add_share_column(g, r, r->model->event[e].name, heading, &total[e]);
		}
	c.samples = grid_column(g, "samples", "n", CELL_COUNT, GRID_SAMPLES | flags, 0);
	grid_set_total(g, c.samples, total[r->event].samples);
	return c;
}

void event_columns_set(struct grid *g, const struct event_columns *c, const struct report *r,
		       const struct group_sum *const sum[VIEW_EVENTS_MAX])
{
	event_columns_blank(g, c);
	if (sum[r->event]->samples > 0) {
		grid_set(g, c->share, report_measure(r, sum[r->event]));
		grid_set(g, c->samples, sum[r->event]->samples);
	}
	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		if (c->event[e] >= 0 && sum[e]->samples > 0)
			grid_set(g, c->event[e], report_measure(r, sum[e]));
}

void event_columns_blank(struct grid *g, const struct event_columns *c)
{
	grid_set_blank(g, c->share);
	grid_set_blank(g, c->samples);
	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		if (c->event[e] >= 0)
			grid_set_blank(g, c->event[e]);
}
