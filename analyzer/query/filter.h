/* SPDX-License-Identifier: MIT */
/*
 * A filter turns the user's options into conditions on the sample table.  Threads, processes and components may still be found while
 * samples are read, so the sets of wanted values grow from block to block.  Context: thread.
 */
#ifndef TAILOR_FILTER_H
#define TAILOR_FILTER_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/query/labels.h"

#include <regex.h>

#define FILTER_COMPONENTS_MAX 8

struct filter_arguments {
	const char *event;
	/* LEVEL:NAME, or NAME at the first level that has it, else at that of functions, else at level 0; a sample must have all */
	const char *component[FILTER_COMPONENTS_MAX];
	int nr_components;
	const char *below[FILTER_COMPONENTS_MAX]; /* the same for frames of the call stack, which must contain all */
	int nr_below;
	const char *function; /* name of the function */
	const char *service;  /* service that the process works for */
	const char *program; /* text of process_program(); only `top` sets it */
	const char *mark; /* NAME, NAME#INSTANCE, or "all", which means in marks and outside of them */
	double from_s, to_s; /* seconds after the first sample; 0: not given */
	bool has_tid, has_pid;
	uint64_t tid, pid;
	const regex_t *thread_name; /* pattern of the thread's name at the sample's time; NULL: not given */
	const char *thread_name_text; /* the expression */
};

#define FILTER_SETS_MAX (2 * FILTER_COMPONENTS_MAX + 6)

struct filter {
	struct table_filter table;
	struct table_condition condition[FILTER_SETS_MAX];
	struct filter_set {
		unsigned char *allowed;
		uint32_t nr, capacity;
		bool (*passes)(const struct filter *f, const struct attribution *a, uint32_t value, uint32_t set);
		/* some value passes; if none does, here and in or_set, filter_check_matches() fails, except for idle processors */
		bool any;
	/* or_set: values of table_condition.or_column; passes is NULL if the condition has none */
	} set[FILTER_SETS_MAX], or_set[FILTER_SETS_MAX];
	uint32_t component_level[FILTER_SETS_MAX]; /* LEVELS_MAX: none */
	enum table_column frame_column[FILTER_SETS_MAX]; /* --below: frames also match by TABLE_FUNCTION, _LINE or _IMAGE; 0: by none */
	const char *component_name[FILTER_SETS_MAX];
	bool leaves_out_idle; /* condition[idle] leaves out samples of processors that had nothing to run */
	uint32_t idle;
	const struct filter_arguments *arguments;
	const struct labels *labels;
	char mark_name[256]; /* name in --mark, without #INSTANCE; "": not given, or "all" */
	bool has_instance;
	uint64_t instance;
};

/* Returns the name of the marks whose numbers TABLE_PHASE holds. */
static inline const char *filter_phase(const struct filter *f)
{
	return *f->mark_name ? f->mark_name : "run";
}

/* Begins the filter, and returns the mark's name for attribute_options.run_mark. It is that of --mark, or "run" without it and with "all".
 * No model is needed yet. arguments must outlive the filter. */
const char *filter_parse_mark(struct filter *f, const struct filter_arguments *arguments);
/* Makes the conditions. first_ns: time of the first sample, from which from_s and to_s count. labels must outlive the filter.
 * filter_parse_mark() must have been called. Returns 0, or -EINVAL with a sentence in d if the trace has no level of a wanted component, or
 * no components at all. */
int filter_init(struct filter *f, const struct model *m, const struct labels *labels, uint64_t first_ns, struct diag *d);
/* Returns -EINVAL with a sentence in d, which says that the trace has no level of that name (bytes: its length), and suggests others. */
int filter_fail_without_level(const struct model *m, const char *level, size_t bytes, struct diag *d);
/* Checks whether any of the arguments was given. */
bool filter_is_given(const struct filter_arguments *a);
/* Adds the values that are new to the sets.  Call before each block is filtered.  Returns 0 or -ENOMEM. */
int filter_update_sets(struct filter *f, const struct attribution *a);
/* Returns 0, or -EINVAL with a sentence in d if nothing in the trace has a name or number that the user asked for.  Call after the last
 * block. */
int filter_check_matches(const struct filter *f, const struct attribution *a, struct diag *d);
void filter_fini(struct filter *f);
/* Checks whether a mark's thread and process pass the arguments tid, pid and thread_name.  The name counts that the thread has when the
 * mark begins. */
bool filter_wants_mark(const struct filter_arguments *a, const struct model *m, const struct mark *k);

#endif
