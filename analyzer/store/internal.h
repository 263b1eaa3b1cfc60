/* SPDX-License-Identifier: MIT */
/*
 * What the files of the store share: the database, and statements on it.  A failure is kept: from then on statements give no rows, and who
 * began it all asks once (store_failed()).  Context: thread.
 */
#ifndef TAILOR_STORE_INTERNAL_H
#define TAILOR_STORE_INTERNAL_H

#include "analyzer/store/store.h"
#include "jitreg/base/budget.h"

#include <sqlite3.h>
#include <stddef.h>

struct store {
	sqlite3 *db;
	char *path;	      /* as it was given */
	char *file;	      /* without links: what stands beside it is named by this */
	uid_t owner;	      /* of the file */
	struct budget budget; /* of the question that is asked */
	const struct budget_size *budget_size; /* NULL: in memory, without a limit */
	int lock;  /* descriptor of the lock file; -1: it is only read */
	int ahead; /* descriptor of what store_read_ahead() opened; -1: nothing */
	int error; /* the first failure, as errno; 0: none */
	struct diag failure;
	struct statement *prepared; /* all statements that are to be finalized */
};

/* A statement, prepared when it is first used.  It belongs to one store at a time. */
struct statement {
	const char *text;
	sqlite3_stmt *prepared;
	struct statement *next;
};
#define STATEMENT(sql) { .text = (sql) }

/*
 * Runs it with these values, one a letter of types: i int64_t, d double, t text (NULL: null), b const void * and size_t.  true: it gave
 * a row, whose columns are sqlite3_column_*()'s until the next call; false: it gave none, or failed.
 */
bool store_run(struct store *s, struct statement *q, const char *types, ...);
/* Likewise, with nr whole numbers. */
bool store_run_numbers(struct store *s, struct statement *q, const int64_t *value, int nr);
/* Most of the file will be asked for: the kernel is to read it in large pieces, not by SQLite's pages, one after the other. */
void store_read_ahead(struct store *s);
/* The first column of a row that is there, which is done with. */
int64_t store_take_number(struct statement *q);
/* What a statement without values answers, which is not kept; 0: nothing. */
int64_t store_ask_number(struct store *s, const char *sql);
/* The next row. */
bool store_next(struct store *s, struct statement *q);
/* Of one that does not outlive its function: it is done with. */
void store_finish(struct store *s, struct statement *q);
/* What the database says, which may hold bytes of a damaged file; valid until the next call. */
const char *store_printable(const char *text);
/* Statements without values or rows. */
bool store_execute(struct store *s, const char *sql);
/* Keeps a failure of ours; returns -error. */
int store_fail(struct store *s, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* 0, or -errno with the sentence of the first failure. */
int store_failed(const struct store *s, struct diag *d);

/* An empty one without a file; name: what messages call it.  0, or -errno with a sentence. */
int store_open_in_memory(const char *name, struct store **out, struct diag *d);

/*
 * A small file can ask for much: 1.5 KB are 16 million rows of a block, and a damaged tree of pages has no end.  So a question has a budget
 * of steps and memory (budget.h) that grows with the file.  SQLite's own steps are counted, and code that multiplies what a file says asks
 * here first.  false: the budget is exceeded, and the store has failed with that sentence.
 */
bool store_spend(struct store *s, uint64_t steps);
bool store_has_room(struct store *s, uint64_t bytes);
/* Another question, of the file as it is now: it has all of its steps. */
void store_begin_question(struct store *s);

/* Everything between them is done, or nothing. */
bool store_begin(struct store *s);
/* 0, or -errno with a sentence: nothing of it was done. */
int store_commit(struct store *s, struct diag *d);

#endif
