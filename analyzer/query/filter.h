/* SPDX-License-Identifier: MIT */
/*
 * What the user wants to see of a trace, as conditions on the sample table.  Threads, processes and components may still be
 * found while samples are read, so the sets of wanted values grow from block to block.  Context: thread.
 */
#ifndef TAILOR_FILTER_H
#define TAILOR_FILTER_H

#include "analyzer/attribute/attribute.h"

#define FILTER_COMPONENTS_MAX 8

struct filter_arguments {
	const char *event;
	const char *component[FILTER_COMPONENTS_MAX]; /* LEVEL:NAME; all must hold */
	int nr_components;
	const char *function; /* its name */
	const char *mark; /* NAME, NAME#INSTANCE, or "all": in marks and outside of them */
	double from_s, to_s; /* after the first sample; 0: not given */
	bool has_tid, has_pid;
	uint64_t tid, pid;
};

#define FILTER_SETS_MAX (FILTER_COMPONENTS_MAX + 5)

struct filter {
	struct table_filter table;
	struct table_condition condition[FILTER_SETS_MAX];
	struct filter_set {
		unsigned char *allowed;
		uint32_t nr, capacity;
		bool (*passes)(const struct filter *f, const struct attribution *a, uint32_t value, uint32_t set);
		bool any; /* something did */
	} set[FILTER_SETS_MAX];
	uint32_t component_level[FILTER_SETS_MAX];
	const char *component_name[FILTER_SETS_MAX];
	const struct filter_arguments *arguments;
	char mark_name[256]; /* without #INSTANCE: what TABLE_PHASE counts */
	bool has_instance;
	uint64_t instance;
};

/* The mark's name for attribute_trace(), before there is a model: "run" unless another was asked for. */
const char *filter_parse_mark(struct filter *f, const struct filter_arguments *arguments);
/* 0, or -EINVAL with a sentence when the trace has no such thing.  first_ns: of the samples.  Call filter_parse_mark() before. */
int filter_init(struct filter *f, const struct model *m, uint64_t first_ns, struct diag *d);
/* Before each block: know the values that have come up.  0 or -ENOMEM. */
int filter_update_sets(struct filter *f, const struct attribution *a);
/* After the last block: -EINVAL with a sentence when nothing in the trace has the name or number asked for. */
int filter_check_matches(const struct filter *f, struct diag *d);
void filter_fini(struct filter *f);

#endif
