/* SPDX-License-Identifier: MIT */
/*
 * `tailor export --format NAME`: a trace for the viewers that people already use.  To add a format: <name>.c with a
 * struct exporter, and its name in EXPORTS.  Context: thread.
 */
#ifndef TAILOR_EXPORT_H
#define TAILOR_EXPORT_H

#include "analyzer/query/report.h"

#include <stdio.h>

/* One sample, as the formats that keep samples apart want it. */
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
	void *state; /* of a format, by report_state() */
	FILE *each; /* where rows are written as they come, or NULL */
};

struct exporter {
	const char *name;
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
	X(csv) \
	X(json) \
	X(jitdump)

#define EXPORT_EXTERN_(name) extern const struct exporter exporter_##name;
EXPORTS(EXPORT_EXTERN_)
#undef EXPORT_EXTERN_

/* NULL when there is none of that name; the n-th, or NULL behind the last. */
const struct exporter *export_find(const char *name);
const struct exporter *export_at(int n);

/* ------------------------------------------------------------------------------------- what several formats have */

/* prepare(): sums by stack; samples one by one. */
void export_ask_stacks(struct export *e);
void export_ask_samples(struct export *e);
/* Samples by thread, and each thread's in the order of time. */
void export_sort(struct export *e);
/* The first sample behind those of the thread whose first one this is. */
size_t export_thread_end(const struct export *e, size_t first);
/* A thread's name, or that of its process. */
const char *export_thread_name(const struct export *e, uint32_t thread);
void export_fini(struct export *e);

/* The component of a stack's frame, of the level asked for. */
uint32_t export_frame_component(const struct export *e, uint32_t node);
/* Function or component of a stack's frame, as text; spare has room for 32. */
const char *export_frame_name(const struct export *e, uint32_t node, char *spare);
/* The frames of a stack, outermost first, without those that have no component at the level and without repetitions of a
 * component; at most nr.  Returns how many. */
uint32_t export_frames(const struct export *e, uint32_t stack, uint32_t *nodes, uint32_t nr);
#define EXPORT_FRAMES_MAX 1024

/*
 * Whole numbers of what is shared, for formats that have no others: what is cut off goes to the next, so that they add up to the
 * rounded sum.
 */
struct export_whole {
	double exact;
	uint64_t given;
};
uint64_t export_whole(struct export_whole *w, double value);

/* A mark of a thread and process that the filter lets pass. */
bool export_wants_mark(const struct export *e, const struct mark *m);

#endif
