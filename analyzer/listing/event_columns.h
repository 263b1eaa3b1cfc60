/* SPDX-License-Identifier: MIT */
/* The first columns of a listing: the shares of the event that is shown, the shares of other events, and the samples. Context: thread. */
#ifndef TAILOR_EVENT_COLUMNS_H
#define TAILOR_EVENT_COLUMNS_H

#include "analyzer/view/view.h"

struct event_columns {
	int share, samples;
	int event[VIEW_EVENTS_MAX]; /* -1: the event that is shown, or one without samples */
};

/* Sum up each event over a group. key: the index of the group's key that is TABLE_EVENT. */
void event_columns_total(const struct report_group *by, int key, struct group_sum total[VIEW_EVENTS_MAX]);
/* Add the columns. Events without samples in total have none. flags: of the column of samples, in addition to GRID_SAMPLES. */
struct event_columns event_columns_add(struct grid *g, const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX],
				       unsigned flags);
/* Set the cells of the grid's row. The cells of events without samples in the row are blank. */
void event_columns_set(struct grid *g, const struct event_columns *c, const struct report *r,
		       const struct group_sum *const sum[VIEW_EVENTS_MAX]);
void event_columns_blank(struct grid *g, const struct event_columns *c);

#endif
