/* SPDX-License-Identifier: MIT */
/*
 * /tmp/perf-PID.map (linux tools/perf/Documentation/jit-interface.txt): a text file to which a JIT appends a line for each code object,
 * `START SIZE name`.  It has no times and no removals, and lines may arrive late, because many JITs buffer them: the first name of an
 * address holds from the beginning, and a later one from the previous read of the file.  No name holds before its memory was mapped.
 *
 * Dialects: numbers with and without 0x (OpenJDK, BEAM), names with blanks, repeated lines (V8).  Bytes are untrusted.  Context: thread.
 */
#ifndef TAILOR_PERF_MAP_H
#define TAILOR_PERF_MAP_H

#include "agent/recorder/jit_files/unloads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map_entry {
	uint64_t address, bytes;
	const char *name; /* not NUL-terminated */
	size_t name_bytes;
};

/* One line, without its end.  0 or -EBADMSG. */
int perf_map_parse_line(const char *line, size_t bytes, struct perf_map_entry *e);

struct perf_map;
/* time_ns: begin of the entry, or JITREG_TIME_BEFORE. */
typedef void (*perf_map_report)(void *context, const struct perf_map_entry *e, uint64_t time_ns);

/* NULL without memory. */
struct perf_map *perf_map_create(void);
void perf_map_destroy(struct perf_map *m);
/* The file starts again from its first byte; entries are kept. */
void perf_map_restart(struct perf_map *m);
/* The lines that are fed were written between the previous look at the file and this one. */
struct perf_map_look {
	uint64_t since_ns, until_ns;
	const struct unloads *unloads; /* all up to until_ns; NULL: none */
	bool late; /* nothing had been written for long, so the lines may be of any time since */
};
/* Number of second names of addresses whose first name came late in the same look, so it cannot be known which of both a sample is of. */
uint64_t perf_map_ambiguous(const struct perf_map *m);
/* Reads the next bytes of the file, in pieces of any size.  Reports each new entry.  Returns the number of invalid lines. */
uint64_t perf_map_feed(struct perf_map *m, const char *text, size_t bytes, const struct perf_map_look *look, perf_map_report report,
		       void *context);

#endif
