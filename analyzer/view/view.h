/* SPDX-License-Identifier: MIT */
/*
 * The views of `tailor report --view NAME`.  To add one: write <name>.c with a struct view, and add it to VIEWS; help
 * and the golden tests come from here.  Context: thread.
 */
#ifndef TAILOR_VIEW_VIEW_H
#define TAILOR_VIEW_VIEW_H

#include "analyzer/output/page.h"
#include "analyzer/query/report.h"
#include "analyzer/query/calltree.h"
#include "analyzer/source/source_text.h"

#define VIEW_GROUPS_MAX (2 * LEVELS_MAX)

/* A view in use. */
struct view_instance {
	const struct view *view;
	struct report_group *group[VIEW_GROUPS_MAX];
	void *state; /* of report_add_state(), or NULL */
};

#define BRIEF_COLUMNS(p) ((p)->columns > 40 ? (p)->columns - 20 : 20) /* of a text */

/* A view's part of the report without --view: a table with a line a value. */
struct view_brief {
	const char *heading;
	enum table_column column;
	uint32_t first; /* values below it have no line */
	unsigned flags; /* of the line's text: GRID_WRAP or 0 */
	void (*put)(const struct report *r, const struct page *p, uint32_t value, char *text, size_t bytes);
	bool (*is_dull)(const struct report *r, uint32_t value); /* where nothing is its own, it has no line; NULL: none is */
	const unsigned char *part; /* by value, or NULL: only those that have `wanted` there have a line */
	unsigned char wanted;
};
extern const struct view_brief brief_functions, brief_images, brief_lines, brief_processes;

struct view {
	const char *name;
	const char *summary; /* one line */
	/* Ask for sums; the model is there, samples are not. */
	void (*prepare)(struct report *r, struct view_instance *v);
	void (*show)(struct report *r, const struct view_instance *v, struct page *p);
};

/* In the order of help: from what most people want to what few do. */
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

/* ---------------------------------------------------------------------------------------- what several views have */

#define VIEW_EVENTS_MAX 16

/* Sums of groups with keys (column, TABLE_EVENT): per event, by the column's value. */
struct split {
	uint32_t nr;
	struct group_sum *sum[VIEW_EVENTS_MAX];
	struct group_sum total[VIEW_EVENTS_MAX];
	uint32_t *order; /* values with samples, the largest first */
	uint32_t nr_order;
	struct totals totals; /* nr 0: none */
	bool totals_differ; /* from what is their own, of some value */
};

/* false without memory; split_fini() in any case. */
bool split_make(const struct report *r, const struct report_group *g, struct split *s);
/* Likewise, but components that are called alike in several processes are one; with totals (totals_ask()) where these are not NULL: by them
 * values are ordered, also those without samples of their own. */
bool split_make_with_totals(const struct report *r, const struct report_group *g, const struct report_group *totals, struct split *s);
/* By a text that several values may have: what is of one text is at the first of its values. */
bool split_make_by_text(const struct report *r, const struct report_group *g, const char *(*text)(const struct report *r, uint32_t value),
			struct split *s);
void split_fini(struct split *s);

/* An event's name for the head of a narrow column. */
void view_event_heading(const struct report *r, uint32_t event, char text[12]);

/*
 * How many samples of equal weight say as much about part / all as those that there are: p (1 - p) over the variance of a ratio of
 * weighted sums (W. G. Cochran, Sampling Techniques, 1977, 6.4).  Of equal weights: their number.
 */
double view_effective_samples(const struct group_sum *part, const struct group_sum *all);

/* Columns that tell a sum: total and self, or share, the first with a bar, samples, the kernel's part, for programs the weight, and a share
 * per other event. */
struct sum_columns {
	int total, share, samples, total_samples, kernel, weight; /* totals: -1: none */
	int event[VIEW_EVENTS_MAX]; /* -1: none */
};
struct sum_columns sum_columns_add(struct grid *g, const struct report *r, const struct split *s);
void sum_columns_set(struct grid *g, const struct sum_columns *c, const struct report *r, const struct split *s, uint32_t value);

