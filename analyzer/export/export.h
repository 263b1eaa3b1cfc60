/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace in the formats of other viewers, or as CSV or JSON (`tailor export --format NAME`). To add a format, write <name>.c with a
 * struct exporter, and add its name to EXPORTS. Context: thread.
 */
#ifndef TAILOR_EXPORT_H
#define TAILOR_EXPORT_H

#include "analyzer/query/report.h"
#include "analyzer/wire/profiles.h"
#include "analyzer/wire/protobuf.h"
#include "jitreg/base/grow.h"

#include <stdio.h>

/* This is a row of one sample, for the formats that have single samples. A sample that several components share has a row for each. */
struct export_sample {
	uint64_t time_ns, weight;
	/* thread, stack: indexes in the model and in the tree of stacks; component: that of e->level, or COMPONENT_NONE */
	uint32_t thread, stack, component;
	uint32_t cpu;
	float share;
};

struct export {
	struct report *report;
	uint32_t level; /* level of --level, or one that the format chose; LEVELS_MAX: functions */
	struct report_group *by_stack;
	/* rows of samples of the report's event, if export_ask_samples() was called before they were read */
	ARRAY(struct export_sample) samples;
	void *state; /* the format's own data, from report_add_state(), or NULL */
	FILE *each; /* the output file, to which csv writes its rows while samples are read */
};

struct exporter {
	const char *name;
	const char *ending; /* ending of the names of files in this format */
	const char *summary; /* description for --help, on one line */
	bool binary;	     /* the output must not go to a terminal */
	/* Ask the report for what the format needs, before the samples are read. */
	void (*prepare)(struct export *e);
	/* Write the file after the samples were read. Return 0 or -errno. -ENODATA means that jitdump has no code to write. */
	int (*write)(struct export *e, FILE *to);
	bool is_by_level; /* only with --level the output has components */
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

/* Return the format of a name, or the n-th format in the order of EXPORTS. Return NULL if there is none. */
const struct exporter *export_find(const char *name);
const struct exporter *export_at(int n);
/* Return the format whose ending a file's name has, before .gz. If several endings fit, the longest one decides. Return NULL if none
 * fits. */
const struct exporter *export_find_by_ending(const char *file);
/* Does the file's name end in .gz? */
bool export_is_gzip(const char *file);

/* ------------------------------------------------------------------------------------- shared by several formats */

/* The prepare() of a format that needs sums by stack (by_stack) or single samples (sample) calls one of these. */
void export_ask_stacks(struct export *e);
void export_ask_samples(struct export *e);
/* Sort samples by thread, then by time. */
void export_sort(struct export *e);
/* Return the index behind the last sample of a thread, after export_sort(). first: the index of its first sample. */
size_t export_thread_end(const struct export *e, size_t first);
/* Return a thread's name, or that of its process if it has none. */
const char *export_thread_name(const struct export *e, uint32_t thread);
void export_fini(struct export *e);

/* Return the component of a stack's frame at e->level. The frame is given by its node in the tree of stacks. */
uint32_t export_frame_component(const struct export *e, uint32_t node);
/* Return the name of the function, or of the component at e->level, of a stack's frame. spare has room for 32 bytes. */
const char *export_frame_name(const struct export *e, uint32_t node, char *spare);
/* List the frames of a stack, outermost first. If e->level is a level of components, frames that have none are left out, and so is a frame
 * that has the same component as the next inner frame that has any. nodes has room for export_stack_depth() frames. Return how many there
 * are. */
uint32_t export_list_frames(const struct export *e, uint32_t stack, uint32_t *nodes);
/* Return a number that is not below the number of frames of any stack. */
uint32_t export_stack_depth(const struct export *e);

/*
 * Rounds numbers for formats without fractions. What rounding leaves over is carried over to the next number, so that all add up to the
 * rounded sum. The numbers are 0 or more. The caller begins with a struct of zeros.
 */
struct export_whole {
	double exact;
	uint64_t given;
};
uint64_t export_next_whole(struct export_whole *w, double value);

/* This has the stacks, threads, processes and events of a trace in the tables of another program's format (analyzer/wire). The caller
 * begins with a struct of zeros in which only e is set. */
struct export_wire {
	const struct export *e;
	struct wire_profiles p;
	struct hash_map of; /* (stack that called the outermost frame, node) -> stack in p */
	uint32_t *nodes;
};
/* Add a stack, a profile (the samples of one event of one process) or a thread, if it is not there. Return its number in p. root: the stack
 * in p that called the outermost frame of the stack, or 0. p.failed is set if memory runs out. */
uint32_t export_wire_stack(struct export_wire *x, uint32_t root, uint32_t node);
uint32_t export_wire_profile(struct export_wire *x, uint32_t process, uint32_t event);
uint32_t export_wire_thread(struct export_wire *x, uint32_t thread);
/* Write the message in *made to the file, and free the memory that *x and *made hold. Return 0, or -ENOMEM if memory ran out while it was
 * made, and then nothing is written. */
int export_wire_end(struct export_wire *x, struct protobuf *made, FILE *to);

/* Does the mark pass --thread, --thread-name and --process (filter_wants_mark()), and does a part of it lie between --from and --to? */
bool export_wants_mark(const struct export *e, const struct mark *m);

#endif
