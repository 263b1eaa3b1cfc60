/* SPDX-License-Identifier: MIT */
/* Keeps a trace in the memory of its server, which is the page's columns, the names for their numbers as JSON, and a crossfilter over all
 * rows that answers for any number of pages. Context: one thread at a time. */
#ifndef TAILOR_SERVED_H
#define TAILOR_SERVED_H

#include "analyzer/page/html_page.h"
#include "analyzer/table/crossfilter.h"

#define SERVED_FILTERS 16u /* bits of a number in fails[], one for each filter that is remembered */

struct served_column {
	char name[24];
	uint32_t width, nr; /* width: bytes; nr: rows, or nodes of the tree of stacks */
	void *data;
};

struct served {
	struct served_column column[HTML_COLUMNS_MAX];
	uint32_t nr_columns;
	char *facts, *plain; /* facts: JSON, names for the numbers in columns; plain: HTML for browsers that cannot run the page */
	size_t facts_bytes, plain_bytes;
	double *share, *weight; /* share: by number in the column "way"; weight: by number in the column "weight" */
	uint16_t *fails; /* for each row, bits of the filters that it does not pass */
	struct crossfilter cross;
	/* Each bit of fails[] belongs to one of these filters. A filter that still has its bit needs no walk over the rows. */
	struct served_bit {
		void *filter;
		size_t bytes;
		uint64_t used; /* value of clock at the last use */
	} bit[SERVED_FILTERS];
	uint64_t clock;
};

/* Makes *s from a trace whose samples have been read, and frees the rows of *t in any case.  Returns 0 or -errno.  Call served_fini() in
 * any case. */
int served_keep_trace(struct served *s, struct html_trace *t);
void served_fini(struct served *s);
/* Returns the column of this name, or NULL. */
const struct served_column *served_find(const struct served *s, const char *name);

#endif
