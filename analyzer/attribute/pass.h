/* SPDX-License-Identifier: MIT */
/*
 * A pass goes over a trace's samples a block at a time and makes rows of each.  Samples whose answer a cache knows (CACHES.md) need not be
 * read as a whole.  The others go through attribute_uncached_sample().  Context: thread.
 */
#ifndef TAILOR_PASS_H
#define TAILOR_PASS_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/attribute/batch_sums.h"
#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"
#include "analyzer/attribute/sample_stack.h"
#include "analyzer/attribute/weights.h"

#define PASS_SUMS_MAX 8u

struct pass {
	struct attribution *a;
	const struct attribute_options *options;
	struct trace_reader *trace; /* the pass spends the trace's budget */
	struct locator locator;
	struct sample_world world; /* the data that attribute_sample() reads */
	struct lookup_cache *cache;
	struct switches switches;
	struct rows rows;
	struct sample_lines lines;
	struct sample_stack_memory stack;
	struct batch_sums *sums[PASS_SUMS_MAX]; /* batch sums of events 0 to PASS_SUMS_MAX - 1; NULL: not used */
	struct scaled_weights weights;
	uint64_t frames; /* frames of collected stacks for which the trace's budget has not been charged yet */
	uint64_t walked; /* frames that the unwinder had walked when the trace's budget was last charged */
	uint64_t code_facts[NR_LOOKUP_CACHE_CODE_FACTS]; /* number of samples by the facts of their code (enum lookup_cache_code_facts) */
};

/* Returns 0, or -errno with a sentence in d.  pass_fini() must follow in both cases. */
int pass_init(struct pass *run, struct attribution *a, const struct attribute_options *o, struct trace_reader *t, struct diag *d);
void pass_fini(struct pass *run);
/* Attributes the next block's samples. If the event has a scale, the column of weights in b is replaced (weights_scale()). Returns 0,
 * -ENOMEM, -E2BIG if the trace's budget is spent, or the error of options->rows(). */
int pass_attribute_block(struct pass *run, struct sample_block *b);
/* The caller does this after the last block. It adds the remaining batch sums and rows of threads without a sample, and hands over the
 * remaining rows. Returns as pass_attribute_block() does. */
int pass_end(struct pass *run);

#endif
