/* SPDX-License-Identifier: MIT */
/*
 * What reading a trace may take.  A trace of 400 bytes can hold 100 million samples, and one of 8 KB gigabytes of text, so what
 * decompresses, multiplies or searches is paid for from a budget of memory and of steps (of 50 to 100 ns), which grows with the file.  All
 * traces of recorders stay far below it.  TAILOR_BUDGET multiplies it; 0: there is no limit.
 * Context: thread.
 */
#ifndef TAILOR_BUDGET_H
#define TAILOR_BUDGET_H

#include "jitreg/base/diag.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define BUDGET_ENV "TAILOR_BUDGET"
#define BUDGET_BYTES ((uint64_t)512 << 20) /* of the process, for each trace that it has open */
#define BUDGET_BYTES_EACH 200u		   /* of the process, for each byte of such a trace's file */
#define BUDGET_BYTES_EACH_OTHER 20u	   /* of other files that are read for it */
#define BUDGET_STEPS 50000000ull
#define BUDGET_STEPS_EACH 500u
#define BUDGET_STEPS_EACH_OTHER 2u

struct budget {
	double factor; /* 0: no limit */
	uint64_t steps, steps_max, bytes_max;
	uint64_t look_at; /* steps, when the memory is looked at next */
	const char *exceeded; /* what, or NULL */
	struct hash_map others; /* by device and inode */
};

/* Steps and bytes that are allowed at all, and those that each byte of the file adds. */
struct budget_size {
	uint64_t steps, bytes;
	unsigned steps_each, bytes_each;
};

/* For all traces that are opened from now on, in place of the environment's factor. */
void budget_set_factor(double factor);
/* 0, or -EINVAL with a sentence where the environment has no number. */
int budget_open(struct budget *b, size_t file_bytes, struct diag *d);
/* Likewise, of a file that is no trace. */
int budget_open_sized(struct budget *b, const struct budget_size *size, size_t file_bytes, struct diag *d);
void budget_close(struct budget *b);
/* false: more than there is; from then on always. */
bool budget_spend(struct budget *b, uint64_t steps);
/* Processor time of this thread since *since (budget_clock()), which becomes now: of libraries, whose steps are not counted. */
bool budget_spend_time(struct budget *b, uint64_t *since);
uint64_t budget_clock(void);
/* A file of this machine is read, too: the budget grows with what it takes on its disk, once. */
void budget_add_file(struct budget *b, const struct stat *file);
/* May so much memory be taken at once? */
bool budget_has_room(struct budget *b, uint64_t bytes);
/* false: nothing is exceeded.  The sentence, which begins with the name of the trace. */
bool budget_describe(const struct budget *b, const char *name, char *text, size_t bytes);

#endif
