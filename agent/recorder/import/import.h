/* SPDX-License-Identifier: MIT */
/*
 * Converts a perf.data file to a trace with the records that a recording has. Their times are of CLOCK_MONOTONIC, if the file's clock can
 * be related to it. Files that the perf.data file names (images, jitdumps, perf maps) are read if they still exist. Context: thread.
 */
#ifndef TAILOR_IMPORT_H
#define TAILOR_IMPORT_H

#include "agent/recorder/import/perf_data.h"
#include "jitreg/base/diag.h"
#include "jitreg/base/grow.h"

#define IMPORT_EVENTS_MAX 15u /* a trace may have one more event, for switches */

#define IMPORT_STANDARD_INPUT "-"

struct import_options {
	const char *input, *output; /* input: path of a file or of a named pipe, or IMPORT_STANDARD_INPUT */
	const char *with; /* trace of the same processes, recorded at the same time; NULL: none */
	bool uncompressed;
	/* notice(context, sentence): called for each notice, which the trace has as well.  May be NULL. */
	void (*notice)(void *context, const char *sentence);
	void *context;
};

struct import_result {
	uint64_t samples, bytes, lost; /* bytes: size of the trace; lost: records and samples that the kernel reported as lost */
	uint64_t registrations; /* number of records about generated code that were taken from the other trace */
};

/* Imports a file.  Returns 0 and fills in *out, or returns -errno with a sentence. */
int import_file(const struct import_options *o, struct import_result *out, struct diag *d);

/* These are the times of another trace that was recorded at the same time. */
struct import_other {
	uint64_t wall_ahead_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC when it began */
	ARRAY(struct import_task) tasks; /* tasks that started or exited, sorted by event, process and thread */
};
/* Reads the times of a trace.  Returns 0, or -errno with a sentence, and then import_other_fini() need not be called. */
int import_other_read(const char *path, struct import_other *o, struct diag *d);
void import_other_fini(struct import_other *o);
/* This is the shift from the file's times to CLOCK_MONOTONIC. */
struct import_times {
	uint64_t shift_ns;
	/* reason why the shift is unknown, so that times stay as they are, and records that need CLOCK_MONOTONIC are left out; NULL: it is
	 * known */
	const char *unrelated;
};
/* Finds how the file's times relate to CLOCK_MONOTONIC.  o: NULL if there is no other trace. */
struct import_times import_times(const struct perf_data *p, const struct import_other *o);
/*
 * Writes the file's records to a trace.  written_s: when perf wrote its file, or when the file was read from a pipe, in seconds since 1970.
 * If the file has no clock, its last record is taken to be of that time.  Files that were written more than a minute later do not belong to
 * the sampled processes.  Returns 0, or -errno with a sentence.
 */
int import_records(const struct import_options *o, const struct perf_data *p, const struct import_times *times, int64_t written_s,
		   struct import_result *out, struct diag *d);

#endif
