/* SPDX-License-Identifier: MIT */
/*
 * A report is made in three steps.  Views ask for groups before the samples are read, the sums are made in one pass over the samples, and
 * then the views show them.
 *
 * A group sums up rows that pass the user's filter.  They are of one event (the first, unless --event names another), because counts of
 * different events do not add up, or of all events if the event is one of the group's keys.  With REPORT_RUN they are of the run phase, if
 * report.has_run.  Context: thread.
 */
#ifndef TAILOR_REPORT_H
#define TAILOR_REPORT_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/query/filter.h"
#include "analyzer/query/labels.h"
#include "analyzer/table/group.h"

#define REPORT_RUN 1u	     /* inside of run marks only, if report.has_run */
#define REPORT_ALL_EVENTS 2u /* add up all rows that pass the filter, of any event */
#define REPORT_OUTSIDE 4u /* outside of run marks only, if report.has_run */

#define REPORT_GROUPS_MAX 256
#define REPORT_BINS_MAX 4096 /* maximum number of bins of GROUP_BIN, whose width is doubled as needed */

struct report_group {
	struct group g;
	void *memory;
	unsigned flags;
	struct report *report;
};

/* A view that needs more than sums adds a callback.  It is called with the rows that pass the filter, of all events, block by block, and
 * returns 0 or -errno. */
