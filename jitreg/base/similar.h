/* SPDX-License-Identifier: MIT */
/* Finds names that are similar to one that does not exist: they differ by a few edits, or begin with it.  Context: thread. */
#ifndef TAILOR_SIMILAR_H
#define TAILOR_SIMILAR_H

#include <stddef.h>

#define SIMILAR_BYTES 64 /* names of this length or longer are similar to none */
#define SIMILAR_MOST 3

struct similar {
	const char *wanted;
	size_t wanted_bytes; /* length of wanted; below 3, or from SIMILAR_BYTES on, nothing is similar */
	int nr;
	struct {
		char name[SIMILAR_BYTES];
		unsigned distance;
	} best[SIMILAR_MOST]; /* the nearest first */
};

/* Returns the number of bytes to change, add or delete to turn one name into the other (V. Levenshtein, 1966).  Case is ignored, and -
 * equals _.  Each name has at most SIMILAR_BYTES. */
unsigned similar_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

/* Store a copy of the name if it is similar, and one of the SIMILAR_MOST nearest so far. A name at distance 0 from a stored one is not
 * stored. */
void similar_consider(struct similar *s, const char *name);
/* Write the prefix and the similar names, as "PREFIXa, b, c", or "" if nothing is similar. */
void similar_put(const struct similar *s, const char *prefix, char *text, size_t bytes);

#endif
