/* SPDX-License-Identifier: MIT */
/* Text of source files around lines with samples, as a trace keeps it.  Context: thread. */
#ifndef TAILOR_KEPT_LINES_H
#define TAILOR_KEPT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_piece {
	uint64_t first_line;
	char *text; /* lines, the last one without its end */
};

struct kept_file {
	char *name; /* as line tables have it */
	bool newer; /* than what was recorded */
	struct kept_piece *piece;
	uint32_t nr, capacity;
};

struct kept_lines {
	struct kept_file *file; /* of a name the first counts */
	uint32_t nr, capacity;
};

/* A file, whose name is taken over; NULL without memory. */
struct kept_file *kept_lines_add(struct kept_lines *k, char *name, bool newer);
/* A piece of its text, which has no NUL. */
void kept_file_add(struct kept_file *f, uint64_t first_line, const char *text, size_t bytes);
void kept_lines_fini(struct kept_lines *k);
/* Line n (from 1 on), without its end, *bytes long; NULL: it is not kept. */
const char *kept_file_line(const struct kept_file *f, uint64_t n, size_t *bytes);

#endif
