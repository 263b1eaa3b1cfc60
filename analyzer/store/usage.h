/* SPDX-License-Identifier: MIT */
/*
 * Finds when names can be deleted.  To keep its cap, a store takes steps in a fixed order: first epochs lose their functions, one epoch per
 * step and the oldest first, then epochs are removed in the same way.  A name goes with the step after which no row of an epoch needs it.
 * This file finds that step for all names, by reading all epochs once, and estimates the bytes that each step frees.  Context: thread.
 */
#ifndef TAILOR_STORE_USAGE_H
#define TAILOR_STORE_USAGE_H

#include "analyzer/store/internal.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#define USAGE_KEPT UINT32_MAX /* in place of a step: no step frees it */

enum usage_table { USAGE_PLACE, USAGE_SERIES, USAGE_FUNCTION, USAGE_COMPONENT, USAGE_PROCESS, USAGE_QUERY, USAGE_TEXT, NR_USAGE_TABLES };
extern const char *const usage_tables[NR_USAGE_TABLES]; /* names of the tables in the file */

struct usage_epoch {
	int64_t id, begin_ns, end_ns, recording, number, parts;
	double samples;
	uint32_t tier;
	bool has_functions;
};

struct usage {
	ARRAY(struct usage_epoch) epochs; /* the oldest first */
	/* Steps are 1, 2, ..., nr_steps.  The first nr_stripped ones drop functions, the others drop epochs, all but the newest. */
	uint32_t nr_stripped, nr_steps;
	struct usage_names {
		uint32_t *step; /* step with which a name goes, by number; 0: no epoch has it; USAGE_KEPT: it stays */
		int64_t nr;
	} names[NR_USAGE_TABLES];
	/* Series of functions of languages -> 1 + series of the same process and event without a component, or 1 if there is none.  The
	 * former go with the functions of an epoch, whose samples are the latter's then. */
	struct hash_map plain;
	double *bytes;      /* bytes freed by each step, nr_steps + 1 of them; [0]: names that no epoch has */
	double bytes_kept;  /* bytes left after the last step */
};

/* Fills *u. strip_all: the newest epoch is to lose its functions, too.  Returns false if the store has failed, and *u is empty then. */
bool usage_read(struct store *s, bool strip_all, struct usage *u);
/* Adds the series without a component that usage.plain leads to. */
void usage_add_plain_series(struct store *s);
void usage_fini(struct usage *u);

#endif
