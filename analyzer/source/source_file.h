/* SPDX-License-Identifier: MIT */
/*
 * A file of source text, read whole.  The path is the trace's, which may be anyone's, and what is read may go into a page that is
 * passed on: so only regular files, only those that are of a language by their name or their first two bytes (#!), and no large ones.
 * Context: thread.
 */
#ifndef TAILOR_SOURCE_FILE_H
#define TAILOR_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FILE_BYTES_MAX (8u << 20)

enum source_state { SOURCE_FOUND, SOURCE_ABSENT, SOURCE_FORBIDDEN, SOURCE_NO_LANGUAGE, SOURCE_TOO_LARGE, SOURCE_BINARY };

struct source_file {
	char *text; /* ends in a NUL, and has no other */
	size_t bytes;
	uint32_t *line_start; /* nr_lines + 1 */
	uint32_t nr_lines;
	int64_t changed_ns; /* CLOCK_REALTIME */
};

/* Is it of a language, by its name or its first two bytes? */
bool source_file_has_language(const char *path, int fd);
/* SOURCE_FOUND, or why *out is untouched; SOURCE_ABSENT also without memory. */
enum source_state source_file_read(const char *path, struct source_file *out);
void source_file_fini(struct source_file *f);
/* Line n, from 1 on, without its end; "" where there is none. */
const char *source_file_line(const struct source_file *f, uint32_t n, size_t *bytes);

#endif
