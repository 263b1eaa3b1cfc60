/* SPDX-License-Identifier: MIT */
/*
 * A screen of `tailor top`: what the samples of a stretch of a trace add up to, by one of the levels below.  The sums are those that
 * `tailor report --from --to` makes of the same trace, by the same code.  Context: thread.
 */
#ifndef TAILOR_TOP_ROWS_H
#define TAILOR_TOP_ROWS_H

#include "analyzer/cmd_trace.h"

#include <stdbool.h>
#include <stdint.h>

#define TOP_LEVELS(X) \
	X(OPERATORS, "operators") \
	X(QUERIES, "queries") \
	X(FUNCTIONS, "functions") \
	X(LINES, "lines") \
	X(CALLERS, "callers") \
	X(PROCESSES, "processes") \
	X(THREADS, "threads")

#define TOP_LEVEL_INDEX_(NAME, text) TOP_##NAME,
enum top_level { TOP_LEVELS(TOP_LEVEL_INDEX_) TOP_NR_LEVELS };
#undef TOP_LEVEL_INDEX_
extern const char *const top_level_names[];

/* Measures are in the event's unit, or samples where it has none. */
struct top_row {
	char *name;
	char *place; /* image, executable, caller: beside the name; may be "" */
	char *key; /* what a filter by it is called: LEVEL:NAME, a name, a number; "": there is none */
	double self, total, samples, total_samples, kernel; /* kernel: samples in it; totals are selves where there are no call stacks */
};

/* Sentences without which the rows would be misread: hosts of which something is missing, as reports begin with. */
#define TOP_NOTES 4
#define TOP_NOTE_BYTES 640

struct top_rows {
	struct top_row *row; /* the largest self first */
	uint32_t nr, capacity;
	enum top_level level; /* that they are of: functions where operators or queries were asked for and the host declared none */
	char heading[64];
	char event[64];
	bool has_totals;
	double measure, samples; /* of all that passes the filter */
	uint64_t lost;		 /* samples of the whole trace */
	char note[TOP_NOTES][TOP_NOTE_BYTES];
	uint32_t nr_notes;
	uint64_t first_ns, last_ns; /* of the trace's samples; 0: there is none */
};

struct top_question {
	enum top_level level;
	struct trace_arguments trace; /* filter, with from_s and to_s */
	bool totals;
};

/* Of the trace at path; one that is being written is read as far as it has come, where trace.live says so.  CMD_DONE, or an exit status
 * with a sentence on stderr; *rows is empty then.  top_rows_fini() in any case. */
int top_rows_read(const char *path, const struct top_question *q, struct top_rows *rows);
void top_rows_fini(struct top_rows *rows);
/* Adds rows of an earlier stretch, which are taken, of the same question: if they are of the same level, and of no call tree. */
void top_rows_add(struct top_rows *rows, struct top_rows *earlier);

enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_NR_SORTS };
extern const char *const top_sort_names[];
void top_rows_sort(struct top_rows *rows, enum top_sort by);

#endif
