/* SPDX-License-Identifier: MIT */
/* Declares the database and statements on it, for the files of this folder.  The first failure is kept in struct store, and statements
 * return no rows from then on.  So callers check store_failed() once, at the end.  Context: thread. */
#ifndef TAILOR_STORE_INTERNAL_H
#define TAILOR_STORE_INTERNAL_H

#include "analyzer/store/store.h"
#include "jitreg/base/budget.h"

#include <sqlite3.h>
#include <stddef.h>

struct store {
	sqlite3 *db;
	char *path;	      /* path as given */
	char *file;	      /* path from which those of -wal, -lock and so on are made, without symbolic links unless the store is new */
	uid_t owner;	      /* owner of the file */
	struct budget budget; /* budget of the current question */
	const struct budget_size *budget_size; /* NULL: a store in memory, without a limit */
	int lock;  /* descriptor of the lock file; -1: not open */
	int ahead; /* descriptor that store_read_ahead() opened; -1: none */
	int error; /* the first failure, as errno; 0: none */
	struct diag failure;
	struct statement *prepared; /* list of all statements that have to be finalized */
};

/* A statement is compiled when it is first run.  Most are static.  Such a statement belongs to the store that runs it first,
 * until store_close() or store_finish() finalizes it.  No other store may run it before then. */
struct statement {
	const char *text;
	sqlite3_stmt *prepared;
	struct statement *next;
};
#define STATEMENT(sql) { .text = (sql) }

/*
 * Runs a statement with values, one per letter of types: i int64_t, d double, t text (NULL: null), b const void * and size_t.  Texts and
 * bytes are not copied, and must stay valid until the statement is reset.  Returns true if there is a row, whose columns sqlite3_column_*()
 * gives until the next call.  Returns false if there is none, and the statement is reset then, or if the store has failed.
 */
bool store_run(struct store *s, struct statement *q, const char *types, ...);
/* Runs a statement with nr whole numbers as values.  Returns the same as store_run(). */
bool store_run_numbers(struct store *s, struct statement *q, const int64_t *value, int nr);
/* Asks the kernel to read the file in large pieces.  Call if most of it will be read, since SQLite asks for it page by page. */
void store_read_ahead(struct store *s);
/* Returns the first column of the current row as a number, and resets the statement. */
int64_t store_take_number(struct statement *q);
/* Runs a statement without values, and finalizes it.  Returns the number in the first column of its first row, or 0 if there is no row
 * or the store has failed. */
int64_t store_ask_number(struct store *s, const char *sql);
/* Steps to the next row.  If there is none, or if the store has failed, resets the statement and returns false. */
bool store_next(struct store *s, struct statement *q);
/* Finalizes a statement.  Call this for a struct statement on the stack before its function returns, since the store's list refers to
 * it. */
void store_finish(struct store *s, struct statement *q);
/* Returns the bytes of SQLite's write-ahead log beside the file (FILE-wal), which a checkpoint moves into the file.  Returns 0 if there is
 * no log, or if it cannot be found. */
uint64_t store_log_bytes(const struct store *s);
/* Returns the first 255 bytes of a text, with '?' for bytes that are not printable ASCII, since it may come from a damaged file.  The
 * result is valid until the next call. */
const char *store_printable(const char *text);
/* Executes statements without values or rows.  Returns false if the store has failed. */
bool store_execute(struct store *s, const char *sql);
/* Makes the store fail.  If it has failed before, the first failure stays.  Returns -errno of the first failure. */
int store_fail(struct store *s, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Opens an empty store without a file. name: its name in messages.  Returns 0, or -errno with the reason in d. */
int store_open_in_memory(const char *name, struct store **out, struct diag *d);

/* Returns false if an array of so many bytes, whose length depends on numbers in the file, exceeds the budget (store_spend()). */
bool store_has_room(struct store *s, uint64_t bytes);
/* Begins a question, with a new budget for the present size of the file and its log.  A store that has exceeded a budget gets none. */
void store_begin_question(struct store *s);

/* Begins a transaction for writing.  Either all changes up to store_commit() are made, or none.  Returns false if the store has failed. */
bool store_begin(struct store *s);
/* Ends the transaction, and empties SQLite's log if no reader is in the way.  Returns 0, or -errno with the reason in d, and then no change
 * was made. */
int store_commit(struct store *s, struct diag *d);

#endif
