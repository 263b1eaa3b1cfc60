/* SPDX-License-Identifier: MIT */
/* Data in the address spaces of a trace: what the host named, and what the kernel mapped.  model.c calls these.  Context: thread. */
#ifndef TAILOR_MEMORY_H
#define TAILOR_MEMORY_H

#include "analyzer/model/model.h"

/* 0 or -ENOMEM. */
int memory_init(struct model *m);
/* A MEMORY record. */
void memory_read_named(struct model *m, struct process *p, const struct trace_record *r);
/* An MMAP record: of data, or of code, which data may lie beside. */
void memory_read_mapping(struct model *m, struct process *p, const struct trace_record *r);
void memory_fini(struct model *m);

#endif
