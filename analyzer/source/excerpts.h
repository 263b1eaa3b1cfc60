/* SPDX-License-Identifier: MIT */
/* Chooses text around hot lines, up to a number of bytes, for a page or a trace that keeps it because the source files may be missing
 * later.  Texts that hosts registered are not included.  Context: thread. */
#ifndef TAILOR_EXCERPTS_H
#define TAILOR_EXCERPTS_H

#include "analyzer/source/source_text.h"
#include "jitreg/base/grow.h"

#define EXCERPT_LINE_BYTES 1000u /* maximum number of bytes of a line, the rest of which is left out */
#define EXCERPTS_BYTES 32768u /* default size of all excerpts */
#define EXCERPTS_BYTES_MAX (16u << 20)

struct excerpt {
	const struct line *of; /* any line of the file */
	bool newer; /* the file is newer than the program */
	uint32_t nr;
	uint32_t *number; /* line numbers of the file, ascending */
	uint32_t *line; /* for each number, the index of the attribution's line; 0: no samples */
};

struct excerpts {
	ARRAY_OF(struct excerpt); /* the first is that of the hottest line that has text */
};

/* Chooses excerpts of at most so many bytes, of at most 256 files. cost: for each line of the attribution, the larger the hotter; lines of
 * cost 0 are not hot. Fewer are made if memory or the budget runs out. Call excerpts_fini() in any case. */
void excerpts_make(struct report *r, const double *cost, size_t bytes, struct excerpts *out);
void excerpts_fini(struct excerpts *e);
/* Returns the text of line n of a file, at most its first EXCERPT_LINE_BYTES, or "" if it is not known.  It is *bytes long, and the
 * report owns it. */
const char *excerpt_text(struct report *r, const struct excerpt *e, uint32_t n, size_t *bytes);

#endif
