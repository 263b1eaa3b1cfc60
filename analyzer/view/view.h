/* SPDX-License-Identifier: MIT */
/*
 * Declares the views of `tailor report --view NAME`, and functions that several of them use. To add a view, write a .c file with a struct
 * view view_NAME, and add NAME to VIEWS, from which help and the golden tests are made. Context: thread.
 */
#ifndef TAILOR_VIEW_VIEW_H
#define TAILOR_VIEW_VIEW_H

#include "analyzer/output/page.h"
#include "analyzer/query/report.h"
#include "analyzer/query/calltree.h"
#include "analyzer/query/warnings.h"
#include "analyzer/source/source_text.h"

#define VIEW_GROUPS_MAX (2 * LEVELS_MAX)

/* This struct has options of single views. The command sets them before it calls the view's functions. Zeros are the defaults. */
struct view_options {
	bool hottest; /* ir, asm: only the hottest lines of a listing, in the order of their cost */
	const char *resources; /* offcpu, resources, critical: file of rules for what calls wait for, or NULL */
	FILE *svg; /* memory, stalls: stream for the view's picture, which the command closes, or NULL */
};

/* This struct is a view that is shown, with its options, and the sums that it asked for. */
struct view_instance {
	const struct view *view;
	struct view_options options;
	struct report_group *group[VIEW_GROUPS_MAX];
	void *state; /* made by report_add_state(), or NULL */
};

#define BRIEF_COLUMNS(p) ((p)->columns > 40 ? (p)->columns - 20 : 20) /* columns for the text of a line in the report without --view */

/* A view's part of the report without --view, which is a table with one line per value. */
struct view_brief {
	const char *heading;
	enum table_column column;
	uint32_t first; /* smaller values have no line (1: leaves out value 0, which stands for none) */
	unsigned flags; /* GRID_WRAP for the line's text, or 0 */
	void (*put)(const struct report *r, const struct page *p, uint32_t value, char *text, size_t bytes);
	/* A value for which is_dull() returns true has a line only if its own samples have at least the share BRIEF_OWN. NULL: none is. */
	bool (*is_dull)(const struct report *r, uint32_t value);
	const unsigned char *part; /* part of each value; only values whose part is `wanted` have a line; NULL: all have */
	unsigned char wanted;
};
extern const struct view_brief brief_functions, brief_images, brief_lines, brief_processes;

struct view {
	const char *name;
	const char *summary; /* one line */
	/* Asks for sums. The model is complete, and no sample has been read. */
	void (*prepare)(struct report *r, struct view_instance *v);
	void (*show)(struct report *r, const struct view_instance *v, struct page *p);
};

/* The order is that of help, from views for most users to views for few. */
#define VIEWS(X) \
	X(plan) \
	X(queries) \
	X(components) \
	X(pipelines) \
	X(functions) \
	X(ir) \
	X(asm) \
	X(cpi) \
	X(stalls) \
	X(code) \
	X(lines) \
	X(images) \
	X(threads) \
	X(processes) \
	X(services) \
	X(marks) \
	X(timeline) \
	X(offcpu) \
	X(resources) \
	X(critical) \
	X(calls) \
	X(tree) \
	X(callers) \
	X(callees) \
	X(events) \
	X(memory) \
	X(methods) \
	X(reasons) \
	X(warnings) \
	X(check)

#define VIEW_EXTERN_(name) extern const struct view view_##name;
VIEWS(VIEW_EXTERN_)
#undef VIEW_EXTERN_

/* --------------------------------------------------------------------------------------- functions for several views */

#define VIEW_EVENTS_MAX 16

/*
 * This struct has the sums of a group with the keys (column, TABLE_EVENT), for each event by the column's value. A group without
 * TABLE_EVENT has sums of the report's event only.
 */
struct split {
	uint32_t nr;
	struct group_sum *sum[VIEW_EVENTS_MAX];
	struct group_sum total[VIEW_EVENTS_MAX];
	uint32_t *order; /* values with samples, or with totals, the largest first */
	uint32_t nr_order;
	struct totals totals; /* nr is 0 if they were not asked for, or without call stacks */
	bool totals_differ; /* some value has more samples in its total than in its own sum */
};

/*
 * Makes the sums, each value by itself. This and the two functions below return false if memory runs out. The caller calls split_fini() in
 * any case.
 */
bool split_make(const struct report *r, const struct report_group *g, struct split *s);
/*
 * Makes sums in which components of several processes with the same label are one value (report_same_value()). With totals (from
 * totals_ask(), or NULL), values are ordered by their totals, and values without samples of their own are included.
 */
bool split_make_with_totals(const struct report *r, const struct report_group *g, const struct report_group *totals, struct split *s);
/* Makes sums in which all values with the same text are one. The first of them stands for all. */
bool split_make_by_text(const struct report *r, const struct report_group *g, const char *(*text)(const struct report *r, uint32_t value),
			struct split *s);
void split_fini(struct split *s);

/* Writes an event's name for the head of a narrow column. Of a name with more than 8 characters, the first 7 and a "." are written. */
void view_event_heading(const struct report *r, uint32_t event, char text[12]);

/*
 * Returns how many samples of equal weight say as much about part / all as the given ones. It is p (1 - p) over the variance of a ratio of
 * weighted sums (W. G. Cochran, Sampling Techniques, 1977, 6.4). With equal weights, that is the number of samples.
 */
double view_effective_samples(const struct group_sum *part, const struct group_sum *all);

/*
 * This struct has the columns of a sum. With totals that differ from the values' own sums (struct split), they begin with total and self,
 * else with share. A share for each other event that has samples, the number of samples, the kernel's part, and the weight (for programs)
 * follow.
 */
