/* SPDX-License-Identifier: MIT */
/*
 * Code that a server generates and registers nowhere.  Its bytes go to the trace (CODE_BYTES, whole regions), and the analyzer finds there
 * how its functions lay out their frames.  Context: thread.
 */
#ifndef TAILOR_GENERATED_CODE_H
#define TAILOR_GENERATED_CODE_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

#define GENERATED_REGIONS 32 /* per process; with more of them, the oldest are forgotten, and may be read again */

struct generated_code {
	struct generated_region {
		uint64_t address, bytes;
		bool wanted;
	} region[GENERATED_REGIONS];
	uint32_t next;
	bool any_wanted;
};

/* Notes that executable memory without a file was mapped or found. */
void generated_code_note_mapping(struct generated_code *g, uint64_t address, uint64_t bytes);
/* Notes the executable memory without a file of a process that existed before the recording. */
void generated_code_find_mappings(struct generated_code *g, pid_t pid);
/* Copies regions that were mapped since the previous call to the trace.  *written: bytes of all processes together.  false: some regions
 * are gone. */
bool generated_code_copy_to_trace(struct generated_code *g, pid_t pid, struct trace_writer *w, uint64_t *written);

#endif
