/* SPDX-License-Identifier: MIT */
/* The composition of a program's time where there is no plan: code of its language, compiler, collector, the program itself, libraries,
 * kernel. Context: thread. */
#ifndef TAILOR_COMPOSITION_H
#define TAILOR_COMPOSITION_H

#include "analyzer/output/page.h"
#include "analyzer/query/report.h"

#define COMPOSITION_NAME 64

enum composition_part {
	COMPOSITION_LANGUAGE, /* generated code */
	COMPOSITION_COMPILER,
	COMPOSITION_COLLECTOR,
	COMPOSITION_PROGRAM,
	COMPOSITION_EMBEDDERS, /* programs that load libpython, beside the interpreter itself */
	COMPOSITION_LIBRARIES,
	COMPOSITION_KERNEL,
	COMPOSITION_UNREGISTERED,
	NR_COMPOSITION_PARTS,
};

struct composition {
	char name[NR_COMPOSITION_PARTS][COMPOSITION_NAME];
	double share[NR_COMPOSITION_PARTS]; /* shares of all samples, which add up to 1 */
	const char *language; /* the language of the host that generated the code; "": unknown */
};

/* Compute the parts. totals: sums by stack and function (totals_ask()), or NULL. Without totals the sums by function decide, so that only
 * the functions of compilers and collectors themselves count as theirs. */
void composition_make(const struct report *r, const struct report_group *totals, const struct report_group *functions,
		      struct composition *c);
/* Print one sentence, such as "JavaScript 62.0 %, V8 compiling 8.1 %, ...". */
void composition_print(const struct composition *c, struct page *p);

#endif
