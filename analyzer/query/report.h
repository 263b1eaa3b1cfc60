/* SPDX-License-Identifier: MIT */
/*
 * A report in the making: views ask for groups before the samples are read, the sums are made in one pass over them, and
 * then the views show them.
 *
 * Which rows a group sums up: those that pass the user's filter; of one event (the first, unless --event says another),
 * because counts of different events do not add up, or of all events where the event is one of its keys; and, with
 * REPORT_RUN, of the run phase where the host marked one.  Context: thread.
 */
#ifndef TAILOR_REPORT_H
#define TAILOR_REPORT_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/query/filter.h"
#include "analyzer/query/labels.h"
#include "analyzer/table/group.h"

#define REPORT_RUN 1u	     /* inside of run marks only, if there are any and --mark does not say otherwise */
#define REPORT_ALL_EVENTS 2u /* add up what passes the filter, whichever event it is of */
#define REPORT_OUTSIDE 4u /* outside of run marks only; likewise */

#define REPORT_GROUPS_MAX 256
#define REPORT_BINS_MAX 4096 /* of GROUP_BIN; bins grow twofold as needed */

struct report_group {
	struct group g;
	void *memory;
	unsigned flags;
	struct report *report;
};

/* For what sums do not hold: called with the rows that pass the filter, of all events, block by block; 0 or -errno. */
struct report_each {
	int (*rows)(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
	void *context;
};
#define REPORT_EACH_MAX 16

/* A view's own data; the report frees it. */
struct report_state {
	void *state;
	void (*fini)(void *state);
};

struct report {
	struct model *model;
	struct trace_reader *reader; /* for what the model leaves in the trace: code bytes */
	const struct attribution *a;
	struct filter filter;
	const struct filter_arguments *arguments;
	const char *level; /* --level, or NULL */
	bool stack_only;
	bool hottest; /* listings: the hottest lines instead of the whole text */
	bool stacks; /* a view wants TABLE_STACK */
	bool without_lines; /* lines of code that is not generated are not asked for */
	bool has_stacks; /* the trace has some: of bytes, or return addresses */
	const char *resources; /* file of rules for --view resources, or NULL */
	FILE *svg; /* for a view's picture, or NULL */
	bool addresses; /* a view wants addresses, computed where they were not sampled */
	uint64_t first_ns, last_ns; /* of the samples that pass the filter */
	double samples;		    /* number of samples that pass the filter */
	/* weight of idle processors, which the filter leaves out (samples, and time without any), and of the samples that pass */
	double idle, not_idle;
	struct labels labels;	    /* of components; none: names */
	bool per_process; /* components of several processes that are called alike stay apart */
	bool has_run;		    /* there are run marks */
	uint32_t event;		    /* the one that groups are of */
	struct report_group *group[REPORT_GROUPS_MAX];
	uint32_t nr_groups;
	struct report_each each[REPORT_EACH_MAX];
	uint32_t nr_each;
	struct report_state state[REPORT_EACH_MAX];
	uint32_t nr_states;
	void *frequencies; /* frequencies.c's */
	void *best_cases; /* the listings' */
	void *source_texts; /* source_text.c's */
	const char *processor; /* whose best case blocks are compared with: --processor, or NULL */
	const char *const *assumed; /* what the reader says of calls and arcs: --assume */
	bool *is_assumed; /* whether the trace has such a call or arc */
	int nr_assumed;
	uint32_t *selected, *rows; /* scratch of a block */
	uint32_t scratch;
	int error;
};

/* Ask for sums by keys (ended by -1).  Never NULL: a lack of memory shows in report.error. */
struct report_group *report_add_group(struct report *r, unsigned flags, ...);
/* Add all of from, which has the same keys, to the sums of to.  0 or -ENOMEM. */
int report_group_add(struct report_group *to, const struct report_group *from);
/* Zeroed memory that lives as long as the report; fini(state), where there is one, is called before it goes.  NULL without memory. */
void *report_add_state(struct report *r, size_t bytes, void (*fini)(void *state));
/* Have all rows passed to rows(). */
void report_add_callback(struct report *r,
			 int (*rows)(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr),
			 void *context);
/* What all that was asked for is made of: attribute_options.sums_by. */
uint64_t report_sums_by(const struct report *r);

/* Whether lines of code are among what is grouped or filtered by. */
bool report_asks_lines(const struct report *r);
/* attribute_trace()'s callback; context is the report.  0 or -ENOMEM. */
int report_add_rows(void *context, const struct attribution *a, const struct table *t);
/* Of samples, where not all pass: "pass the filter", or, where no filter was asked for, what is left out. */
const char *report_what_passes(const struct report *r);
/* Behind all rows: processors are idle without samples, too. */
void report_add_unsampled_idle_time(struct report *r);
/* Does one of the rows from first on pass the filter?  attribute_trace()'s callback, too. */
bool report_shows_sample(void *context, const struct attribution *a, const struct table *t, uint32_t first);
/* Steps of the budget for reading the trace.  false: it is exceeded.  The view ends with what it has; the command fails with a sentence. */
bool report_spend(const struct report *r, uint64_t steps);
void report_fini(struct report *r);

/* What shares are made of: periods where samples have them, else their number. */
double report_measure(const struct report *r, const struct group_sum *s);
const char *report_unit(const struct report *r);
/* The level called name; NULL: the one that the host calls its plan, else the topmost one that has edges.  LEVELS_MAX: none. */
uint32_t report_find_level(const struct report *r, const char *name);
const char *report_level_name(const struct report *r, uint32_t level);
/* What tells a component from others of its level (labels.h), "component 17" without a name, "(unattributed)" for COMPONENT_NONE; spare has
 * room for 32. */
const char *report_component_name(const struct report *r, uint32_t component, char *spare);
/* The one that stands for a value of a column, where processes have components that are called alike; else the value. */
uint32_t report_same_value(const struct report *r, enum table_column column, uint32_t value);
/* Likewise its name alone: beside its detail, and where it is compared with names of another trace. */
const char *report_component_own_name(const struct report *r, uint32_t component, char *spare);

/*
 * The names of those that a component leads to at a level, the largest share first: "hash join + group by"; itself at its own; "(none)".
 * "": whom it led to was taken back (code that an optimizer removed), and no sample has seen it.
 */
void report_owners(const struct report *r, uint32_t component, uint32_t level, bool was_seen, char *text, size_t bytes);

/* Groups of g, the largest first: indexes into g->g.sum; malloc()ed, the caller's.  NULL without memory. */
uint32_t *report_order(const struct report *r, const struct report_group *g);
/* The sum of a group by one key; an empty one where no row had that value, or g is NULL. */
const struct group_sum *report_find_sum(const struct report_group *g, uint32_t value);
/* Value of key k of group i. */
static inline uint32_t report_value(const struct report_group *g, uint32_t i, uint32_t k)
{
	return g->g.value[(size_t)i * g->g.nr_keys + k];
}

#endif
