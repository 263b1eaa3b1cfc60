/* SPDX-License-Identifier: MIT */
/*
 * Merges the traces of a recording's epochs, which are its consecutive parts, into one trace, as if the recording had not been cut into
 * epochs. Records that an epoch only repeats from an earlier one (registrations, code, notices) are left out. An ELF file of the result has
 * all parts of it that any epoch has, except a file of Go, which has those of one epoch. The traces are not trusted. Context: thread.
 */
#ifndef TAILOR_MERGE_H
#define TAILOR_MERGE_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

struct merge_counts {
	/* samples: in all epochs; repeated: registrations, code and mappings that were left out because they were there already */
	uint64_t samples, repeated;
	bool has_end;		    /* false: the last epoch is still being written, or its recorder was killed */
	bool is_damaged;	    /* a part of an epoch that has its end could not be read */
};

/* Merge nr traces, which the caller gives in the order of time. Return 0, or -errno with the reason in d, and then there is no new file at
 * output. */
int merge_traces(char *const *path, uint32_t nr, const char *output, struct merge_counts *counts, struct diag *d);

#endif
