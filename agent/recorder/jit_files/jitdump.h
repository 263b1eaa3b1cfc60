/* SPDX-License-Identifier: MIT */
/*
 * Jitdump files (linux tools/perf/Documentation/jitdump-specification.txt) are written for perf by V8, LLVM, PHP, BEAM, JavaScriptCore,
 * .NET and others.  Their records are jitreg's ids 0 to 4, so each is checked by the same parser and passed on.
 *
 * Writers differ: V8 shifts line tables by the size of an ELF header that perf once put in front; the name of a line's file may stand for
 * "as before", or be garbage (V8 writes it after it was freed); and the clock is CLOCK_MONOTONIC in all known writers, but may be the
 * processor's counter (header flag 1) or another.  Bytes are untrusted.  Context: thread.
 */
#ifndef TAILOR_JITDUMP_H
#define TAILOR_JITDUMP_H

#include "jitreg/trace/schema.h"

struct jitdump;
typedef void (*jitdump_record)(void *context, uint32_t id, uint64_t time_ns, uint32_t tid, const struct schema_value *values,
			       int nr_values);

/* The processor's counter and CLOCK_MONOTONIC at one moment.  counter 0: unknown. */
struct jitdump_clock {
	uint64_t counter, ns;
};
struct jitdump_clock jitdump_clock_now(void);

/* mapped_ns: when the writer mapped the file, on CLOCK_MONOTONIC.  NULL without memory. */
struct jitdump *jitdump_create(uint64_t mapped_ns);
void jitdump_destroy(struct jitdump *j);
/*
 * Reads the next bytes of the file, in pieces of any size.  now: the clocks of this moment.  0; -EBADMSG: this is no jitdump file, or it is
 * malformed from here on; -ENOMEM.  After an error nothing more can be read.
 */
int jitdump_feed(struct jitdump *j, const void *bytes, size_t nr, const struct jitdump_clock *now, jitdump_record record,
		 void *context);

#endif
