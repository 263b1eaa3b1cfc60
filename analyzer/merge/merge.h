/* SPDX-License-Identifier: MIT */
/*
 * Traces of a recording's epochs as one trace, as it would be had the recording not been cut: what each epoch repeats of those before it
 * (registrations, code, notices) is there once, and images have what any of the epochs has of them.  All input is hostile.
 * Context: thread.
 */
#ifndef TAILOR_MERGE_H
#define TAILOR_MERGE_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

struct merge_counts {
	uint64_t samples, repeated; /* repeated: records that an epoch before had */
	bool has_end;		    /* false: the last one is still being written, or its recorder was killed */
	bool is_damaged;	    /* of one that was written to its end something could not be read */
};

/* Of nr traces, in the order of time.  0, or -errno with a sentence: then there is no output. */
int merge_traces(char *const *path, uint32_t nr, const char *output, struct merge_counts *counts, struct diag *d);

#endif
