/* SPDX-License-Identifier: MIT */
/*
 * Names of the kernel's functions that have samples: addresses are remembered as samples come, and what they are called is read
 * from /proc/kallsyms once, when the recording ends.  Context: thread.
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
void kernel_names_sample(struct kernel_names *k, const struct sample_seen *seen);

/* Samples of the past: was it this kernel, as it lies in memory now?  Else why says why not.  And was the function there then? */
struct kernel_names_origin {
	bool (*is_it)(void *context, const struct kallsyms *symbols, const char **why);
	bool (*was_there)(void *context, const struct kallsyms_function *f);
	void *context;
};

/*
 * Write what the functions are called in which samples were.  origin NULL: of now.
 * Returns NULL, or a sentence that says why there are no names; it lives as long as k.
 */
const char *kernel_names_write(struct kernel_names *k, const struct kernel_names_origin *origin, struct trace_writer *w, uint64_t time_ns);

#define KERNEL_BUILD_ID_BYTES 20

/* The running kernel's build id.  How many bytes; 0: it does not tell. */
size_t kernel_names_build_id(unsigned char id[KERNEL_BUILD_ID_BYTES]);
/* The same of notes as in an ELF file. */
size_t kernel_names_find_build_id(const unsigned char *notes, size_t bytes, unsigned char id[KERNEL_BUILD_ID_BYTES]);

/* Why this user is not shown the kernel's addresses, or NULL: he is.  *remedy: what would change that. */
const char *kernel_names_refused(const char **remedy);

#endif
