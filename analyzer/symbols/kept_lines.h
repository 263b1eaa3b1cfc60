/* SPDX-License-Identifier: MIT */
/* Text of source files around lines with samples, as a trace keeps it.  Context: thread. */
#ifndef TAILOR_KEPT_LINES_H
#define TAILOR_KEPT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_line {
	uint32_t number;
	char *text; /* without its end */
};
#define KEPT_LINE_BYTES 64u /* that one takes beside its text */

struct kept_file {
	char *name; /* as line tables have it */
	bool newer; /* than what was recorded */
	struct kept_line *line; /* by number */
	uint32_t nr, capacity;
};

struct kept_lines {
	struct kept_file *file; /* of a name the first counts */
	uint32_t nr, capacity;
};

/* A file, whose name is taken over; NULL without memory. */
struct kept_file *kept_lines_add(struct kept_lines *k, char *name, bool newer);
/* A piece of its text, which has no NUL: lines from first_line on, as far as they are behind those before. */
void kept_file_add(struct kept_file *f, uint64_t first_line, const char *text, size_t bytes);
void kept_lines_fini(struct kept_lines *k);
/* Line n (from 1 on), *bytes long; NULL: it is not kept. */
const char *kept_file_line(const struct kept_file *f, uint32_t n, size_t *bytes);

#endif
