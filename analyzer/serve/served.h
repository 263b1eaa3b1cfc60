/* SPDX-License-Identifier: MIT */
/*
 * A trace as its server has it: the page's columns in memory, what their numbers stand for as JSON, and a crossfilter over all rows that
 * answers for any number of pages.  Context: one thread at a time.
 */
#ifndef TAILOR_SERVED_H
#define TAILOR_SERVED_H

#include "analyzer/page/html_page.h"
#include "analyzer/table/crossfilter.h"

#define SERVED_FILTERS 16u /* bits of crossfilter's numbers */

struct served_column {
	char name[24];
	uint32_t width, nr; /* nr: of rows, or of nodes of the tree of stacks */
	void *data;
};

struct served {
	struct served_column column[HTML_COLUMNS_MAX];
	uint32_t nr_columns;
	char *facts, *plain; /* JSON; HTML for browsers that cannot run the page */
	size_t facts_bytes, plain_bytes;
	double *share, *weight; /* per way; per number of the column "weight" */
	uint16_t *fails;
	struct crossfilter cross;
	/* What each bit of fails[] stands for now, so that a filter which was asked for before takes no walk. */
	struct served_bit {
		void *filter;
		size_t bytes;
		uint64_t used; /* when: by clock */
	} bit[SERVED_FILTERS];
	uint64_t clock;
};

/* Take over a trace whose samples have been read; its rows are gone then.  0 or -errno. */
int served_keep_trace(struct served *s, struct html_trace *t);
void served_fini(struct served *s);
/* NULL: there is none of that name. */
const struct served_column *served_find(const struct served *s, const char *name);

#endif
