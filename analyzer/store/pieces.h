/* SPDX-License-Identifier: MIT */
/*
 * Many changes of a store as small transactions: none holds the store for more than a fraction of a second, and what they write into
 * SQLite's log fits what the cap leaves above the file.  The number of changes in a transaction follows what the last one took.  Where a
 * reader keeps the log from being emptied, the work stops: the caller goes on another time.  Context: thread.
 */
#ifndef TAILOR_STORE_PIECES_H
#define TAILOR_STORE_PIECES_H

#include "analyzer/store/internal.h"

#define PIECES_FIRST 16 /* changes in the first transaction */

struct pieces {
	struct store *s;
	uint64_t log_most;  /* bytes that the log should have at most */
	uint64_t log_bytes; /* what it has */
	uint32_t most;      /* changes in a transaction */
	uint32_t nr;        /* changes in the open one */
	int64_t begin_ns;   /* monotonic, of the open one */
	bool is_blocked;    /* a reader is in the way of the log */
};

/* The most bytes that the log of a store with this cap should have.  A store that takes more than its cap needs no such care: above: by how
 * much. */
uint64_t pieces_log_most(uint64_t cap, uint64_t above);
void pieces_init(struct pieces *p, struct store *s, uint64_t log_most);
/* Before each change.  false: no more changes are to be made, as the store has failed or a reader is in the way. */
bool pieces_next(struct pieces *p);
/* After the last change: the log is empty.  false as above. */
bool pieces_end(struct pieces *p);
/* Gives free pages back to the file system, until the file has so many bytes. */
void pieces_shrink_file(struct pieces *p, uint64_t bytes);

#endif
