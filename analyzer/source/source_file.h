/* SPDX-License-Identifier: MIT */
/*
 * Reads a whole file of source text.  The path comes from the trace, which may be hostile, and the text may go into a page that is passed
 * on.  So only regular files of at most SOURCE_FILE_BYTES_MAX are read, and only if their name or their first two bytes (#!) are those of a
 * language.  Context: thread.
 */
#ifndef TAILOR_SOURCE_FILE_H
#define TAILOR_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILE_BYTES_MAX (8u << 20)

enum source_state { SOURCE_FOUND, SOURCE_ABSENT, SOURCE_FORBIDDEN, SOURCE_NO_LANGUAGE, SOURCE_TOO_LARGE, SOURCE_BINARY };

struct source_file {
	char *text; /* ends in a NUL, and has no other NUL */
	size_t bytes;
	uint32_t *line_start; /* offsets in text at which lines begin, and that of the end: nr_lines + 1 numbers */
	uint32_t nr_lines;
	int64_t changed_ns; /* time of the last change (ns, CLOCK_REALTIME) */
};

/* Returns whether the file's name or its first two bytes (#!) show that it is source text. */
bool source_file_has_language(const char *path, int fd);
/* Reads a file into *out.  Returns SOURCE_FOUND, or the reason why *out is untouched, which is SOURCE_ABSENT also if memory ran out. */
enum source_state source_file_read(const char *path, struct source_file *out);
void source_file_fini(struct source_file *f);
/* Returns line n, from 1 on, without its end, or "" if there is no such line. *bytes: its length. */
const char *source_file_line(const struct source_file *f, uint32_t n, size_t *bytes);

#endif
