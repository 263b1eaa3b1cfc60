/* SPDX-License-Identifier: MIT */
/*
 * A store has profiles of many epochs, for months, in one file (SQLite).  For each epoch it has sums by process group, component, function
 * and event.  Each name is in it once.  One process writes at a time, and any number of processes read.  A store may come from others, so
 * readers trust no byte of it, as with a trace.  Context: thread.
 */
#ifndef TAILOR_STORE_H
#define TAILOR_STORE_H

#include "jitreg/base/diag.h"
#include "jitreg/output/output_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* Output code recognizes a store by this mark, so that it does not overwrite other files with one. */
extern const struct output_form store_output_form;

/* STORE_ADD creates a store if there is none.  STORE_CHANGE and STORE_ADD wait for another writer, up to half a minute, unless that
 * process is stopped. */
enum store_access { STORE_READ, STORE_CHANGE, STORE_ADD };

/* This is the version of the file. Stores of the version before are read as they are, and become of this one when they are changed. Stores
 * of other versions are refused. */
#define STORE_FORMAT_VERSION 4
#define STORE_FORMAT_VERSION_BEFORE 3 /* tailor 1.0 wrote it, without totals (block.h) and with literals in details of components */
#define STORE_PAGE_BYTES 4096
#define STORE_CAP_DEFAULT ((uint64_t)1 << 30) /* bytes */

/* Opens a store.  Returns 0, or -errno with the reason in d if it cannot be read or created, is no store, or has another version, or if
 * another process still writes to it (STORE_CHANGE and STORE_ADD). */
int store_open(const char *path, enum store_access access, struct store **out, struct diag *d);
/* Finalizes the statements, gives up the lock, and frees s, also after a failure. */
void store_close(struct store *s);
/* Returns whether a question or a change has failed. All later ones fail as well then. */
bool store_has_failed(const struct store *s);
/* Returns 0, or -errno of the first failure with the reason in d. */
int store_failed(const struct store *s, struct diag *d);
/*
 * A small file can cause much work: 1.5 KB can be 16 million rows of a block, and a damaged tree of pages may have no end.  So a question
 * has a budget of steps and memory (budget.h) that grows with the file.  SQLite's own steps are counted.  Code whose work depends on
 * numbers in the file calls this first.  It returns false if the budget is exceeded, and the store has failed then.
 */
bool store_spend(struct store *s, uint64_t steps);
/* Returns the length of the path in STORE[@WINDOW] (window.h).  If there is a file whose name is all of the text, the text has no
 * window. */
size_t store_path_bytes(const char *text);
/* Returns whether text is the path of a file that begins like SQLite's, maybe followed by @WINDOW. If the file may not be read, returns
 * whether a window follows. */
bool store_is_named(const char *text);

/* Sets the most bytes that the store may take. cap_keep() applies it later.  Returns 0, or -errno with the reason in d. */
int store_set_cap(struct store *s, uint64_t bytes, struct diag *d);
/* Returns the cap in bytes, which is STORE_CAP_DEFAULT if none was set or the store has failed. */
uint64_t store_cap(struct store *s);
/* Returns the bytes that the store takes, including SQLite's log, but without free pages. */
uint64_t store_size(struct store *s);
/* Returns the bytes of the store's file and SQLite's log, including free pages. */
uint64_t store_file_bytes(struct store *s);
int64_t store_nr_epochs(struct store *s);

#endif
