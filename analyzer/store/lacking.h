/* SPDX-License-Identifier: MIT */
/*
 * A store keeps sentences which say that a host (a program whose JIT is profiled) gives incomplete information, from NOTICE records of the
 * kind `version`.  With each sentence it keeps the time from the first to the last epoch that has it.  They are in the store's table meta
 * (epochs.c).  Context: thread.
 */
#ifndef TAILOR_STORE_LACKING_H
#define TAILOR_STORE_LACKING_H

#include "analyzer/store/store.h"

#define LACKING_MAX 8u /* maximum number of sentences that lacking_read() returns; a store keeps four times as many */
#define LACKING_BYTES 640

struct lacking {
	char sentence[LACKING_MAX][LACKING_BYTES];
	uint32_t nr;
};

/* Adds the time from begin_ns to end_ns (UTC), in which a sentence holds, to the sentence's time.  Ignores a sentence of LACKING_BYTES
 * or more, and a new one if the store has 4 * LACKING_MAX.  Call inside a transaction. */
void lacking_add(struct store *s, const char *sentence, int64_t begin_ns, int64_t end_ns);
/* Reads the sentences whose time overlaps a window, in alphabetical order, at most LACKING_MAX. There are none if the store has failed. */
void lacking_read(struct store *s, int64_t from_ns, int64_t to_ns, struct lacking *l);

#endif
