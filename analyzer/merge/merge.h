/* SPDX-License-Identifier: MIT */
/*
 * Merges the traces of a recording's epochs into one trace, as it would be without the cuts. Repetitions of earlier epochs (registrations,
 * code, notices) are left out, and an image has the parts that any epoch has of it. All input is hostile. Context: thread.
 */
#ifndef TAILOR_MERGE_H
#define TAILOR_MERGE_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

struct merge_counts {
	uint64_t samples, repeated; /* repeated: records that an earlier epoch had */
	bool has_end;		    /* false: the last epoch is still being written, or its recorder was killed */
	bool is_damaged;	    /* something in an epoch that was written to its end could not be read */
};

/* Merge nr traces, in the order of time. Return 0, or -errno with a sentence, and then there is no output. */
int merge_traces(char *const *path, uint32_t nr, const char *output, struct merge_counts *counts, struct diag *d);

#endif
