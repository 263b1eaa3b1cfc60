/* SPDX-License-Identifier: MIT */
/*
 * Makes many changes of a store as small transactions.  The number of changes in a transaction is adapted to what the last one took, so
 * that in general it holds the store for at most a fifth of a second, and SQLite's log stays small against the cap, which includes it.  If
 * a reader keeps the log from being emptied, the work stops, and the caller can go on another time.  Context: thread.
 */
#ifndef TAILOR_STORE_PIECES_H
#define TAILOR_STORE_PIECES_H

#include "analyzer/store/internal.h"

#define PIECES_FIRST 16 /* maximum number of changes in the first transaction */

struct pieces {
	struct store *s;
	uint64_t log_most;  /* bytes that SQLite's log should not exceed */
	uint64_t log_bytes; /* bytes of the log after the last transaction */
	uint32_t most;      /* maximum number of changes in a transaction */
	uint32_t nr;        /* changes in the open transaction; 0: none is open */
	int64_t begin_ns;   /* when the open transaction began, by clock_now_ns() */
	bool is_blocked;    /* SQLite could not empty the log, mostly because a reader uses it */
};

/* Returns the bytes that the log of a store with this cap should not exceed, between LOG_LEAST and LOG_MOST. above: bytes by which the
 * store exceeds its cap. The log may have 1/LOG_PART of the cap, or half of `above` if this is more, because the work frees more. */
uint64_t pieces_log_most(uint64_t cap, uint64_t above);
void pieces_init(struct pieces *p, struct store *s, uint64_t log_most);
/* Call before each change.  Returns false if no more changes are to be made, since the store has failed or a reader blocks the log. */
bool pieces_next(struct pieces *p);
/* Call after the last change.  Commits, and empties the log.  Returns false if the store has failed, or if a reader blocks the log. */
bool pieces_end(struct pieces *p);
/* Gives free pages back to the file system, until the file has so many bytes, no page is free, a reader blocks the log, or the store has
 * failed. */
void pieces_shrink_file(struct pieces *p, uint64_t bytes);

#endif
