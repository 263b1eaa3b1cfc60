/* SPDX-License-Identifier: MIT */
/*
 * Makes many changes of a store as small transactions.  No transaction holds the store for more than a fraction of a second, and SQLite's
 * log fits into the room between the file and the cap.  The number of changes in a transaction depends on what the last one took.  If a
 * reader keeps the log from being emptied, the work stops, and the caller goes on another time.  Context: thread.
 */
#ifndef TAILOR_STORE_PIECES_H
#define TAILOR_STORE_PIECES_H

#include "analyzer/store/internal.h"

#define PIECES_FIRST 16 /* changes in the first transaction */

struct pieces {
	struct store *s;
	uint64_t log_most;  /* most bytes that the log should have */
	uint64_t log_bytes; /* bytes of the log */
	uint32_t most;      /* changes in a transaction */
	uint32_t nr;        /* changes in the open one */
	int64_t begin_ns;   /* monotonic begin of the open one */
	bool is_blocked;    /* a reader keeps the log from being emptied */
};

/* The most bytes that the log of a store with this cap should have.  above: by how much the store exceeds its cap, in which case the log
 * may be larger. */
uint64_t pieces_log_most(uint64_t cap, uint64_t above);
void pieces_init(struct pieces *p, struct store *s, uint64_t log_most);
/* Call before each change.  false: make no more changes, since the store has failed or a reader blocks the log. */
bool pieces_next(struct pieces *p);
/* Call after the last change.  Commits, and empties the log.  false: the store has failed, or a reader blocks the log. */
bool pieces_end(struct pieces *p);
/* Gives free pages back to the file system, until the file has so many bytes. */
void pieces_shrink_file(struct pieces *p, uint64_t bytes);

#endif
