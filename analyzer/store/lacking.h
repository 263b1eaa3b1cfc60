/* SPDX-License-Identifier: MIT */
/*
 * Hosts of which something is missing in a store's epochs (NOTICE of the kind `version`): sentences and the time in which they held, in its
 * table meta (epochs.c).  Context: thread.
 */
#ifndef TAILOR_STORE_LACKING_H
#define TAILOR_STORE_LACKING_H

#include "analyzer/store/store.h"

#define LACKING_MAX 8u /* of a window; a store keeps four times as many */
#define LACKING_BYTES 640

struct lacking {
	char sentence[LACKING_MAX][LACKING_BYTES];
	uint32_t nr;
};

/* Inside a transaction: it holds from begin_ns to end_ns (UTC), too. */
void lacking_add(struct store *s, const char *sentence, int64_t begin_ns, int64_t end_ns);
/* Those that held in a window. */
void lacking_read(struct store *s, int64_t from_ns, int64_t to_ns, struct lacking *l);

#endif
