/* SPDX-License-Identifier: MIT */
/*
 * `tailor export --format NAME`: a trace in the formats of other viewers. To add a format, write <name>.c with a struct exporter, and add
 * its name to EXPORTS. Context: thread.
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
	uint32_t thread, stack, component; /* indexes; component: of the requested level */
	uint32_t cpu;
	float share;
};

struct export {
	struct report *report;
	uint32_t level; /* level of --level; LEVELS_MAX: functions */
	struct report_group *by_stack;
	struct export_sample *sample; /* samples of one event */
	size_t nr, capacity;
	void *state; /* memory of the format, from report_add_state() */
	FILE *each; /* file that rows are written to while they are read, or NULL */
};

struct exporter {
	const char *name;
	const char *ending; /* ending of file names in this format */
	const char *summary; /* one line */
	bool binary;	     /* not for a terminal */
	void (*prepare)(struct export *e);
	/* Return 0 or -errno. */
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

/* export_find() returns NULL if no format has the name. export_at() returns the n-th format, or NULL after the last. */
const struct exporter *export_find(const char *name);
const struct exporter *export_at(int n);
/* Find the format by the ending of a file's name, before .gz. If several endings fit, the longest decides. NULL: none fits. */
const struct exporter *export_find_by_ending(const char *file);
bool export_is_gzip(const char *file);

/* ------------------------------------------------------------------------------------- shared by several formats */

/* prepare() calls one of these: sums by stack, or samples one by one. */
void export_ask_stacks(struct export *e);
void export_ask_samples(struct export *e);
/* Sort samples by thread, then by time. */
void export_sort(struct export *e);
/* Return the end of the samples of a thread. first: its first sample. */
size_t export_thread_end(const struct export *e, size_t first);
/* Return a thread's name, or that of its process. */
const char *export_thread_name(const struct export *e, uint32_t thread);
void export_fini(struct export *e);

/* Return the component of a stack's frame at the requested level. */
uint32_t export_frame_component(const struct export *e, uint32_t node);
/* Return the function or component of a stack's frame as text. spare has room for 32. */
const char *export_frame_name(const struct export *e, uint32_t node, char *spare);
/* List the frames of a stack, outermost first, without frames that have no component at the level and without repetitions of a component.
 * nodes has room for export_stack_depth() frames. Return how many there are. */
uint32_t export_list_frames(const struct export *e, uint32_t stack, uint32_t *nodes);
/* Return the number of frames of the deepest stack. */
uint32_t export_stack_depth(const struct export *e);

/*
 * Whole numbers for formats without fractions. The remainder is carried over to the next number, so that they add up to the rounded sum.
 */
struct export_whole {
	double exact;
	uint64_t given;
};
uint64_t export_next_whole(struct export_whole *w, double value);

/* The trace's stacks and events in the tables of another program's profiles. A struct of zeros with e set is empty. */
struct export_wire {
	const struct export *e;
	struct wire_profiles p;
	struct hash_map of; /* (root, node) -> stack */
	uint32_t *nodes;
};
/* root: the stack that called the outermost frame, or 0. */
uint32_t export_wire_stack(struct export_wire *x, uint32_t root, uint32_t node);
uint32_t export_wire_profile(struct export_wire *x, uint32_t process, uint32_t event);
uint32_t export_wire_thread(struct export_wire *x, uint32_t thread);
/* Write the message that was made, and free both x and made. Return 0 or -ENOMEM. */
int export_wire_end(struct export_wire *x, struct protobuf *made, FILE *to);

/* Does the filter accept the thread and process of the mark, and does a part of the mark lie between --from and --to? */
bool export_wants_mark(const struct export *e, const struct mark *m);

#endif