struct report_each {
	int (*rows)(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
	void *context;
};
#define REPORT_EACH_MAX 16

/* The report keeps a view's own data, and frees them. */
struct report_state {
	void *state;
	void (*fini)(void *state);
};

struct report {
	struct model *model;
	struct trace_reader *reader; /* reader of what the model leaves in the trace: code bytes */
	const struct attribution *a;
	struct filter filter;
	const struct filter_arguments *arguments;
	const char *level; /* --level, or NULL */
	bool stack_only;
	bool stacks; /* a view or filter needs TABLE_STACK, so stacks are collected */
	bool without_lines; /* lines of code that is not generated are not looked up */
	bool declarations; /* an export has the places where functions are declared */
	bool has_stacks; /* the trace has call stacks, as bytes of the stack or as return addresses */
	bool addresses; /* a view wants addresses, computed where they were not sampled */
	uint64_t first_ns, last_ns; /* times of the samples that pass the filter */
	double samples;		    /* number of samples that pass the filter */
	/* Weight of idle processors, which the filter leaves out (samples, and time without any), and of the samples that pass. */
	double idle, not_idle;
	struct labels labels;	    /* labels of components; if there are none, names stand for them */
	bool per_process; /* components of several processes that have the same label are not added up */
	/* the trace has run marks (filter_phase()) that groups can be limited to; false with --mark all, and if the host has objects */
	bool has_run;
	uint32_t event;		    /* index of the event that groups are of */
	struct report_group *group[REPORT_GROUPS_MAX];
	uint32_t nr_groups;
	struct report_each each[REPORT_EACH_MAX];
	uint32_t nr_each;
	struct report_state state[REPORT_EACH_MAX];
	uint32_t nr_states;
	void *frequencies; /* owned by frequencies.c */
	void *best_cases; /* owned by the listings */
	void *source_texts; /* owned by source_text.c */
	const char *processor; /* --processor, whose best case blocks are compared with, or NULL */
	const char *const *assumed; /* --assume: counts of calls and arcs that the user assumes */
	bool *is_assumed; /* for each assumption: it has been applied to a call or arc */
	int nr_assumed;
	uint32_t *selected, *rows; /* row numbers of the current block, which have room for scratch of them */
	uint32_t scratch;
	int error;
};

/* Asks for sums by keys (table columns, GROUP_BIN), which end with -1, before samples are read. The report frees them. The result is never
 * NULL. If memory runs out, or there are too many, report.error is set, and the result is a group without memory. */
struct report_group *report_add_group(struct report *r, unsigned flags, ...);
/* Adds all sums of from, which has the same keys, to those of to.  Returns 0 or -ENOMEM. */
int report_group_add(struct report_group *to, const struct report_group *from);
/* Returns zeroed memory that the report frees. fini(state), unless it is NULL, is called before that. If memory runs out, or there are
 * REPORT_EACH_MAX already, report.error is set, and NULL is returned. */
void *report_add_state(struct report *r, size_t bytes, void (*fini)(void *state));
/* Makes the report call rows() with the rows of all events that pass the filter, block by block. If there are REPORT_EACH_MAX already, or
 * context is NULL (because memory ran out), report.error is set. */
void report_add_callback(struct report *r,
			 int (*rows)(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr),
			 void *context);
/* Returns the columns that all groups and filters need, for attribute_options.sums_by. Returns 0 if single samples are needed. */
uint64_t report_sums_by(const struct report *r);

/* Checks whether groups, filters or callbacks need the lines of code, whose look-up takes time. */
bool report_asks_lines(const struct report *r);
/* Filters rows, and adds them to all groups, as attribute_options.rows.  context is the report.  Returns 0, -ENOMEM, or the error of a
 * callback. */
int report_add_rows(void *context, const struct attribution *a, const struct table *t);
/* Returns the words for the part of the samples that is shown. They are "without idle processors" if only these are left out, else "pass
 * the filter". */
const char *report_what_passes(const struct report *r);
/* Adds to report.idle the idle time that has no samples (model_event.idle_ns), if the filter leaves out idle processors and, but for other
 * events, nothing else. Call after all rows. */
void report_add_unsampled_idle_time(struct report *r);
/* Checks whether one of the rows from first on passes the filter, as attribute_options.shows. context is the report. If memory runs out,
 * report.error is set, and false is returned. */
bool report_shows_sample(void *context, const struct attribution *a, const struct table *t, uint32_t first);
/* Spends steps of the budget for reading the trace. Returns false if it is exceeded. Then the caller ends its work early and shows what it
 * has, and the command fails with a sentence at its end. */
bool report_spend(const struct report *r, uint64_t steps);
void report_fini(struct report *r);

/* Returns the number that shares are computed from, which is the weight of the samples if they have any, else their number. */
double report_measure(const struct report *r, const struct group_sum *s);
/* Returns the unit of the weights of the report's event, or "samples" if it has none. */
const char *report_unit(const struct report *r);
/* Returns that unit, or NR_WEIGHT_UNITS if it is none that this version knows. */
enum weight_unit report_weighs(const struct report *r);
/* Returns the level called name. If name is NULL, returns the level that the host calls its plan, else the topmost one that has edges.
 * Returns LEVELS_MAX if there is none. */
uint32_t report_find_level(const struct report *r, const char *name);
/* Returns the level's name, or "component" if it has none. */
const char *report_level_name(const struct report *r, uint32_t level);
/* Returns a component's label, which tells it from others of its level (labels.h), "component 17" without a name, or "(unattributed)" for
 * COMPONENT_NONE.  spare: room for 32 bytes. */
const char *report_component_name(const struct report *r, uint32_t component, char *spare);
/* Returns what a thread does for its host, by its name (host_work_of_thread()), or REASON_NONE for a number that is no thread's. */
enum reason report_work_of_thread(const struct report *r, uint32_t thread);
/* Returns the first of all components that have the same label in several processes, so that their sums can be added up.  Returns value
 * itself if report.per_process is set, and for columns that are no levels. */
uint32_t report_same_value(const struct report *r, enum table_column column, uint32_t value);
/* Returns a component's name without what tells it from others, to be shown beside its detail, and to be compared with names of another
 * trace.  Without a name it is that of report_component_name(). */
const char *report_component_own_name(const struct report *r, uint32_t component, char *spare);

/*
 * Writes the names of the components that a component leads to at a level, the largest share first: "hash join + group by". At its own
 * level it is the component itself.
 *
 * was_seen: the component has samples, and links that were ended count, too. Otherwise only links at the last sample's time count, and ""
 * is written if there were only other ones, as of code that an optimizer removed. "(none)" is written if it never led to any.
 */
void report_owners(const struct report *r, uint32_t component, uint32_t level, bool was_seen, char *text, size_t bytes);

/* Returns the groups of g, the largest first, as indexes into g->g.sum. The caller frees the array. Returns NULL if memory ran out. */
uint32_t *report_order(const struct report *r, const struct report_group *g);
/* Returns the sum of a value in a group by one key.  It is empty if no row had that value, or g is NULL. */
const struct group_sum *report_find_sum(const struct report_group *g, uint32_t value);
/* Returns the value of key k of group i. */
static inline uint32_t report_value(const struct report_group *g, uint32_t i, uint32_t k)
{
	return g->g.value[(size_t)i * g->g.nr_keys + k];
}

#endif
