/* SPDX-License-Identifier: MIT */
/*
 * A limit for the memory and the work that reading a trace takes.  A trace of 400 bytes can hold 100 million samples, and one of 8 KB
 * gigabytes of text, so code that decompresses, multiplies or searches spends from a budget of memory and of steps (50 to 100 ns each),
 * which grows with the size of the file.  Traces of recorders stay far below the limit.  TAILOR_BUDGET multiplies it, and 0 removes it.
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
#define BUDGET_BYTES ((uint64_t)512 << 20) /* memory of the process for each open trace */
#define BUDGET_BYTES_EACH 200u		   /* more memory for each byte of the file of such a trace */
#define BUDGET_BYTES_EACH_OTHER 20u	   /* more memory for each byte of other files that are read for it */
#define BUDGET_STEPS 50000000ull
#define BUDGET_STEPS_EACH 500u
#define BUDGET_STEPS_EACH_OTHER 2u

struct budget {
	double factor; /* 0: no limit */
	uint64_t steps, steps_max, bytes_max;
	uint64_t look_at; /* steps at which the memory is checked next */
	const char *exceeded; /* "memory" or "work", or NULL */
	struct hash_map others; /* counted files, by device and inode */
};

/* Steps and bytes that are allowed for any file, and those that each byte of the file adds. */
struct budget_size {
	uint64_t steps, bytes;
	unsigned steps_each, bytes_each;
};

/* Set the factor for all traces that are opened from now on, in place of the environment's. */
void budget_set_factor(double factor);
/* Open the budget of a trace.  Returns 0, or -EINVAL with a sentence if TAILOR_BUDGET is not a number. */
int budget_open(struct budget *b, size_t file_bytes, struct diag *d);
/* Open the budget of a file that is not a trace.  Returns the same as budget_open(). */
int budget_open_sized(struct budget *b, const struct budget_size *size, size_t file_bytes, struct diag *d);
void budget_close(struct budget *b);
/* Spend steps.  Returns false if the budget is exceeded, and from then on always. */
bool budget_spend(struct budget *b, uint64_t steps);
/* Spend the CPU time of this thread since *since (budget_clock()), and set *since to now.  For libraries, whose steps are not counted. */
bool budget_spend_time(struct budget *b, uint64_t *since);
uint64_t budget_clock(void);
/* Count a file of this machine that is read for the trace: the budget grows once with the size that the file takes on disk. */
void budget_add_file(struct budget *b, const struct stat *file);
/* Can this many bytes be allocated within the budget? */
bool budget_has_room(struct budget *b, uint64_t bytes);
/* Write a sentence that says what is exceeded, and begins with the name of the trace.  Returns false if nothing is exceeded. */
bool budget_describe(const struct budget *b, const char *name, char *text, size_t bytes);

#endif
