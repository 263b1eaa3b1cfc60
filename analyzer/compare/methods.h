/* SPDX-License-Identifier: MIT */
/*
 * The same samples attributed twice: by tag (or by call stack without a tag), and by call stack alone. Because the samples are the same,
 * all differences are due to the method. Context: thread.
 */
#ifndef TAILOR_METHODS_H
#define TAILOR_METHODS_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/output/page.h"

struct methods {
	const struct model *model;
	uint32_t level;
	uint32_t *component[2]; /* for tag and stack, sample -> component with the largest share, or METHODS_OUTSIDE */
	uint64_t nr[2], capacity[2];
	uint64_t decided[2][NR_METHODS]; /* samples by method */
	bool has_run; /* only samples of the run phase count; always only the first event */
};
#define METHODS_OUTSIDE UINT32_MAX

/* level: a name, or NULL for the plan's level (or else the first one). Return 0, -EINVAL (no such level) or -ENOMEM with a sentence. */
int methods_compare(struct trace_reader *t, struct model *m, const char *level, struct methods *out, struct diag *d);
void methods_fini(struct methods *m);
void methods_show(const struct methods *m, struct page *p);

#endif
