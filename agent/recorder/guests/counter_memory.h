/* SPDX-License-Identifier: MIT */
/*
 * Keeps the execution counts of one process, in memory that it shares with the recorder.  They can be read at any time, also when the
 * process is gone.  Records of the process about that memory are compared with the memory that it was given.  The counts themselves can be
 * any numbers.  Context: thread.
 */
#ifndef TAILOR_COUNTER_MEMORY_H
#define TAILOR_COUNTER_MEMORY_H

#include "jitreg/trace/schema.h"

struct counter_memory; /* NULL: the process has none */

/* Creates and seals `bytes` more of memory (a multiple of 4096, up to 16 MiB).  Creates *m if it is NULL, also if the memory then fails.
 * *number: its index among the memories of the process.  *fd: its descriptor for the process, which the caller closes.  Returns 0 or -errno
 * (-EINVAL: another size; -ENOSPC: the process has as much as it may have). */
int counter_memory_add_arena(struct counter_memory **m, uint64_t bytes, uint32_t *number, int *fd);
void counter_memory_destroy(struct counter_memory *m);

/* Adds a COUNTER_BLOCK of the process, and ends a block of the same number.  Returns 0, also for a block whose counters are not in shared
 * memory, which is not read.  Returns -EBADMSG if the record's place and sizes do not fit the memory, or if all blocks together have more
 * counters than it, or -ENOMEM. */
int counter_memory_add_block(struct counter_memory *m, const struct schema_value *v);
/* Ends a block, which is not read any more. */
void counter_memory_end_block(struct counter_memory *m, uint64_t block);
/* Calls each() with the counts of each block that has changed since the last call, or was added since.  The counts of its copies are added
 * up.  all: blocks that have not changed are reported, too. */
void counter_memory_read(struct counter_memory *m, bool all,
			 void (*each)(void *context, uint64_t block, const uint64_t *values, uint32_t nr), void *context);

#endif
