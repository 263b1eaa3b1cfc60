/* SPDX-License-Identifier: MIT */
/*
 * Names of kernel functions that have samples: addresses are collected during the recording, and looked up in /proc/kallsyms once, at
 * its end.  Context: thread.
 */
#ifndef TAILOR_KERNEL_NAMES_H
#define TAILOR_KERNEL_NAMES_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

struct kallsyms;
struct kallsyms_function;
struct kernel_names;

/* NULL without memory. */
struct kernel_names *kernel_names_create(void);
void kernel_names_destroy(struct kernel_names *k);

/* A sample was taken.  Hot: called for each. */
void kernel_names_add_sample(struct kernel_names *k, const struct sample_seen *seen);

/* For an import: is_it: is the running kernel the sampled one, is_there: is it at the same addresses (else *why)?  was_there: was this
 * function loaded then? */
struct kernel_names_origin {
	bool (*is_it)(void *context, const char **why);
	bool (*is_there)(void *context, const struct kallsyms *symbols, const char **why);
	bool (*was_there)(void *context, const struct kallsyms_function *f);
	void *context;
};

/*
 * Writes the names of functions with samples.  origin NULL: of the running kernel.
 * Returns NULL, or a notice why there are no names; it lives as long as k.
 */
const char *kernel_names_write(struct kernel_names *k, const struct kernel_names_origin *origin, struct trace_writer *w, uint64_t time_ns);

#define KERNEL_BUILD_ID_BYTES 20

/* The running kernel's build id.  Returns its bytes; 0: unknown. */
size_t kernel_names_read_build_id(unsigned char id[KERNEL_BUILD_ID_BYTES]);
/* The same of notes as in an ELF file. */
size_t kernel_names_find_build_id(const unsigned char *notes, size_t bytes, unsigned char id[KERNEL_BUILD_ID_BYTES]);

/* NULL if this user can read kernel addresses; else the reason, and *remedy. */
const char *kernel_names_why_unavailable(const char **remedy);

#endif
