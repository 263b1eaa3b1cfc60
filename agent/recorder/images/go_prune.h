/* SPDX-License-Identifier: MIT */
/* Of a Go program's table of functions (jitreg/base/go_table.h), what code without samples has becomes zeros.  Context: thread. */
#ifndef TAILOR_GO_PRUNE_H
#define TAILOR_GO_PRUNE_H

#include "agent/recorder/images/elf_parts.h"

/*
 * p: with a table (p->go), and perhaps inlined calls beside it.  is_seen(): are there samples in [start, end), addresses of the file's own?
 * A table that is not as expected, and without memory, stays as it is.
 */
void go_prune(struct elf_parts *p, bool (*is_seen)(const void *context, uint64_t start, uint64_t end), const void *context);

#endif
