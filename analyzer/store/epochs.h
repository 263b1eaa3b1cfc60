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

/* By itself, or as a part of an hour or a day. */
bool epochs_have(struct store *s, int64_t recording, int64_t number);

#endif
