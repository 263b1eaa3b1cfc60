/* SPDX-License-Identifier: MIT */
/* Identity and dates of epochs, and whether a store has one.  Context: thread. */
#ifndef TAILOR_STORE_EPOCHS_H
#define TAILOR_STORE_EPOCHS_H

#include "analyzer/store/internal.h"

/* The number of an epoch's recording.  Traces that are no epochs have none, and are identified by when they were recorded. */
static inline int64_t epochs_recording(uint64_t cut_recording, uint64_t real_ns)
{
	return (int64_t)(cut_recording ? cut_recording : real_ns);
}

/* Dates in a trace or a store can be anything.  Begins are limited to the years 1823 to 2116, so that the sum of two does not overflow. */
#define EPOCHS_DATE_MAX (1ll << 62)
static inline int64_t epochs_date(int64_t ns)
{
	return ns < -EPOCHS_DATE_MAX ? -EPOCHS_DATE_MAX : ns > EPOCHS_DATE_MAX ? EPOCHS_DATE_MAX : ns;
}

/* Limits an end to at least begin_ns, which is such a date, and at most 73 years later. */
static inline int64_t epochs_end(int64_t begin_ns, int64_t end_ns)
{
	int64_t most_ns = begin_ns + EPOCHS_DATE_MAX / 2;

	return end_ns < begin_ns ? begin_ns : end_ns > most_ns ? most_ns : end_ns;
}

/* Has the store this epoch, by itself or as a part of an hour or a day? */
bool epochs_have(struct store *s, int64_t recording, int64_t number);

#endif
