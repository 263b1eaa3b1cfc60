/* SPDX-License-Identifier: MIT */
/*
 * A pass over a trace's samples, a block at a time: each becomes rows.  What a cache knows (CACHES.md) becomes one at once, the others are
 * asked of attribute_sample().  Context: thread.
 */
#ifndef TAILOR_PASS_H
#define TAILOR_PASS_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/attribute/batch_sums.h"
#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"
#include "analyzer/attribute/sample_lines.h"
#include "analyzer/attribute/sample_stack.h"
#include "analyzer/attribute/weights.h"

#define PASS_SUMS_MAX 8u

struct pass {
	struct attribution *a;
	const struct attribute_options *options;
	struct trace_reader *trace; /* whose budget is spent */
	struct locator locator;
	struct sample_world world; /* all that attribute_sample() is asked of */
	struct lookup_cache *cache;
	struct switches switches;
	struct rows rows;
	struct sample_lines lines;
	struct sample_stack_memory stack;
	struct batch_sums *sums[PASS_SUMS_MAX]; /* of the first events */
	struct scaled_weights weights;
	uint64_t frames; /* of call stacks, not yet paid for */
	uint64_t walked; /* frames that the unwinder has left, paid for */
	uint64_t code_facts[NR_LOOKUP_CACHE_CODE_FACTS]; /* samples by the facts of their code */
};

/* 0, or -errno with a sentence; then, too, pass_fini() follows. */
int pass_init(struct pass *run, struct attribution *a, const struct attribute_options *o, struct trace_reader *t, struct diag *d);
void pass_fini(struct pass *run);
/* The next block's samples; b's weights may be other ones afterwards.  0 or -errno. */
int pass_attribute_block(struct pass *run, struct sample_block *b);
/* After the last one: what has not been handed over.  0 or -errno. */
int pass_end(struct pass *run);

#endif
