/* SPDX-License-Identifier: MIT */
/*
 * Makes room for an epoch that is to be added (names.c).  Its new names are known before anything is written.  If they would take the store
 * over its cap, the store makes room first.  Then texts are added in small transactions, in the order of their index, since otherwise one
 * transaction would write nearly all of that index into SQLite's log.  Context: thread.
 */
#ifndef TAILOR_STORE_ROOM_H
#define TAILOR_STORE_ROOM_H

#include "analyzer/store/internal.h"

#include <stdbool.h>

/* Names of the epoch's functions.  Zeros are an empty list. */
struct room {
	struct room_text {
		char *text;
		int64_t hash;
	} *text;
	uint32_t nr, capacity;
};

/* Adds a copy of text.  false without memory. */
bool room_add(struct room *r, const char *text);
/*
 * Makes room, and adds the texts.  nr_rows: rows of the epoch.  *with_functions: false if its functions would take more than half of the
 * cap, so that the epoch has to be stored without them.  Returns 0, or -errno with a sentence.
 */
int room_make(struct room *r, struct store *s, uint32_t nr_rows, bool *with_functions, struct diag *d);
void room_fini(struct room *r);

#endif