/* Columns of executions, cost per execution and calls, where the trace has counts; else none: -1. */
struct frequencies;
struct frequency_columns {
	const struct frequencies *of;
	int executions, state, per, in, out;
};
struct frequency_columns frequency_columns_add(struct grid *g, struct report *r, bool calls);
void frequency_columns_set(struct grid *g, const struct frequency_columns *c, uint32_t component, const struct group_sum *sum);
/* Of a row that has none of them to say. */
void frequency_columns_blank(struct grid *g, const struct frequency_columns *c);

#define VIEW_COLUMNS 6 /* that such a table may have of its own */
/* A grid of all values with samples, the largest first. */
void view_show_simple_table(struct report *r, const struct report_group *group, const struct report_group *totals, struct page *p,
			    const char *name, const char *heading,
			    void (*columns)(struct grid *g, int column[VIEW_COLUMNS]),
			    void (*cells)(struct report *r, struct grid *g, const int column[VIEW_COLUMNS], uint32_t value));

/* Sentences about images with samples and without lines, and what brings them; by_image: sums by TABLE_IMAGE. */
void view_say_without_lines(const struct report *r, const struct report_group *by_image, struct page *p);

/* Of the texts of lines the hottest one's is asked for first, for that is the one whose absence is said; by_line: sums by TABLE_LINE and
 * TABLE_EVENT. */
void view_ask_for_hottest_text(struct report *r, const struct report_group *by_line);
/* Sentences about texts of source lines: of files newer than the program; why the hottest has none. */
void view_say_source_texts(struct report *r, struct page *p);

/* A part of the report: share, samples and a text of all values of the event shown; nothing where there are none.  Where totals are not
 * NULL and differ, total and self in place of share and samples. */
void view_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, const struct view_brief *b,
		     struct page *p);
void components_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
			   struct page *p);
/* Likewise functions of a host's language, with the files and lines where they begin; brief: heading and part. */
void places_show_brief(struct report *r, const struct report_group *group, const struct report_group *totals, uint32_t level,
		       const struct view_brief *brief, struct page *p);
/* Where such a function begins, "file:line:column", or the module that it is a part of; "": unknown. */
const char *component_place(const struct report *r, uint32_t component);
/* Methods, and the reasons of unattributed samples, as one table. */
void attribution_show_brief(struct report *r, const struct report_group *methods, const struct report_group *reasons, struct page *p);
/* The recorder's warnings, at most so many, without one that has been said (NULL: none). */
void warnings_show_brief(const struct report *r, uint32_t most, const char *without, struct page *p);
/* The plans of all processes, of sums by level and by process, and those of queries (plan_queries_ask(), or NULL); at most
 * PLAN_BRIEF_LINES operators.  Returns how many. */
#define PLAN_BRIEF_LINES 40
uint32_t plan_show_brief(struct report *r, struct report_group *by_level, struct report_group *by_process,
			 const struct report_group *by_query, uint32_t level, struct page *p);

/* Samples that are unattributed at a level alone: their component has no link to it, or was never announced.  false: there are none. */
bool unlinked_show_brief(struct report *r, const struct report_group *by_reason, const struct report_group *by_level, uint32_t level,
			 struct page *p);

/* ", in the run phase", which sums with REPORT_RUN are of, or that of another mark; "" where the host marked none. */
#define PHASE_CHARACTERS 32
#define PHASE_TEXT (PHASE_CHARACTERS + 20)
/* Behind the heading of a table of totals: ", 12.3 % of the stacks truncated", where that is worth it; else "".  totals: NULL: it has
 * none. */
#define TRUNCATED_TEXT 48
const char *view_truncated(const struct report *r, const struct report_group *totals, char text[TRUNCATED_TEXT]);
const char *view_in_phase(const struct report *r, char text[PHASE_TEXT]);

/* First lines of every view in text form: which samples these are. */
void view_header(const struct report *r, struct page *p);

#endif
