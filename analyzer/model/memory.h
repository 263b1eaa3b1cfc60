/* SPDX-License-Identifier: MIT */
/* Finds out what data is at an address of a process: areas that the host named (MEMORY records), and mappings that the kernel reported
 * (MMAP records).  Context: thread. */
#ifndef TAILOR_MEMORY_H
#define TAILOR_MEMORY_H

#include "analyzer/model/model.h"

/* Adds the area MODEL_MEMORY_STACKS.  Returns 0, or -ENOMEM; memory_fini() must follow in both cases. */
int memory_init(struct model *m);
/* Reads a MEMORY record. An area begins with it, or, if it has 0 bytes, the last area that began at its address ends. */
void memory_read_named(struct model *m, struct process *p, const struct trace_record *r);
/* Reads an MMAP record.  Executable mappings count, too, because constants may lie beside the code. */
void memory_read_mapping(struct model *m, struct process *p, const struct trace_record *r);
void memory_fini(struct model *m);

#endif
