/* SPDX-License-Identifier: MIT */
/* What the time of a program without a plan went into: code of its language, its compiler and collector, the program itself, libraries, the
 * kernel.  Context: thread. */
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
	COMPOSITION_EMBEDDERS, /* programs beside that of CPython */
	COMPOSITION_LIBRARIES,
	COMPOSITION_KERNEL,
	COMPOSITION_UNREGISTERED,
	NR_COMPOSITION_PARTS,
};

struct composition {
	char name[NR_COMPOSITION_PARTS][COMPOSITION_NAME];
	double share[NR_COMPOSITION_PARTS]; /* they add up to 1 */
	const char *language; /* of the host that generated the code; "": unknown */
};

/* totals: by stack and function (totals_ask()), or NULL; then by functions alone, where compilers and collectors count by their own. */
void composition_make(const struct report *r, const struct report_group *totals, const struct report_group *functions,
		      struct composition *c);
/* One sentence: "JavaScript 62.0 %, V8 compiling 8.1 %, ..." */
void composition_print(const struct composition *c, struct page *p);

#endif
