/* SPDX-License-Identifier: MIT */
/*
 * Compares the kernel of a perf.data file with the running one. Names of /proc/kallsyms apply only if the kernel is the same at the same
 * addresses, and those of a module only if that was loaded at the same place. Context: thread.
 */
#ifndef TAILOR_SAMPLED_KERNEL_H
#define TAILOR_SAMPLED_KERNEL_H

#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/import/perf_data.h"
#include "agent/recorder/perf/kernel_record.h"

#define KERNEL_MAPPINGS_MAX 1024u /* maximum number of modules and BPF programs whose functions get names */

struct kernel_mapping {
	uint64_t address, bytes;
	char name[64]; /* the module's name in the kernel, or "bpf" */
};

/* These are the file's facts about its kernel. */
struct sampled_kernel {
	const struct perf_data *data;
	char text_name[16]; /* symbol at which its code begins */
	uint64_t text;	    /* address of that symbol; 0: unknown */
	unsigned char build_id[KERNEL_BUILD_ID_BYTES];
	uint32_t build_id_bytes;
	struct kernel_mapping mapping[KERNEL_MAPPINGS_MAX];
	uint32_t nr_mappings;
};

/* Notes a mapping of the kernel itself ("[kernel.kallsyms]_text", whose offset is the address of the symbol _text), or of a module
 * ("[nf_tables]", ".../nf-tables.ko.zst"). */
void sampled_kernel_note_mapping(struct sampled_kernel *k, const struct mapping *m);
/* Notes the symbol if it is a BPF program. */
void sampled_kernel_note_symbol(struct sampled_kernel *k, const struct kernel_symbol *s);

/* These are the functions of a struct kernel_names_origin, whose context is the struct sampled_kernel. */
bool sampled_kernel_is_running(void *context, const char **why);
bool sampled_kernel_text_is_there(void *context, const struct kallsyms *symbols, const char **why);
bool sampled_kernel_had_function(void *context, const struct kallsyms_function *f);

#endif
