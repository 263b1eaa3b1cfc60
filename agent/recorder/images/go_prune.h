/* SPDX-License-Identifier: MIT */
/* Replaces functions without samples in a Go program's table of functions (jitreg/base/go_table.h) by zeros.  Context: thread. */
#ifndef TAILOR_GO_PRUNE_H
#define TAILOR_GO_PRUNE_H

#include "agent/recorder/images/elf_parts.h"

/* p: a file with a table (p->go), and perhaps inlined calls beside it. is_seen() returns whether there are samples in [start, end),
 * which are the file's own addresses. The table stays as it is if it has another form, if it takes too much work, or if memory runs out. */
void go_prune(struct elf_parts *p, bool (*is_seen)(const void *context, uint64_t start, uint64_t end), const void *context);

#endif
