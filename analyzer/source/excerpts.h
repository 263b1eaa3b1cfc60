/* SPDX-License-Identifier: MIT */
/*
 * What is kept of source files where they may be missing later: the text around hot lines, within so many bytes.  Texts that hosts
 * registered are none of it.  Context: thread.
 */
#ifndef TAILOR_EXCERPTS_H
#define TAILOR_EXCERPTS_H

#include "analyzer/source/source_text.h"

#define EXCERPT_LINE_BYTES 1000u /* of a line: what is behind them is left out */
#define EXCERPTS_BYTES 32768u /* where the user does not say otherwise */
#define EXCERPTS_BYTES_MAX (16u << 20)

struct excerpt {
	const struct line *of; /* one of the file's */
	bool newer; /* than what was recorded */
	uint32_t nr;
	uint32_t *number; /* of its lines, upwards */
	uint32_t *line; /* each one's number among the attribution's lines; 0: it has no samples */
};

struct excerpts {
	struct excerpt *file; /* the one with the hottest line first */
	uint32_t nr, capacity;
};

/* cost: of each of the attribution's lines.  Without memory there is less.  excerpts_fini() in any case. */
void excerpts_make(struct report *r, const double *cost, size_t bytes, struct excerpts *out);
void excerpts_fini(struct excerpts *e);
/* Text of line number n of a file, at most EXCERPT_LINE_BYTES of it. */
const char *excerpt_text(struct report *r, const struct excerpt *e, uint32_t n, size_t *bytes);

#endif
