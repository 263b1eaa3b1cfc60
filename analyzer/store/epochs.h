/* SPDX-License-Identifier: MIT */
/* Identifies epochs, and limits their dates.  Context: thread. */
#ifndef TAILOR_STORE_EPOCHS_H
#define TAILOR_STORE_EPOCHS_H

#include "analyzer/store/internal.h"

/* Returns the number of the recording that an epoch belongs to, which is cut_recording in the HEADER of its trace.  A trace that is no
 * epoch has 0 there.  The time at which it was recorded then identifies it. */
static inline int64_t epochs_recording(uint64_t cut_recording, uint64_t real_ns)
{
	return (int64_t)(cut_recording ? cut_recording : real_ns);
}

/* Dates in a trace or a store can be any number.  The date at which an epoch begins is limited to the years 1823 to 2116, so that the end
 * of the epoch, which is at most 73 years later (epochs_end()), does not overflow. */
#define EPOCHS_DATE_MAX (1ll << 62)
static inline int64_t epochs_date(int64_t ns)
{
	return ns < -EPOCHS_DATE_MAX ? -EPOCHS_DATE_MAX : ns > EPOCHS_DATE_MAX ? EPOCHS_DATE_MAX : ns;
}

/* Limits an end to the 73 years from begin_ns on, which epochs_date() has limited. */
static inline int64_t epochs_end(int64_t begin_ns, int64_t end_ns)
{
	int64_t most_ns = begin_ns + EPOCHS_DATE_MAX / 2;

	return end_ns < begin_ns ? begin_ns : end_ns > most_ns ? most_ns : end_ns;
}

/* Returns whether this epoch was added to the store. It may have become part of an hour or a day since, or it may have been removed to keep
 * the cap. The oldest of those epochs are forgotten (REMEMBERED in cap.c). Returns false also if the store has failed. */
bool epochs_have(struct store *s, int64_t recording, int64_t number);

#endif
