/* SPDX-License-Identifier: MIT */
/*
 * Execution counts of one process, in memory that it shares with the recorder: read at any time, also when the process is gone.  What its
 * records say about that memory is compared with what was handed out; the counts are any numbers.
 * Context: thread.
 */
#ifndef TAILOR_COUNTER_MEMORY_H
#define TAILOR_COUNTER_MEMORY_H

#include "jitreg/trace/schema.h"

struct counter_memory; /* NULL: the process has none */

/* bytes more, made and sealed.  *number: which of the process's memories it is; *fd: for the process, caller closes.  0 or -errno: -ENOSPC
 * when it has enough. */
int counter_memory_add_arena(struct counter_memory **m, uint64_t bytes, uint32_t *number, int *fd);
void counter_memory_destroy(struct counter_memory *m);

/* A COUNTER_BLOCK of the process.  0, also of one whose counters are not in shared memory; -EBADMSG: they are not where it says;
 * -ENOMEM. */
int counter_memory_add_block(struct counter_memory *m, const struct schema_value *v);
/* The block has ended. */
void counter_memory_end_block(struct counter_memory *m, uint64_t block);
/* What the counters of each block say, copies added up; all: also of blocks that have not changed since the last call. */
void counter_memory_read(struct counter_memory *m, bool all,
			 void (*each)(void *context, uint64_t block, const uint64_t *values, uint32_t nr), void *context);

#endif
