/* SPDX-License-Identifier: MIT */
/*
 * Sentences on hosts whose information is incomplete in a store's epochs (NOTICE of the kind `version`), with the time in which they held.
 * They are in the store's table meta (epochs.c).  Context: thread.
 */
#ifndef TAILOR_STORE_LACKING_H
#define TAILOR_STORE_LACKING_H

#include "analyzer/store/store.h"

#define LACKING_MAX 8u /* most sentences of a window; a store keeps four times as many */
#define LACKING_BYTES 640

struct lacking {
	char sentence[LACKING_MAX][LACKING_BYTES];
	uint32_t nr;
};

/* Adds a time, from begin_ns to end_ns (UTC), in which a sentence holds.  Call inside a transaction. */
void lacking_add(struct store *s, const char *sentence, int64_t begin_ns, int64_t end_ns);
/* Reads the sentences that held in a window. */
void lacking_read(struct store *s, int64_t from_ns, int64_t to_ns, struct lacking *l);

#endif
