/* SPDX-License-Identifier: MIT */
/* Epochs of a store as profiles for other programs. Context: thread. */
#ifndef TAILOR_FLEET_STORE_PROFILES_H
#define TAILOR_FLEET_STORE_PROFILES_H

#include "analyzer/fleet/fleet.h"
#include "analyzer/wire/profiles.h"

/* A request with so many samples is full. Receivers refuse 16,000. */
#define STORE_PROFILES_MAX 15000

/*
 * Add a profile per epoch, process and event of the window. event: its name. NULL: all events. The stack is the query, its component and
 * the function. full(), if given, is called when there are STORE_PROFILES_MAX samples, and empties them. If it does not return 0, adding
 * ends and returns the same. Return 0, or -errno with a sentence.
 */
int store_profiles_add(struct store *s, const struct fleet_what *what, const char *event, struct wire_profiles *p,
		       int (*full)(void *context), void *context, struct diag *d);
/* Return the event with the most samples. Waits are considered last. malloc. NULL: there is none, or no memory. */
char *store_profiles_main_event(struct store *s, const struct window *w, struct diag *d);

#endif
