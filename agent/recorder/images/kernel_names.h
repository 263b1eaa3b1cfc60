/* SPDX-License-Identifier: MIT */
/*
 * Finds the names of kernel functions that have samples.  Addresses are collected during the recording, and looked up in /proc/kallsyms
 * once, at its end.  Context: thread.
 */
#ifndef TAILOR_KERNEL_NAMES_H
#define TAILOR_KERNEL_NAMES_H

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer.h"

struct kallsyms;
struct kallsyms_function;
struct kernel_names;

/* Returns NULL without memory. */
struct kernel_names *kernel_names_create(void);
void kernel_names_destroy(struct kernel_names *k);

/* Collects the kernel addresses of a sample.  Called for each sample, so it has to be fast. */
void kernel_names_add_sample(struct kernel_names *k, const struct sample_seen *seen);

/* Callbacks for an import.  is_it: is the running kernel the sampled one; is_there: is it at the same addresses (else *why); was_there: was
 * this function loaded during the recording? */
struct kernel_names_origin {
	bool (*is_it)(void *context, const char **why);
	bool (*is_there)(void *context, const struct kallsyms *symbols, const char **why);
	bool (*was_there)(void *context, const struct kallsyms_function *f);
	void *context;
};

/*
 * Writes the names of functions with samples.  origin NULL: the running kernel was sampled.  Returns NULL, or a notice why there are no
 * names, which is valid as long as k.
 */
const char *kernel_names_write(struct kernel_names *k, const struct kernel_names_origin *origin, struct trace_writer *w, uint64_t time_ns);

#define KERNEL_BUILD_ID_BYTES 20

/* Reads the running kernel's build id.  Returns its bytes; 0: unknown. */
size_t kernel_names_read_build_id(unsigned char id[KERNEL_BUILD_ID_BYTES]);
/* Finds the build id in notes of the form of an ELF file's.  Returns its bytes; 0: there is none. */
size_t kernel_names_find_build_id(const unsigned char *notes, size_t bytes, unsigned char id[KERNEL_BUILD_ID_BYTES]);

/* Returns NULL if this user can read kernel addresses, else the reason, with *remedy. */
const char *kernel_names_why_unavailable(const char **remedy);

#endif
