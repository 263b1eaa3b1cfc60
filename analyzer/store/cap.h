/* SPDX-License-Identifier: MIT */
/*
 * The cap of a store.  A store that is nearly full makes room: the oldest epochs lose their functions, then the oldest go, each with the
 * names that are theirs alone, until about nine tenths of the cap are left.  The newest epoch stays; it loses its functions where it is
 * larger than the cap by itself.  Context: thread.
 */
#ifndef TAILOR_STORE_CAP_H
#define TAILOR_STORE_CAP_H

#include "analyzer/store/store.h"

/* The work of keeping the cap, done or foreseen. */
struct cap_work {
	uint32_t stripped, went;  /* epochs that lose their functions, and those that go, as they are in the store */
	int64_t stripped_end_ns, went_end_ns; /* until when these epochs are */
	double bytes;             /* what the store takes afterwards; foreseen: about */
};

/*
 * Makes room for so many bytes more; 0: where the store is nearly full, it is made less full.  work: may be NULL.  0, or -errno with a
 * sentence.  A reader that keeps SQLite's log from being emptied ends the work early, without an error.
 */
int cap_keep(struct store *s, uint64_t room_bytes, struct cap_work *work, struct diag *d);
/* Estimates the work of cap_keep() with this cap (0: the store's).  Nothing is changed. */
int cap_foresee(struct store *s, uint64_t cap, struct cap_work *work, struct diag *d);

#endif
