/* SPDX-License-Identifier: MIT */
/*
 * Jitdump files (linux tools/perf/Documentation/jitdump-specification.txt) are written for perf by V8, LLVM, PHP, BEAM, JavaScriptCore,
 * .NET and others.  Their records have the ids 0 to 4 and the layouts of jitreg.h, so all but DEBUG_INFO are checked by schema_parse().
 *
 * Writers differ.  V8 shifts line tables by the size of an ELF header, which perf once put in front of the code.  The name of a line's file
 * may be "\xff", for the name of the line before, or garbage (V8 writes it after it was freed).  The clock is CLOCK_MONOTONIC in all known
 * writers, but may be the processor's counter (header flag 1), another, or that of a time namespace.  Bytes are untrusted.  Context:
 * thread.
 */
#ifndef TAILOR_JITDUMP_H
#define TAILOR_JITDUMP_H

#include "jitreg/trace/schema.h"

#include <stdbool.h>

struct jitdump;
/* This callback gets a record, with its time converted to CLOCK_MONOTONIC. values are valid until it returns. */
typedef void (*jitdump_record)(void *context, uint32_t id, uint64_t time_ns, uint32_t tid, const struct schema_value *values,
			       int nr_values);

/* This struct has the processor's time stamp counter and CLOCK_MONOTONIC at one moment. counter is 0 if it is unknown. */
struct jitdump_clock {
	uint64_t counter, ns;
};
struct jitdump_clock jitdump_clock_now(void);

/* Describes the process that writes the file. */
struct jitdump_writer {
	uint64_t mapped_ns; /* time at which it mapped the file, on CLOCK_MONOTONIC, or at which the mapping was found */
	bool has_just_mapped; /* it mapped the file at mapped_ns, so all records are later */
	int64_t ahead_ns; /* number by which its CLOCK_MONOTONIC is ahead (time_namespace.h) */
};
/* Returns a reader for one file, or NULL if memory runs out. */
struct jitdump *jitdump_create(const struct jitdump_writer *w);
void jitdump_destroy(struct jitdump *j);
/*
 * Reads the next bytes of the file, in pieces of any size, and calls record() for each complete record.  now: the clocks of this moment.
 * Returns 0, -ENOMEM, or -EBADMSG if this is no jitdump file, or malformed from here on.  After an error nothing more can be read.
 */
int jitdump_feed(struct jitdump *j, const void *bytes, size_t nr, const struct jitdump_clock *now, jitdump_record record,
		 void *context);

#endif
