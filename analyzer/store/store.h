/* SPDX-License-Identifier: MIT */
/*
 * A store: profiles of many epochs in one file (SQLite), for months.  Of each epoch it has sums by process group, component, function and
 * event; names are in it once.  One process writes at a time, any number reads.  Every byte of it is hostile to a reader, as a trace's are.
 * Context: thread.
 */
#ifndef TAILOR_STORE_H
#define TAILOR_STORE_H

#include "jitreg/base/diag.h"
#include "jitreg/output/output_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* How a file is known to be a store. */
extern const struct output_form store_output_form;

/* STORE_ADD creates one where there is none, and waits a moment for another that writes. */
enum store_access { STORE_READ, STORE_CHANGE, STORE_ADD };

#define STORE_FORMAT_VERSION 3 /* of the file: a store of another one is refused */
#define STORE_PAGE_BYTES 4096
#define STORE_CAP_DEFAULT ((uint64_t)1 << 30) /* bytes */

/* 0, or -errno with a sentence: it cannot be read or created, is no store, is of a newer version, another process writes to it. */
int store_open(const char *path, enum store_access access, struct store **out, struct diag *d);
void store_close(struct store *s);
/* Something that was asked of it has failed: nothing more is done. */
bool store_has_failed(const struct store *s);
/* How much of STORE[@WINDOW] (window.h) is the path: all of it where such a file exists. */
size_t store_path_bytes(const char *text);
/* Does a file there begin as a store does?  Followed by @WINDOW, too. */
bool store_is_named(const char *text);

/* The most bytes that it may take, which holds from now on. */
int store_set_cap(struct store *s, uint64_t bytes, struct diag *d);
uint64_t store_cap(struct store *s);
/* The bytes that it takes, with what is not yet in its main file, and without pages that are free in it. */
uint64_t store_size(struct store *s);
/* With these. */
uint64_t store_file_bytes(struct store *s);
int64_t store_nr_epochs(struct store *s);

#endif
