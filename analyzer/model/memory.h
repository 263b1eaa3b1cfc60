/* SPDX-License-Identifier: MIT */
/* Reads the data in the address spaces of a trace: what the host named, and what the kernel mapped.  model.c calls these.
 * Context: thread. */
#ifndef TAILOR_MEMORY_H
#define TAILOR_MEMORY_H

#include "analyzer/model/model.h"

/* Adds the area of thread stacks.  Returns 0 or -ENOMEM. */
int memory_init(struct model *m);
/* Reads a MEMORY record. */
void memory_read_named(struct model *m, struct process *p, const struct trace_record *r);
/* Reads an MMAP record, of data or of code, because data can lie beside the code. */
void memory_read_mapping(struct model *m, struct process *p, const struct trace_record *r);
void memory_fini(struct model *m);

#endif
