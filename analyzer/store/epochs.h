/* SPDX-License-Identifier: MIT */
/* Which epochs a store has.  Context: thread. */
#ifndef TAILOR_STORE_EPOCHS_H
#define TAILOR_STORE_EPOCHS_H

#include "analyzer/store/internal.h"

/* Traces that are no epochs are told apart by when they were recorded. */
static inline int64_t epochs_recording(uint64_t cut_recording, uint64_t real_ns)
{
	return (int64_t)(cut_recording ? cut_recording : real_ns);
}

/* Dates are what a trace or a store says.  Begins that are kept lie between 1823 and 2116, so that sums of two of them are numbers. */
#define EPOCHS_DATE_MAX (1ll << 62)
static inline int64_t epochs_date(int64_t ns)
{
	return ns < -EPOCHS_DATE_MAX ? -EPOCHS_DATE_MAX : ns > EPOCHS_DATE_MAX ? EPOCHS_DATE_MAX : ns;
}

/* No earlier than its begin, which is such a date, and no more than 73 years later. */
static inline int64_t epochs_end(int64_t begin_ns, int64_t end_ns)
{
	int64_t most_ns = begin_ns + EPOCHS_DATE_MAX / 2;

	return end_ns < begin_ns ? begin_ns : end_ns > most_ns ? most_ns : end_ns;
}

/* By itself, or as a part of an hour or a day. */
bool epochs_have(struct store *s, int64_t recording, int64_t number);

#endif
