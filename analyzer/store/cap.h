/* SPDX-License-Identifier: MIT */
/*
 * Keeps a store below its cap. If a store is nearly full, the oldest epochs lose their functions first. When only the newest epoch has
 * functions, the oldest epochs are removed. With each, the names go that no other epoch has. This ends when at most about nine tenths of
 * the cap are taken. The newest epoch stays, but it loses its functions, too, if it takes more than that by itself. Context: thread.
 */
#ifndef TAILOR_STORE_CAP_H
#define TAILOR_STORE_CAP_H

#include "analyzer/store/store.h"

/* cap_keep() reports the work that it has done, and cap_foresee() the work that it expects. */
struct cap_work {
	uint32_t stripped, went;  /* number of epochs that lose their functions, and that are removed; an epoch may be in both */
	int64_t stripped_end_ns, went_end_ns; /* end of the last one of these epochs, UTC; 0 if there are none */
	double bytes;             /* size of the store afterwards, an estimate if foreseen */
};

/* Makes room if room_bytes more would take the store over its cap. With 0, makes room if the store is nearly full. Free pages go back to
 * the file system if they are many, or as far as the file is above that limit. work: may be NULL. Returns 0, or -errno with the reason in
 * d. If a reader keeps SQLite's log from being emptied, the work ends early, which is no error. */
int cap_keep(struct store *s, uint64_t room_bytes, struct cap_work *work, struct diag *d);
/* Estimates the work of cap_keep() with this cap (0: the store's) and room_bytes 0, without changing the store. Returns 0, or -errno with
 * the reason in d. */
int cap_foresee(struct store *s, uint64_t cap, struct cap_work *work, struct diag *d);

#endif
