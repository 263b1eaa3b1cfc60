/* SPDX-License-Identifier: MIT */
/*
 * Attributes the same samples twice, by tag (or by call stack where there is no tag), and by call stack alone, and compares the results.
 * Because the samples are the same, all differences are due to the method. Context: thread.
 */
#ifndef TAILOR_METHODS_H
#define TAILOR_METHODS_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/output/page.h"

struct methods {
	const struct model *model;
	uint32_t level;
	/* [0] by tag, [1] by stack: by number of the sample, the component with the largest share, or METHODS_OUTSIDE if the sample is not
	 * counted */
	uint32_t *component[2];
	uint64_t nr[2], capacity[2];
	uint64_t decided[2][NR_METHODS]; /* numbers of counted samples by the method that attributed them */
	bool has_run; /* only samples in executions (marks "run") are counted; in any case only those of the first event are */
};
#define METHODS_OUTSIDE UINT32_MAX

/* Attribute the samples twice. level: its name; NULL: the level of the plan, or else the first one. Return 0, -EINVAL if there is no such
 * level, or another -errno, with the reason in d. Call methods_fini() in any case. */
int methods_compare(struct trace_reader *t, struct model *m, const char *level, struct methods *out, struct diag *d);
void methods_fini(struct methods *m);
void methods_show(const struct methods *m, struct page *p);

#endif
