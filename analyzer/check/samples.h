/* SPDX-License-Identifier: MIT */
/* Checks whether the tags of single samples have known ids, and agree with their call stacks and with the marks around them. Context:
 * thread. */
#ifndef TAILOR_CHECK_SAMPLES_H
#define TAILOR_CHECK_SAMPLES_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/check/internal.h"
#include "analyzer/check/pair_sums.h"

#define SITE_SAMPLES 10u /* least number of samples of a place from which something is reported, because a late record may concern fewer */

struct sample_tags {
	struct check *check;
	struct sample_world with_tags, by_stack;
	uint32_t plan_level; /* level of the plan, or the topmost one with edges; LEVELS_MAX: none */
	bool has_edges[LEVELS_MAX];
	struct pair_sums calls; /* samples in calls into shared code, by (component or COMPONENT_NONE, function) that calls */
	struct pair_sums ids;   /* samples with an unknown id in their tag, by (id, process and level) */
	struct pair_sums tasks; /* samples in marked tasks, by (component of the mark, 0) */
	bool failed;	    /* memory ran out */
};

void sample_tags_init(struct sample_tags *t, struct check *c, const struct sample_world *w, uint32_t plan_level);
void sample_tags_fini(struct sample_tags *t);
/* Check the tag of a sample in user mode, which was at the place `at`. */
void sample_tags_check_sample(struct sample_tags *t, const struct sample *s, const struct process *p, const struct sample_place *at);
/* Report what was found, after the last sample. each: how many samples each checked one stands for. */
void sample_tags_report(struct sample_tags *t, double each);

#endif
