/* SPDX-License-Identifier: MIT */
/*
 * The files beside a store: STORE-lock is ours, STORE-wal, -shm and -journal are SQLite's, which writes what it finds in them into the
 * store.  Each is used only as own_file.h says.  Context: thread.
 */
#ifndef TAILOR_STORE_BESIDE_H
#define TAILOR_STORE_BESIDE_H

#include "analyzer/store/internal.h"

/* false: one of them is another user's, or a link, and the store has failed. */
bool beside_check(struct store *s);
/* Waits a moment for another writer.  0, or -errno: the store has failed. */
int beside_take_lock(struct store *s);
/* Is all of it in its main file, and no process writes to it until it is closed? */
bool beside_is_at_rest(struct store *s);

#endif
