/* SPDX-License-Identifier: MIT */
/*
 * Finds the names of kernel functions that have samples.  Addresses are collected during the recording, and looked up in /proc/kallsyms
 * once, at its end, but for eBPF programs, which come and go.  Context: thread.
 */
#ifndef TAILOR_KERNEL_NAMES_H
#define TAILOR_KERNEL_NAMES_H

#include "agent/recorder/perf/name_source.h"

struct kallsyms;
struct kallsyms_function;

/* note_sample() collects the kernel addresses of a sample.  end() writes the names of functions with samples, in some 35 ms, or a notice
 * on why there are none. Without kernel samples, it writes neither. */
extern const struct name_source kernel_names_source;

/* Notes a symbol that the kernel has got or lost.  Of eBPF programs, end() writes those that have samples, also if they are gone by then. k
 * may be NULL. */
struct kernel_names;
void kernel_names_note_symbol(struct kernel_names *k, const struct kernel_symbol *s);

/* By these functions an import says how the running kernel relates to the sampled one. is_it() returns whether they are the same,
 * is_there() whether the running one is at the same addresses, and was_there() whether a function was loaded during the recording. The
 * first two set *why if they return false. */
struct kernel_names_origin {
	bool (*is_it)(void *context, const char **why);
	bool (*is_there)(void *context, const struct kallsyms *symbols, const char **why);
	bool (*was_there)(void *context, const struct kallsyms_function *f);
	void *context;
};

#define KERNEL_BUILD_ID_BYTES 20

/* Reads the running kernel's build id.  Returns the number of its bytes, or 0 if it is unknown. */
size_t kernel_names_read_build_id(unsigned char id[KERNEL_BUILD_ID_BYTES]);
/* Finds the build id in notes of the form of an ELF file's.  Returns the number of its bytes, or 0 if there is none. */
size_t kernel_names_find_build_id(const unsigned char *notes, size_t bytes, unsigned char id[KERNEL_BUILD_ID_BYTES]);

/* Returns NULL if this user can read kernel addresses, else the reason.  Sets *remedy to a command or an instruction, or to "". */
const char *kernel_names_why_unavailable(const char **remedy);

#endif
