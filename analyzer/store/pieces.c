/* SPDX-License-Identifier: MIT */
#include "analyzer/store/pieces.h"

#include "jitreg/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FRAME_BYTES 4120 /* a page in the log */
#define LOG_PART 32      /* the log may have 1/LOG_PART of the cap */
#define LOG_LEAST (16 * FRAME_BYTES)
#define LOG_MOST (8 << 20)
#define PIECE_NS 200000000
#define CHANGES_MOST 65536
#define PAGES_FIRST 8 /* pages that the first incremental_vacuum gives back; for each it moves one page and changes two more */

uint64_t pieces_log_most(uint64_t cap, uint64_t above)
{
	uint64_t bytes = cap / LOG_PART > above / 2 ? cap / LOG_PART : above / 2;

	return bytes < LOG_LEAST ? LOG_LEAST : bytes > LOG_MOST ? LOG_MOST : bytes;
}

void pieces_init(struct pieces *p, struct store *s, uint64_t log_most)
{
	*p = (struct pieces){ .s = s, .log_most = log_most, .most = PIECES_FIRST };
}

/* Moves the log into the file.  SQLite's checkpoint waits until the file is on the disk, so it is not done after each transaction. */
static void empty_log(struct pieces *p)
{
	if (p->log_bytes && sqlite3_wal_checkpoint_v2(p->s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
		p->is_blocked = true;
	p->log_bytes = store_log_bytes(p->s);
}

/* Returns the most changes of the next transaction, after one that took `part` of what it may take.  These are twice as many if part is
 * below a half, up to CHANGES_MOST, and fewer if it is above 1. */
static uint32_t adapt(uint32_t most, double part)
{
	if (part < 0.5)
		return most < CHANGES_MOST ? 2 * most : most;
	if (part <= 1)
		return most;
	most = (uint32_t)(most / part);
	return most ? most : 1;
}

/* Measures a transaction, which may fill half of the log or take PIECE_NS, and returns the most changes of the next one.  Empties the
 * log if it is more than half full. */
static uint32_t measure(struct pieces *p, uint32_t most)
{
	uint64_t bytes = store_log_bytes(p->s);
	double written = bytes > p->log_bytes ? (double)(bytes - p->log_bytes) : 0;
	double of_log = 2 * written / (double)p->log_most, of_time = (double)((int64_t)clock_now_ns() - p->begin_ns) / PIECE_NS;

	p->log_bytes = bytes;
	if (2 * bytes > p->log_most)
		empty_log(p);
	return adapt(most, of_log > of_time ? of_log : of_time);
}

static void end_piece(struct pieces *p)
{
	if (!p->nr)
		return;
	p->nr = 0;
	if (p->s->error || !store_execute(p->s, "COMMIT"))
		sqlite3_exec(p->s->db, "ROLLBACK", NULL, NULL, NULL);
	else
		p->most = measure(p, p->most);
}

bool pieces_end(struct pieces *p)
{
	end_piece(p);
	empty_log(p);
	return !p->s->error && !p->is_blocked;
}

bool pieces_next(struct pieces *p)
{
	if (p->nr >= p->most)
		end_piece(p);
	if (p->s->error || p->is_blocked)
		return false;
	if (!p->nr) {
		p->begin_ns = (int64_t)clock_now_ns();
		if (!store_begin(p->s))
			return false;
	}
	p->nr++;
	return true;
}

/* Returns how many free pages to give back so that the file has so many bytes.  The result is not positive if there are none. */
static int64_t pages_above(struct store *s, uint64_t bytes)
{
	int64_t nr_free = store_ask_number(s, "PRAGMA freelist_count");
	int64_t above = store_ask_number(s, "PRAGMA page_count") - (int64_t)(bytes / STORE_PAGE_BYTES);

	return above < nr_free ? above : nr_free;
}

void pieces_shrink_file(struct pieces *p, uint64_t bytes)
{
	uint32_t pages = PAGES_FIRST;
	int64_t above = pages_above(p->s, bytes), before = INT64_MAX;
	char text[64];

	for (; above > 0 && above < before && !p->s->error && !p->is_blocked; above = pages_above(p->s, bytes)) {
		before = above;
		p->begin_ns = (int64_t)clock_now_ns();
		snprintf(text, sizeof(text), "PRAGMA incremental_vacuum(%lld)", (long long)(above < pages ? above : pages));
		store_execute(p->s, text);
		pages = measure(p, pages);
	}
	pieces_end(p);
}
