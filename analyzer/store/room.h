/* SPDX-License-Identifier: MIT */
/*
 * Makes room for an epoch that is to be added (in names.c).  The names of its functions that the store lacks are found before anything is
 * written.  If the epoch would take the store over its cap, cap_keep() makes room first.  Then the names are added as texts in small
 * transactions, in the order of the index by hash, since one transaction would write nearly all of that index into SQLite's log.  Context:
 * thread.
 */
#ifndef TAILOR_STORE_ROOM_H
#define TAILOR_STORE_ROOM_H

#include "analyzer/store/internal.h"
#include "jitreg/base/grow.h"

#include <stdbool.h>

struct room_text {
	char *text;
	int64_t hash;
	uint32_t nr_components; /* nodes and functions of languages that have this name */
};

/* The list has the names of the epoch's functions, also of generated code. It is empty if all members are zero. room_make() drops the names
 * that the store has. */
struct room {
	ARRAY_OF(struct room_text);
};

/* Adds a copy of text, unless it is NULL or "".  room_add_component() adds the name of a component, which has rows of its own.  Returns
 * false if memory ran out. */
bool room_add(struct room *r, const char *text);
bool room_add_component(struct room *r, const char *name);
/*
 * Makes room for the epoch, and adds the texts. If a reader blocks SQLite's log, the remaining texts are left for names_text(). nr_rows:
 * number of rows of the epoch. *with_functions becomes true, or false if the epoch would take more than half of the cap. It has to be
 * stored without functions then, and no texts are added. Returns 0, or -errno with the reason in d.
 */
int room_make(struct room *r, struct store *s, uint32_t nr_rows, bool *with_functions, struct diag *d);
void room_fini(struct room *r);

#endif
