/* SPDX-License-Identifier: MIT */
/*
 * What counters say at their ends (COUNT records), and what a sample's weight therefore stands for.
 */
#ifndef TAILOR_COUNTS_H
#define TAILOR_COUNTS_H

struct model_event;
struct model;
struct trace_record;

void counts_read(struct model *m, const struct trace_record *r);
/* When all have been read: the events' sums, and scales for model_event_scale(). */
void counts_settle(struct model *m);
void counts_free(struct model_event *e);

#endif
