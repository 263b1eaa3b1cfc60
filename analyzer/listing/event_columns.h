/* SPDX-License-Identifier: MIT */
/* The first columns of a listing: shares of the event that is shown and of the others, and samples.  Context: thread. */
#ifndef TAILOR_EVENT_COLUMNS_H
#define TAILOR_EVENT_COLUMNS_H

#include "analyzer/view/view.h"

struct event_columns {
	int share, samples;
	int event[VIEW_EVENTS_MAX]; /* -1: the one that is shown, or one without samples */
};

/* Sums of each event over a group; key: which of its keys is TABLE_EVENT. */
void event_columns_total(const struct report_group *by, int key, struct group_sum total[VIEW_EVENTS_MAX]);
/* Events without samples in total have no column.  flags: of the column of samples, beside GRID_SAMPLES. */
struct event_columns event_columns_add(struct grid *g, const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX],
				       unsigned flags);
/* Cells of the grid's row; those of an event without samples in it are blank. */
void event_columns_set(struct grid *g, const struct event_columns *c, const struct report *r,
		       const struct group_sum *const sum[VIEW_EVENTS_MAX]);
void event_columns_blank(struct grid *g, const struct event_columns *c);

#endif
