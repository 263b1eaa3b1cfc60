/* SPDX-License-Identifier: MIT */
/*
 * A budget limits the memory and the work that reading a trace takes. A trace of 400 bytes can hold 100 million samples, and one of 8 KB
 * gigabytes of text, so a small file could keep a command busy for hours. Code that decompresses, multiplies or searches therefore spends
 * steps (50 to 100 ns of work each) from a budget, which grows with the size of the file, and which also limits the memory of the process.
 * Traces of recorders need far less. The environment variable TAILOR_BUDGET multiplies both limits, and 0 removes them. Context: thread.
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
#define BUDGET_BYTES ((uint64_t)512 << 20) /* memory that the process may have for each open trace */
#define BUDGET_BYTES_EACH 200u		   /* more memory for each byte of the file of such a trace */
#define BUDGET_BYTES_EACH_OTHER 20u	   /* more memory for each byte of other files that are read for it (budget_add_file()) */
#define BUDGET_STEPS 50000000ull
#define BUDGET_STEPS_EACH 500u
#define BUDGET_STEPS_EACH_OTHER 2u

struct budget {
	double factor; /* 0: no limit */
	uint64_t steps, steps_max, bytes_max;
	uint64_t look_at; /* number of spent steps at which the limits are checked next */
	const char *exceeded; /* "memory" or "work", or NULL */
	struct hash_map others; /* files that budget_add_file() has counted, by device and inode */
};

/* A budget has these steps and bytes for any file, and more for each byte of the file. */
struct budget_size {
	uint64_t steps, bytes;
	unsigned steps_each, bytes_each;
};

/* Set the factor, 0 or more, of all budgets that are opened from now on. TAILOR_BUDGET is then ignored. */
void budget_set_factor(double factor);
/* Open the budget of a trace of file_bytes bytes.  budget_close() must be called in any case.  Returns 0, or -EINVAL with a sentence if
 * TAILOR_BUDGET is not a number, or is below 0. */
int budget_open(struct budget *b, size_t file_bytes, struct diag *d);
/* Open the budget of a file that is not a trace.  Returns the same as budget_open(). */
int budget_open_sized(struct budget *b, const struct budget_size *size, size_t file_bytes, struct diag *d);
void budget_close(struct budget *b);
/* Spend steps.  Returns false if the budget is exceeded.  It stays exceeded from then on.  The limits are checked only every 65,536
 * steps. */
bool budget_spend(struct budget *b, uint64_t steps);
/* Spend the CPU time that this thread has used since *since (a value of budget_clock()), a step per 50 ns, and set *since to now.  This is
 * for calls of libraries, whose steps cannot be counted. */
bool budget_spend_time(struct budget *b, uint64_t *since);
/* Returns the CPU time in ns that this thread has used, or 0 if it is unknown. */
uint64_t budget_clock(void);
/* Let the budget grow by a file of this machine that is read for the trace, such as a library's.  A file that is added again does not
 * count.  Holes of a sparse file do not count either. */
void budget_add_file(struct budget *b, const struct stat *file);
/* Returns true if this many bytes can be allocated within the budgets of all open traces, or this budget has no limit. If not, the budget
 * counts as exceeded from now on. An exceeded budget has no room. */
bool budget_has_room(struct budget *b, uint64_t bytes);
/* Write a sentence that begins with name, says whether memory or work is exceeded, and what users can do.  Returns false, with text
 * unchanged, if nothing is exceeded. */
bool budget_describe(const struct budget *b, const char *name, char *text, size_t bytes);

#endif
