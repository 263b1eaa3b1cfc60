/* SPDX-License-Identifier: MIT */
/* Makes the rows of a screen of `tailor top`, which are sums of the samples in an interval of a trace, by one of the levels below. The same
 * code makes the same sums for `tailor report --from --to`. Context: thread. */
#ifndef TAILOR_TOP_ROWS_H
#define TAILOR_TOP_ROWS_H


#include "analyzer/reading/reading_arguments.h"
#include "jitreg/base/grow.h"

#include <stdbool.h>
#include <stdint.h>

#define TOP_LEVELS(X) \
	X(OPERATORS, "operators") \
	X(QUERIES, "queries") \
	X(LANGUAGE, "language") /* functions of a host's language, and of machine code that none of them called */ \
	X(FUNCTIONS, "functions") \
	X(LINES, "lines") \
	X(CALLERS, "callers") \
	X(PROGRAMS, "programs") \
	X(COMMANDS, "commands") /* command lines, as the reports label them */ \
	X(PROCESSES, "processes") \
	X(THREADS, "threads")

#define TOP_LEVEL_INDEX_(NAME, text) TOP_##NAME,
enum top_level { TOP_LEVELS(TOP_LEVEL_INDEX_) TOP_NR_LEVELS, TOP_LEADING = TOP_NR_LEVELS /* what leading_choose() says */ };
#undef TOP_LEVEL_INDEX_
extern const char *const top_level_names[];

/* A row. self and total are in the event's unit, or are samples if it has none. */
struct top_row {
	char *name;
	char *place; /* image, executable, process, operator's detail or "(generated code)", shown beside the name; may be "" */
	bool is_component; /* with TOP_LANGUAGE: key is LEVEL:NAME, as of an operator */
	char *key; /* value of a filter for this row: LEVEL:NAME, a name, a path or a number; "": none */
	/* kernel: samples in the kernel, 0 for callers; if rows have no totals, total and total_samples are the same as self and samples */
	double self, total, samples, total_samples, kernel;
};

/* Rows have at most TOP_NOTES notes of at most TOP_NOTE_BYTES. A note is a sentence without which the rows would be misread, such as that
 * the information of a host is incomplete. Reports begin with the same sentences. */
#define TOP_NOTES 4
#define TOP_NOTE_BYTES 640

struct top_rows {
	ARRAY_OF(struct top_row); /* in no order before top_rows_sort(); with TOP_CALLERS a tree, each call followed by its callers */
	/* level of the rows; functions if the host has no operators, queries or language that were asked for; not TOP_LEADING */
	enum top_level level;
	uint32_t levels; /* bit per level that the trace has */
	char heading[64];
	char event[64];
	bool has_totals;
	double measure, samples; /* sums of all samples that pass the filter */
	uint64_t lost;		 /* lost samples of the whole trace, or of both if top_rows_add() has added rows */
	char note[TOP_NOTES][TOP_NOTE_BYTES];
	uint32_t nr_notes;
	uint64_t first_ns, last_ns; /* first and last sample of the trace; 0: no samples */
};

struct top_question {
	enum top_level level;
	struct reading_arguments trace; /* filter, with from_s and to_s */
	bool totals;
};

/*
 * Sums up the trace at path. With q->trace.live, a growing trace is read as far as it has been written. Returns 0, or -errno with a
 * sentence. After a failure, there are no rows if the trace cannot be opened, those of its readable part if it is damaged (-EBADMSG) or
 * its budget is exceeded, or some of them if memory runs out. The caller calls top_rows_fini() in any case.
 */
int top_rows_read(const char *path, const struct top_question *q, struct top_rows *rows, struct diag *d);
void top_rows_fini(struct top_rows *rows);
/* Adds the rows of an earlier interval, for the same question, if they have the same level, heading and event and are no call tree. If
 * *rows has no samples and the earlier ones have, it gets the earlier rows in any case. Moves rows out of *earlier. */
void top_rows_add(struct top_rows *rows, struct top_rows *earlier);

enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_NR_SORTS };
extern const char *const top_sort_names[];
void top_rows_sort(struct top_rows *rows, enum top_sort by);

#endif
