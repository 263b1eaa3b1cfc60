/* SPDX-License-Identifier: MIT */
/* Keeps the text of source files around lines with samples, which a trace has.  Context: thread. */
#ifndef TAILOR_KEPT_LINES_H
#define TAILOR_KEPT_LINES_H

#include "jitreg/base/grow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_line {
	uint32_t number;
	char *text; /* without the newline */
};
#define KEPT_LINE_BYTES 64u /* memory of a line in addition to its text */

struct kept_file {
	char *name; /* path in line tables */
	bool newer; /* the file was changed after the program was built, or after the recording began */
	ARRAY_OF(struct kept_line); /* sorted by number */
};

struct kept_lines {
	ARRAY_OF(struct kept_file); /* if several have one name, the first of them is used */
};

/* Adds a file. From now on, name belongs to *k. Returns NULL, with name freed, if name is NULL or memory ran out. The result is valid
 * until the next call. */
struct kept_file *kept_lines_add(struct kept_lines *k, char *name, bool newer);
/* Adds a piece of a file's text. first_line: number of its first line. Lines that are not after the last one so far are skipped, and so
 * are all further lines if memory runs out. */
void kept_file_add(struct kept_file *f, uint64_t first_line, const char *text, size_t bytes);
void kept_lines_fini(struct kept_lines *k);
/* Returns line n (from 1 on), *bytes long, or NULL if it is not kept. */
const char *kept_file_line(const struct kept_file *f, uint32_t n, size_t *bytes);

#endif
