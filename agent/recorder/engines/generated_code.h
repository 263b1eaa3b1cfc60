/* SPDX-License-Identifier: MIT */
/*
 * Copies code that a server generates, and registers nowhere, to the trace (records CODE_BYTES, each with a whole region). From the bytes
 * the analyzer finds how the functions of that code lay out their frames. Context: thread.
 */
#ifndef TAILOR_GENERATED_CODE_H
#define TAILOR_GENERATED_CODE_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

#define GENERATED_REGIONS 32 /* regions per process.  The oldest of more are forgotten, and are copied again if they are noted again. */

struct generated_code {
	struct generated_region {
		uint64_t address, bytes;
		bool wanted;
	} region[GENERATED_REGIONS];
	uint32_t next;
	bool any_wanted;
};

/* Notes that executable memory without a file was mapped or found, to be copied.  Regions of more than 1 MiB are ignored. */
void generated_code_note_mapping(struct generated_code *g, uint64_t address, uint64_t bytes);
/* Notes the executable memory without a file of a process that existed before its recording began. */
void generated_code_find_mappings(struct generated_code *g, pid_t pid);
/*
 * Copies regions that were noted since the previous call to the trace.  *written: bytes that were copied so far, of all processes together,
 * which are limited.  Regions beyond the limit, or for which memory runs out, are left out.  Returns false if some regions do not exist any
 * more, or are writable.
 */
bool generated_code_copy_to_trace(struct generated_code *g, pid_t pid, struct trace_writer *w, uint64_t *written);

#endif
