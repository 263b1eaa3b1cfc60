/* SPDX-License-Identifier: MIT */
/*
 * Makes rows of the sample table: one for each parent path of the components that decided about a sample.  Parent paths are found once per
 * combination of components.  Rows are handed to attribute_options.rows() a block at a time.  With attribute_options.sums_by, a row stands
 * for all samples that are alike in the wanted columns, so that a sample only adds to sums.  Also writes a line of text per sample,
 * tab-separated, below a line that names the columns (attribute_options.each).  Context: thread.
 */
#ifndef TAILOR_ROWS_H
#define TAILOR_ROWS_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/table/group.h"
#include "jitreg/base/grow.h"

#define ROWS_NONE 0u /* no parent paths */

/* These are the facts of a sample except its components. All its rows have them in common. */
struct row_facts {
	uint64_t time_ns, weight, ip, address;
	uint32_t process, thread, cpu, event, mode, code, phase, stack, memory, caller;
	enum method method;
	enum reason reason;
	uint32_t paths; /* number of the parent paths, from rows_parent_paths(), or ROWS_NONE */
	const struct location *location;
};

struct known_paths {
	uint32_t paths;
	struct time_range holds;
};

struct parent_paths {
	uint32_t first, nr; /* rows */
	uint32_t seen; /* 1 + index of the first paths whose rows are the same on the wanted levels */
};

struct rows {
	const struct dictionary *dictionary;
	const struct attribution *a;
	const struct attribute_options *options;
	struct table table; /* the rows that have not been handed over */
	uint32_t sample_row; /* the first row of the last sample; unused if rows are sums */
	void *memory;	    /* memory of the table's columns */
	/* hash of the deciding components -> 1 + index of known; hash of the paths' components on the wanted levels -> 1 + index of
	 * paths */
	struct hash_map expansions, projections;
	ARRAY(struct known_paths) known;
	ARRAY(struct parent_paths) paths;
	ARRAY(struct expansion_row) rows;
	bool by_place; /* rows are no sums, or a view shows code, function, line or image, so row_facts.location and code are needed */
	/* The rest is for rows that are sums. */
	uint32_t wanted_levels;	    /* bit per level that a view shows */
	struct row_key *key, *mask; /* keys of the rows; the parts of a key that rows differ by */
	uint16_t *slot;		    /* hash table: 0 or 1 + the first row of a key */
};

/* Returns 0 or -ENOMEM.  rows_fini() must follow in both cases. */
int rows_init(struct rows *r, const struct attribution *a, const struct attribute_options *o);
void rows_fini(struct rows *r);
/* Returns the number of the parent paths of the deciding components at a time, and in *holds when they are the same. Returns 0 if memory
 * ran out. */
uint32_t rows_parent_paths(struct rows *r, const struct deciding_components *s, uint64_t time_ns, struct time_range *holds);
/* Returns the parent paths, at least one. For ROWS_NONE this is one without components. The result is valid until the next
 * rows_parent_paths(). */
const struct expansion_row *rows_of_paths(const struct rows *r, uint32_t paths, uint32_t *nr);
/* Adds the rows of a sample.  sample: its number, for TABLE_SAMPLE.  Returns 0, or the error of attribute_options.rows(), to which full
 * blocks are handed. */
int rows_add(struct rows *r, const struct row_facts *f, uint64_t sample);
/* Adds as many samples as sum has, which have the facts in common.  This is possible only if rows are sums.  Returns as rows_add() does. */
int rows_add_sum(struct rows *r, const struct row_facts *f, const struct group_sum *sum);
/* Hands the rows that there are to attribute_options.rows(), and empties the table.  Returns 0 or its error. */
int rows_flush(struct rows *r);

/* ---- rows as text */
/* These are the columns in CSV before those of levels. Sample lines have most of them. */
#define CSV_SAMPLE_COLUMNS "time_ns,share,pid,tid,cpu,event,weight,mode,ip,address,image,function,file,line,method,reason,phase,memory"
#define SAMPLE_COLUMN_BYTES 64

/* Returns the heading of a level's column of samples, here and in CSV: its name, or "NAME (level)" in spare, such as "line (level)", if
 * another column has that name. */
const char *sample_column_of_level(const char *name, char spare[SAMPLE_COLUMN_BYTES]);

struct sample_lines {
	FILE *to;
	const struct rows *rows;
	bool also_by_stack;	   /* further columns show the attribution by the call stack alone */
};

void sample_lines_begin(const struct sample_lines *l);
/* Writes the line of sample s of process p, whose instruction in user space is at that place.  f: everything else that its row shows. */
void sample_lines_add(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
		      const struct sample_place *at, const struct row_facts *f);

#endif
