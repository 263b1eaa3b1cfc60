/* SPDX-License-Identifier: MIT */
/*
 * The cap of a store.  A store that is nearly full makes room.  First the oldest epochs lose their functions, then the oldest epochs go,
 * each with the names that no other epoch has, until about nine tenths of the cap are left.  The newest epoch stays, but loses its
 * functions if it is larger than the cap by itself.  Context: thread.
 */
#ifndef TAILOR_STORE_CAP_H
#define TAILOR_STORE_CAP_H

#include "analyzer/store/store.h"

/* The work that cap_keep() has done, or that cap_foresee() expects. */
struct cap_work {
	uint32_t stripped, went;  /* epochs of the store that lose their functions, and that go */
	int64_t stripped_end_ns, went_end_ns; /* latest end of these epochs, UTC */
	double bytes;             /* size of the store afterwards, an estimate if foreseen */
};

/*
 * Makes room for so many bytes more.  With 0, makes room only if the store is nearly full.  work: may be NULL.  Returns 0, or -errno with a
 * sentence.  A reader that keeps SQLite's log from being emptied ends the work early, without an error.
 */
int cap_keep(struct store *s, uint64_t room_bytes, struct cap_work *work, struct diag *d);
/* Estimates the work of cap_keep() with this cap (0: the store's).  Changes nothing. */
int cap_foresee(struct store *s, uint64_t cap, struct cap_work *work, struct diag *d);

#endif