struct sum_columns {
	int total, share, samples, total_samples, kernel, weight; /* total and total_samples are -1 without totals */
	int event[VIEW_EVENTS_MAX]; /* -1: the event has no column */
};
struct sum_columns sum_columns_add(struct grid *g, const struct report *r, const struct split *s);
void sum_columns_set(struct grid *g, const struct sum_columns *c, const struct report *r, const struct split *s, uint32_t value);

/* The columns of executions, cost per execution and calls (calls: false leaves out the last). All are -1 if the trace has no counts. */
struct frequencies;
struct frequency_columns {
	const struct frequencies *of;
	int executions, state, per, in, out;
};
struct frequency_columns frequency_columns_add(struct grid *g, struct report *r, bool calls);
void frequency_columns_set(struct grid *g, const struct frequency_columns *c, uint32_t component, const struct group_sum *sum);
/* Leaves these columns empty in a row that stands for no component. */
void frequency_columns_blank(struct grid *g, const struct frequency_columns *c);

#define VIEW_COLUMNS 6 /* columns that a simple table may have of its own */
/*
 * Shows a table of all values with samples, or with totals, the largest first. columns() adds the view's own columns, and cells() sets them
 * for a value.
 */
void view_show_simple_table(struct report *r, const struct report_group *group, const struct report_group *totals, struct page *p,
			    const char *name, const char *heading,
			    void (*columns)(struct grid *g, int column[VIEW_COLUMNS]),
			    void (*cells)(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t value));

/* Shows the same with values of a smaller rank first, those of rank 0 by their own samples. rank: one for each value, or NULL. */
void view_show_ranked_table(struct report *r, const struct report_group *group, const struct report_group *totals,
			    const unsigned char *rank, struct page *p, const char *name, const char *heading,
			    void (*columns)(struct grid *g, int column[VIEW_COLUMNS]),
			    void (*cells)(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t value));

/* Writes sentences about images that have samples and no lines, and about how to get lines. by_image: sums by TABLE_IMAGE. */
void view_say_without_lines(const struct report *r, const struct report_group *by_image, struct page *p);

/*
 * Asks for the text of the hottest line before all others, because only the first text that is missing is explained. by_line: sums by
 * TABLE_LINE and TABLE_EVENT.
 */
void view_ask_for_hottest_text(struct report *r, const struct report_group *by_line);
/*
 * Writes the sentences that reading the texts of source lines has left (source_text_say()). They are about files that are newer than the
 * program, and about why the line that was asked for first has no text.
 */
void view_say_source_texts(struct report *r, struct page *p);

/*
 * Shows a part of the report without --view, with share, samples and a text of each value that has a line, or nothing if no value has one.
 * If totals are not NULL and differ from the values' own sums, total and self take the place of share and samples.
 */
void view_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, const struct view_brief *b,
		     struct page *p);
/* Shows the components of a level in this way, each with at most two of the components that it is linked to. */
void components_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
			   struct page *p);
/*
 * Shows functions of a host's language, with the files and lines where they begin. The column, the first value and put() of *brief are
 * replaced.
 */
void places_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
		       const struct view_brief *brief, struct page *p);
/*
 * Returns the place where a function of a host's language begins ("file:line:column", as the host said it), or else the name of the module
 * that it is a part of. "": neither is known.
 */
const char *component_place(const struct report *r, uint32_t component);
/* Shows attribution methods, and the reasons of unattributed samples, as one table. */
void attribution_show_brief(struct report *r, const struct report_group *methods, const struct report_group *reasons, struct page *p);
/*
 * Shows at most `most` of the recorder's warnings, without those that the report shows elsewhere. without: the sentence of one more that is
 * left out, compared as a pointer; NULL: none.
 */
void warnings_show_brief(const struct warnings *w, uint32_t most, const char *without, struct page *p);
/*
 * Shows the plans of processes, and those of the most expensive queries, in the report without --view. by_level, by_process: sums by
 * component of the plan's level, and by process. by_query: from plan_queries_ask(), or NULL. Returns the number of operators shown, at most
 * PLAN_BRIEF_LINES.
 */
#define PLAN_BRIEF_LINES 40
uint32_t plan_show_brief(struct report *r, struct report_group *by_level, struct report_group *by_process,
			 const struct report_group *by_query, uint32_t level, struct page *p);

/*
 * Shows how many attributed samples have no link to this level from their component, and how many have a component of this level that was
 * never announced. Returns false if there are none.
 */
bool unlinked_show_brief(struct report *r, const struct report_group *by_reason, const struct report_group *by_level, uint32_t level,
			 struct page *p);

/*
 * view_in_phase() writes the phase of sums with REPORT_RUN, for headings, such as ", in the run phase" with the name of the mark. It writes
 * "" if the host did not mark the phase. PHASE_CHARACTERS is the maximum number of bytes of the mark's name.
 */
#define PHASE_CHARACTERS 32
#define PHASE_TEXT (PHASE_CHARACTERS + 20)
/*
 * view_truncated() writes what follows the heading of a table of totals: ", 12.3 % of the stacks truncated", or "" if they are few. totals:
 * NULL if the table has none.
 */
#define TRUNCATED_TEXT 48
const char *view_truncated(const struct report *r, const struct report_group *totals, char text[TRUNCATED_TEXT]);
const char *view_in_phase(const struct report *r, char text[PHASE_TEXT]);

/* Writes the facts about all views (page_fact()), and in text form the lines in front of them, which say which samples they show. */
void view_header(const struct report *r, struct page *p);

#endif
