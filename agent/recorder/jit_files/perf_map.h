/* SPDX-License-Identifier: MIT */
/*
 * This module parses /tmp/perf-PID.map (linux tools/perf/Documentation/jit-interface.txt), a text file to which a JIT appends a line for
 * each code object, `START SIZE name`. It has no times and no removals, and lines may arrive late, because many JITs buffer them. So the
 * first name of an address holds from the beginning, and a later one since the look at the file before the one that found it, or since the
 * memory was freed, if it is known that it was freed and mapped again (unloads.h).
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

/* Parses one line, without its newline.  e->name points into it.  Returns 0 or -EBADMSG. */
int perf_map_parse_line(const char *line, size_t bytes, struct perf_map_entry *e);

struct perf_map;
/* This callback gets an entry, which is valid until it returns. time_ns: time since which the entry's name holds, JITREG_TIME_BEFORE if it
 * holds from the beginning. */
typedef void (*perf_map_report)(void *context, const struct perf_map_entry *e, uint64_t time_ns);

/* Returns NULL if memory runs out. */
struct perf_map *perf_map_create(void);
void perf_map_destroy(struct perf_map *m);
/* Called when the file is read again from its first byte.  Forgets an incomplete line, and keeps the entries. */
void perf_map_restart(struct perf_map *m);
/* The lines that are fed were written between two looks at the file, of which one was at since_ns and the next at until_ns. */
struct perf_map_look {
	uint64_t since_ns, until_ns;
	const struct unloads *unloads; /* all up to until_ns; NULL: none */
	bool late; /* nothing had been written for long, so the JIT may have buffered the lines, whose code is older than since_ns then */
};
/* Returns the number of names that came late, in the same look as another name of their address, so that it cannot be known which of the
 * two a sample belongs to. */
uint64_t perf_map_ambiguous(const struct perf_map *m);
/* Parses the next bytes of the file, in pieces of any size, and reports each entry that is new.  Returns the number of invalid lines. */
uint64_t perf_map_feed(struct perf_map *m, const char *text, size_t bytes, const struct perf_map_look *look, perf_map_report report,
		       void *context);
/* Called when the file does not grow any more. Reports the last line if it has no newline, and forgets it. A writer that was killed may
 * have cut that line, so one that is no entry does not count as invalid. */
void perf_map_end(struct perf_map *m, const struct perf_map_look *look, perf_map_report report, void *context);

#endif
