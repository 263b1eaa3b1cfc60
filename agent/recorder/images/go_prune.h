/* SPDX-License-Identifier: MIT */
/* Of a Go program's table of functions (jitreg/base/go_table.h), what code without samples has becomes zeros.  Context: thread. */
#ifndef TAILOR_GO_PRUNE_H
#define TAILOR_GO_PRUNE_H

#include "agent/recorder/images/elf_parts.h"

/*
 * is_seen(): are there samples in [start, end)?  text: the address that the table counts from; calls: where in the table the inlined calls
 * begin, or 0.  A table that is not as expected, and without memory, stays as it is.
 */
void go_prune(struct elf_part *table, uint64_t text, uint64_t calls,
	      bool (*is_seen)(const void *context, uint64_t start, uint64_t end), const void *context);

#endif
