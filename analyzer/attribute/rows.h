/* SPDX-License-Identifier: MIT */
/*
 * From what decided about a sample to rows of the table: the parent paths, found once per combination of components, and the
 * rows, handed over a block at a time.  Where no single samples are needed, a row stands for all samples that are alike in the columns
 * that were asked for: then a sample is one addition.  Context: thread.
 */
#ifndef TAILOR_ROWS_H
#define TAILOR_ROWS_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/table/group.h"

#define ROWS_NONE 0u /* no parent paths */

/* A sample, but for its components; all its rows have this in common. */
struct row_facts {
	uint64_t time_ns, weight, ip, address;
	uint32_t process, thread, cpu, event, mode, code, phase, stack, memory;
	enum method method;
	enum reason reason;
	uint32_t paths; /* of rows_parent_paths(), or ROWS_NONE */
	const struct location *location;
};

struct rows {
	const struct dictionary *dictionary;
	const struct attribution *a;
	const struct attribute_options *options;
	struct table table; /* the rows that have not been handed over */
	uint32_t sample_row; /* the first row of the last sample; not where rows are sums */
	void *memory;	    /* what the table's columns are in */
	struct hash_map expansions, projections; /* deciding -> 1 + index of known; what can be seen of rows -> 1 + index of paths */
	struct known_paths {
		uint32_t paths;
		struct time_range holds;
	} *known;
	uint32_t nr_known, known_capacity;
	struct parent_paths {
		uint32_t first, nr; /* rows */
		uint32_t seen; /* the first paths whose rows look the same in the levels that were asked for */
	} *paths;
	struct expansion_row *row;
	uint32_t nr_paths, paths_capacity, nr_rows, rows_capacity;
	bool by_place; /* a view needs what lies at the instruction: location and code of the facts matter */
	/* of rows that are sums */
	uint32_t wanted_levels;	    /* bit per level */
	struct row_key *key, *mask; /* per row; which parts of one count */
	uint16_t *slot;		    /* 0 or 1 + row, the first of its sample */
};

int rows_init(struct rows *r, const struct attribution *a, const struct attribute_options *o);
void rows_fini(struct rows *r);
/* The parent paths from deciding at a time, and when they are the same; 0 without memory. */
uint32_t rows_parent_paths(struct rows *r, const struct deciding_components *s, uint64_t time_ns, struct time_range *holds);
/* Rows of such paths, at least one. */
const struct expansion_row *rows_of_paths(const struct rows *r, uint32_t paths, uint32_t *nr);
/* Add sample number nr.  0, or -errno of whom rows were handed to. */
int rows_add(struct rows *r, const struct row_facts *f, uint64_t sample);
/* Add as many samples as sum says, with facts in common, where rows are sums. */
int rows_add_sum(struct rows *r, const struct row_facts *f, const struct group_sum *sum);
/* Hand over what there is, and begin anew. */
int rows_flush(struct rows *r);

#endif
