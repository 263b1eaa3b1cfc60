/* SPDX-License-Identifier: MIT */
/* Adds the first columns of a listing: the shares of the report's event, the shares of other events, and the samples. Context: thread. */
#ifndef TAILOR_EVENT_COLUMNS_H
#define TAILOR_EVENT_COLUMNS_H

#include "analyzer/view/view.h"

struct event_columns {
	int share, samples;
	int event[VIEW_EVENTS_MAX]; /* columns of other events; -1: the report's event, or one without samples */
};

/* Sum up each event over a group. key: the index among the group's keys of TABLE_EVENT. */
void event_columns_total(const struct report_group *by, int key, struct group_sum total[VIEW_EVENTS_MAX]);
/* Add the columns. Events without samples in total get none. flags: for the column of samples, in addition to GRID_SAMPLES. */
struct event_columns event_columns_add(struct grid *g, const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX],
				       unsigned flags);
/* Set the cells of the grid's last row. Those of events without samples in the row are blank. */
void event_columns_set(struct grid *g, const struct event_columns *c, const struct report *r,
		       const struct group_sum *const sum[VIEW_EVENTS_MAX]);
void event_columns_blank(struct grid *g, const struct event_columns *c);

#endif
