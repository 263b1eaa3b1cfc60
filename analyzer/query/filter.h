/* SPDX-License-Identifier: MIT */
/*
 * What the user wants to see of a trace, as conditions on the sample table.  Threads, processes and components may still be
 * found while samples are read, so the sets of wanted values grow from block to block.  Context: thread.
 */
#ifndef TAILOR_FILTER_H
#define TAILOR_FILTER_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/query/labels.h"

#include <regex.h>

#define FILTER_COMPONENTS_MAX 8

struct filter_arguments {
	const char *event;
	const char *component[FILTER_COMPONENTS_MAX]; /* LEVEL:NAME, or NAME: its first level, or a function; all must hold */
	int nr_components;
	const char *below[FILTER_COMPONENTS_MAX]; /* likewise, that the call stack contains; all must hold */
	int nr_below;
	const char *function; /* its name */
	const char *service;  /* that its process works for */
	const char *mark; /* NAME, NAME#INSTANCE, or "all": in marks and outside of them */
	double from_s, to_s; /* after the first sample; 0: not given */
	bool has_tid, has_pid;
	uint64_t tid, pid;
	const regex_t *thread_name; /* of the name at the sample's time; NULL: not given */
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
		bool any; /* something did */
	} set[FILTER_SETS_MAX], or_set[FILTER_SETS_MAX]; /* or_set: of a condition's or_column; passes NULL: it has none */
	uint32_t component_level[FILTER_SETS_MAX]; /* LEVELS_MAX: none */
	enum table_column frame_column[FILTER_SETS_MAX]; /* of --below: TABLE_FUNCTION, _LINE, _IMAGE or 0: what else frames go by */
	const char *component_name[FILTER_SETS_MAX];
	bool leaves_out_idle; /* samples of idle processors, by condition[idle] */
	uint32_t idle;
	const struct filter_arguments *arguments;
	const struct labels *labels;
	char mark_name[256]; /* of --mark, without #INSTANCE; "": filter_phase() */
	bool has_instance;
	uint64_t instance;
};

/* The name of the marks that TABLE_PHASE counts. */
static inline const char *filter_phase(const struct filter *f)
{
	return *f->mark_name ? f->mark_name : "run";
}

/* The mark's name for attribute_trace(), before there is a model: "run" unless another was asked for. */
const char *filter_parse_mark(struct filter *f, const struct filter_arguments *arguments);
/* 0, or -EINVAL with a sentence when the trace has no such thing.  first_ns: of the samples; labels must outlive it.  Call
 * filter_parse_mark() before. */
int filter_init(struct filter *f, const struct model *m, const struct labels *labels, uint64_t first_ns, struct diag *d);
/* -EINVAL with a sentence: no level has a name of so many bytes, and which there are. */
int filter_fail_without_level(const struct model *m, const char *level, size_t bytes, struct diag *d);
/* Was anything asked for? */
bool filter_is_given(const struct filter_arguments *a);
/* Before each block: know the values that have come up.  0 or -ENOMEM. */
int filter_update_sets(struct filter *f, const struct attribution *a);
/* After the last block: -EINVAL with a sentence when nothing in the trace has the name or number asked for. */
int filter_check_matches(const struct filter *f, const struct attribution *a, struct diag *d);
void filter_fini(struct filter *f);
/* Is the mark of a thread and of a process that are wanted?  A thread has the name at the mark's begin. */
bool filter_wants_mark(const struct filter_arguments *a, const struct model *m, const struct mark *k);

#endif
