/* SPDX-License-Identifier: MIT */
/* Groups marks by name, component and process.  Context: thread. */
#ifndef TAILOR_MARK_KINDS_H
#define TAILOR_MARK_KINDS_H

#include "analyzer/query/report.h"

struct mark_kind {
	const char *name;
	uint32_t process, component, nr, unended;
	uint32_t end;  /* end of the kind's marks, which are list[end - nr] to list[end - 1] */
	uint32_t same; /* 1 + index of another kind whose name has the same hash; 0: none */
	/* time_ns: time of all marks together, of unended ones up to the last sample; units: the host's units of work in them */
	double time_ns, units;
	double longest_ns;
};

/* The lists have the kinds of marks, and the marks that pass the filter, sorted by kind. */
struct mark_kinds {
	struct mark_kind *kind;
	uint32_t nr;
	uint32_t *of;		 /* 1 + index of the kind of each mark in the model; 0: it does not pass the filter */
	const struct mark **list;
};

/* Makes the kinds. Returns false if memory ran out. mark_kinds_fini() must follow in any case. */
bool mark_kinds_make(const struct report *r, struct mark_kinds *k);
void mark_kinds_fini(struct mark_kinds *k);

#endif
