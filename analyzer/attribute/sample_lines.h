/* SPDX-License-Identifier: MIT */
/* Writes a line of text per sample, tab-separated, below a line that names the columns (attribute_options.each).  Context: thread. */
#ifndef TAILOR_SAMPLE_LINES_H
#define TAILOR_SAMPLE_LINES_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/attribute/rows.h"

/* Columns in CSV before those of levels. Sample lines have most of them. */
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
