/* SPDX-License-Identifier: MIT */
/* One line of text a sample, tab-separated, under a line that names the columns (attribute_options.each).  Context: thread. */
#ifndef TAILOR_SAMPLE_LINES_H
#define TAILOR_SAMPLE_LINES_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/attribute/rows.h"

/* In CSV, before those of levels; sample lines have the same and a few more. */
#define CSV_SAMPLE_COLUMNS "time_ns,share,pid,tid,cpu,event,weight,mode,ip,address,image,function,file,line,method,reason,phase,memory"
#define SAMPLE_COLUMN_BYTES 64

/* What heads a level's column of samples, here and in CSV: its name; "line (level)" where another column has it. */
const char *sample_column_of_level(const char *name, char spare[SAMPLE_COLUMN_BYTES]);

struct sample_lines {
	FILE *to;
	const struct rows *rows;
	bool also_by_stack;	   /* further columns hold the attribution by the call stack alone */
};

void sample_lines_begin(const struct sample_lines *l);
/* s is of process p and at that place; f is all else that its row says. */
void sample_lines_add(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
		      const struct sample_place *at, const struct row_facts *f);

#endif
