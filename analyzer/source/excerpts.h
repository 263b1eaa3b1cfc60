/* SPDX-License-Identifier: MIT */
/*
 * Text around hot lines, which a page or a trace keeps because the source files may be missing later, in a given number of bytes.  Texts
 * that hosts registered are not included.  Context: thread.
 */
#ifndef TAILOR_EXCERPTS_H
#define TAILOR_EXCERPTS_H

#include "analyzer/source/source_text.h"

#define EXCERPT_LINE_BYTES 1000u /* longest kept beginning of a line */
#define EXCERPTS_BYTES 32768u /* default size of all excerpts */
#define EXCERPTS_BYTES_MAX (16u << 20)

struct excerpt {
	const struct line *of; /* any line of the file */
	bool newer; /* the file is newer than the program */
	uint32_t nr;
	uint32_t *number; /* line numbers of the file, ascending */
	uint32_t *line; /* per number, index of the attribution's line; 0: no samples */
};

struct excerpts {
	struct excerpt *file; /* begins with the file of the hottest line */
	uint32_t nr, capacity;
};

/* Chooses excerpts of at most so many bytes.  cost: per line of the attribution.  Fewer are made if memory runs out.  Call excerpts_fini()
 * in any case. */
void excerpts_make(struct report *r, const double *cost, size_t bytes, struct excerpts *out);
void excerpts_fini(struct excerpts *e);
/* Text of line number n of a file, at most its first EXCERPT_LINE_BYTES. */
const char *excerpt_text(struct report *r, const struct excerpt *e, uint32_t n, size_t *bytes);

#endif
