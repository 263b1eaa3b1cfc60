/* SPDX-License-Identifier: MIT */
/*
 * Execution counts of one process, in memory that it shares with the recorder.  They can be read at any time, also when the process is
 * gone.  Records of the process about that memory are compared with the memory that it was given.  The counts themselves can be any
 * numbers.  Context: thread.
 */
#ifndef TAILOR_COUNTER_MEMORY_H
#define TAILOR_COUNTER_MEMORY_H

#include "jitreg/trace/schema.h"

struct counter_memory; /* NULL: the process has none */

/* Creates and seals `bytes` more of memory.  *number: its index among the memories of the process.  *fd: for the process; the caller closes
 * it.  0 or -errno (-ENOSPC: the process has enough). */
int counter_memory_add_arena(struct counter_memory **m, uint64_t bytes, uint32_t *number, int *fd);
void counter_memory_destroy(struct counter_memory *m);

/* Adds a COUNTER_BLOCK of the process.  0, also for a block whose counters are not in shared memory.  -EBADMSG if the place in the record
 * is invalid.  -ENOMEM. */
int counter_memory_add_block(struct counter_memory *m, const struct schema_value *v);
/* Ends a block. */
void counter_memory_end_block(struct counter_memory *m, uint64_t block);
/* Calls each() with the counts of each block, copies added up.  all: also blocks that have not changed since the last call. */
void counter_memory_read(struct counter_memory *m, bool all,
			 void (*each)(void *context, uint64_t block, const uint64_t *values, uint32_t nr), void *context);

#endif
