/* SPDX-License-Identifier: MIT */
/*
 * What the views show, added up once from the table: the same sums behind text and JSON.  Context: thread.
 */
#ifndef TAILOR_SUMMARY_H
#define TAILOR_SUMMARY_H

#include "attribute.h"

/* Sums by each kind of group, for one filter.  Arrays are as long as what they index. */
struct sums {
	struct table_sum total;
	struct table_sum *component[LEVELS_MAX]; /* by component index; [0]: samples with none at that level */
	struct table_sum *function, *line, *image, *process, *thread, *event;
	struct table_sum method[NR_METHODS], reason[NR_REASONS];
};

struct summary {
	const struct attribution *a;
	struct table_filter filter; /* what the user asked for */
	struct sums all;	    /* ... of it */
	struct sums run;	    /* ... inside of run marks: what the plan shows */
	bool has_run;
	uint32_t nr_runs; /* marks with samples in them */
	uint32_t plan_level; /* LEVELS_MAX: no level is a plan */
	uint64_t lost; /* samples that were not recorded */
};

/* 0 or -ENOMEM.  conditions of filter stay the caller's. */
int summary_create(const struct attribution *a, const struct table_filter *filter, struct summary **out);
void summary_destroy(struct summary *s);

/* Tenths of per cent of each value, by largest remainder, so that they add up to 1000 when the values add up to total. */
void summary_tenths(const double *values, size_t nr, double total, int *tenths);

/* Indexes of the groups with samples, most samples first.  Returns how many; order has room for nr. */
size_t summary_order(const struct table_sum *sums, uint32_t nr, uint32_t *order);

/* The views. */
void view_text(const struct summary *s, FILE *to, bool colour, int top);
/* 0, or -errno of the output. */
int view_json(const struct summary *s, FILE *to);

#endif
