/* SPDX-License-Identifier: MIT */
/* Makes profiles of a store's epochs, for other programs. Context: thread. */
#ifndef TAILOR_FLEET_STORE_PROFILES_H
#define TAILOR_FLEET_STORE_PROFILES_H

#include "analyzer/fleet/fleet.h"
#include "analyzer/wire/profiles.h"

/* This is the number of samples from which a request is sent. Some receivers refuse one of 16,000. */
#define STORE_PROFILES_MAX 15000

/*
 * Add a profile for each epoch, process and event of the window. event: its name; NULL: all events. The stack of a sample is its query, its
 * component and its function. When there are STORE_PROFILES_MAX samples, full() is called, unless it is NULL. It must empty p, and if it
 * does not return 0, its number is returned. Return 0, or -errno with the reason in d.
 */
int store_profiles_add(struct store *s, const struct fleet_what *what, const char *event, struct wire_profiles *p,
		       int (*full)(void *context), void *context, struct diag *d);
/* Return the name of the store's first event that counts neither waits nor code loads, or else of its first event. The caller frees it.
 * Return NULL if the store has none, or after an error with the reason in d. */
char *store_profiles_main_event(struct store *s, const struct window *w, struct diag *d);

#endif
