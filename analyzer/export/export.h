/* SPDX-License-Identifier: MIT */
/*
 * `tailor export --format NAME`: a trace in the formats of other viewers.  To add a format: <name>.c with a
 * struct exporter, and its name in EXPORTS.  Context: thread.
 */
#ifndef TAILOR_EXPORT_H
#define TAILOR_EXPORT_H

#include "analyzer/query/report.h"
#include "analyzer/wire/profiles.h"
#include "analyzer/wire/protobuf.h"

#include <stdio.h>

/* One sample, for the formats that have single samples. */
struct export_sample {
	uint64_t time_ns, weight;
	uint32_t thread, stack, component; /* indexes; component: of the level asked for */
	uint32_t cpu;
	float share;
};

struct export {
	struct report *report;
	uint32_t level; /* of --level; LEVELS_MAX: functions */
	struct report_group *by_stack;
	struct export_sample *sample; /* of one event */
	size_t nr, capacity;
	void *state; /* of a format, by report_add_state() */
	FILE *each; /* where rows are written as they are read, or NULL */
};

struct exporter {
	const char *name;
	const char *ending; /* of files in this format */
	const char *summary; /* one line */
	bool binary;	     /* not for a terminal */
	void (*prepare)(struct export *e);
	/* 0 or -errno. */
	int (*write)(struct export *e, FILE *to);
};

#define EXPORTS(X) \
	X(folded) \
	X(flamegraph) \
	X(speedscope) \
	X(firefox) \
	X(perfetto) \
	X(pprof) \
	X(otlp) \
	X(csv) \
	X(json) \
	X(jitdump)

#define EXPORT_EXTERN_(name) extern const struct exporter exporter_##name;
EXPORTS(EXPORT_EXTERN_)
#undef EXPORT_EXTERN_

/* NULL if there is none of that name; the n-th, or NULL after the last. */
const struct exporter *export_find(const char *name);
const struct exporter *export_at(int n);
/* By the ending of a file's name, before .gz: of several that fit the longest; NULL: none does. */
const struct exporter *export_find_by_ending(const char *file);
bool export_is_gzip(const char *file);

/* ------------------------------------------------------------------------------------- shared by several formats */

/* prepare(): sums by stack; samples one by one. */
void export_ask_stacks(struct export *e);
void export_ask_samples(struct export *e);
/* Sort samples by thread, then by time. */
void export_sort(struct export *e);
/* The end of the samples of a thread, whose first one this is. */
size_t export_thread_end(const struct export *e, size_t first);
/* A thread's name, or that of its process. */
const char *export_thread_name(const struct export *e, uint32_t thread);
void export_fini(struct export *e);

/* The component of a stack's frame, of the level asked for. */
uint32_t export_frame_component(const struct export *e, uint32_t node);
/* Function or component of a stack's frame, as text; spare has room for 32. */
const char *export_frame_name(const struct export *e, uint32_t node, char *spare);
/* The frames of a stack, outermost first, without those that have no component at the level and without repetitions of a
 * component; nodes has room for all of the stack: export_stack_depth().  Returns how many. */
uint32_t export_list_frames(const struct export *e, uint32_t stack, uint32_t *nodes);
/* Frames of the deepest stack. */
uint32_t export_stack_depth(const struct export *e);

/*
 * Whole numbers for formats that have no fractions: the remainder is carried over to the next number, so that they add up to the rounded
 * sum.
 */
struct export_whole {
	double exact;
	uint64_t given;
};
uint64_t export_next_whole(struct export_whole *w, double value);

/* The trace's stacks and events in the tables of another program's profiles.  Zeros but for e: empty. */
struct export_wire {
	const struct export *e;
	struct wire_profiles p;
	struct hash_map of; /* (root, node) -> stack */
	uint32_t *nodes;
};
/* root: what called its outermost frame, or 0. */
uint32_t export_wire_stack(struct export_wire *x, uint32_t root, uint32_t node);
uint32_t export_wire_profile(struct export_wire *x, uint32_t process, uint32_t event);
uint32_t export_wire_thread(struct export_wire *x, uint32_t thread);
/* Writes the message that was made of it, and frees both.  0 or -ENOMEM. */
int export_wire_end(struct export_wire *x, struct protobuf *made, FILE *to);

/* Does the filter accept the thread and process of the mark, and does a part of the mark lie between --from and --to? */
bool export_wants_mark(const struct export *e, const struct mark *m);

#endif
