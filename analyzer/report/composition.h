/* SPDX-License-Identifier: MIT */
/* Splits the time of a program that has no plan into parts (code of its language, compiler, collector, the program itself, libraries,
 * kernel). Context: thread. */
#ifndef TAILOR_COMPOSITION_H
#define TAILOR_COMPOSITION_H

#include "analyzer/output/page.h"
#include "analyzer/query/report.h"

#define COMPOSITION_NAME 64

enum composition_part {
	COMPOSITION_LANGUAGE, /* generated code, or, for CPython, that of libraries (numba) */
	COMPOSITION_COMPILER,
	COMPOSITION_COLLECTOR,
	COMPOSITION_PROGRAM,
	COMPOSITION_EMBEDDERS, /* programs that load libpython, without the interpreter itself */
	COMPOSITION_LIBRARIES,
	COMPOSITION_KERNEL,
	COMPOSITION_UNREGISTERED,
	NR_COMPOSITION_PARTS,
};

struct composition {
	char name[NR_COMPOSITION_PARTS][COMPOSITION_NAME];
	double share[NR_COMPOSITION_PARTS]; /* shares of the report's samples, which add up to 1; or all are 0 */
	/* language of the host that generated the code, or, without generated code, of a program; "Python" for CPython; "" if there is
	 * none, or several */
	const char *language;
};

/* Ask for sums by function, thread and, if the trace has any, call stack, before samples are read. Return NULL if no thread has the name of
 * a compiler's or collector's thread, so that sums by stack and function (totals_ask()) suffice. */
struct report_group *composition_ask(struct report *r);
/* Compute the parts. g: sums by function and by what else there is of thread and call stack. Without threads, those of a collector count as
 * what their functions are of; without stacks, a library function that a compiler or collector calls does not count as theirs. functions:
 * sums by function. If memory runs out, all shares are 0. */
void composition_make(const struct report *r, const struct report_group *g, const struct report_group *functions, struct composition *c);
/* Print one sentence such as "JavaScript 62.0 %, V8 compiling 8.1 %, kernel 5.0 %.", the language first. Print nothing if all shares are
 * 0. */
void composition_print(const struct composition *c, struct page *p);

#endif
