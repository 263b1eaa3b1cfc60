/* SPDX-License-Identifier: MIT */
/* The pass over samples: where each of them was, and whether its tag agrees with its call stack. Context: thread. */
#ifndef TAILOR_CHECK_SAMPLES_H
#define TAILOR_CHECK_SAMPLES_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/check/internal.h"
#include "analyzer/check/pair_sums.h"

#define SITE_SAMPLES 10u /* samples of a place; with fewer, nothing is reported */

struct sample_tags {
	struct check *check;
	struct sample_world with_tags, by_stack;
	uint32_t plan_level; /* LEVELS_MAX: none */
	bool has_edges[LEVELS_MAX];
	struct pair_sums calls; /* (component that calls, function) */
	struct pair_sums ids;   /* (tag's value, process) */
	struct pair_sums tasks; /* (component of the mark) */
	bool failed;	    /* no memory */
};

void sample_tags_init(struct sample_tags *t, struct check *c, const struct sample_world *w, uint32_t plan_level);
void sample_tags_fini(struct sample_tags *t);
/* Check a sample in user space. at: where it was. */
void sample_tags_check_sample(struct sample_tags *t, const struct sample *s, const struct process *p, const struct sample_place *at);
/* Report after the last sample. each: the number of samples that each checked one stands for. */
void sample_tags_report(struct sample_tags *t, double each);

#endif
