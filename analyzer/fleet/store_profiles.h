/* SPDX-License-Identifier: MIT */
/* Epochs of a store as profiles for other programs.  Context: thread. */
#ifndef TAILOR_FLEET_STORE_PROFILES_H
#define TAILOR_FLEET_STORE_PROFILES_H

#include "analyzer/fleet/fleet.h"
#include "analyzer/wire/profiles.h"

/* So many samples make a request full; receivers refuse 16,000. */
#define STORE_PROFILES_MAX 15000

/*
 * Those of the window: a profile per epoch, process and event; event: its name, or NULL: all.  The stack is the query, its component and
 * the function.  full(), where there is one, is called when there are STORE_PROFILES_MAX samples, and empties them; not 0: it ends there,
 * and that is returned.  0, or -errno with a sentence.
 */
int store_profiles_add(struct store *s, const struct fleet_what *what, const char *event, struct wire_profiles *p,
		       int (*full)(void *context), void *context, struct diag *d);
/* The event that has the most samples, waits last; malloc; NULL: there is none, or no memory. */
char *store_profiles_main_event(struct store *s, const struct window *w, struct diag *d);

#endif
