/* SPDX-License-Identifier: MIT */
/* Names that are similar to one that does not exist: few edits apart, or beginning with it.  Context: thread. */
#ifndef TAILOR_SIMILAR_H
#define TAILOR_SIMILAR_H

#include <stddef.h>

#define SIMILAR_BYTES 64 /* longer names have no neighbours */
#define SIMILAR_MOST 3

struct similar {
	const char *wanted;
	size_t wanted_bytes; /* nothing is similar if below 3, or SIMILAR_BYTES or more */
	int nr;
	struct {
		char name[SIMILAR_BYTES];
		unsigned distance;
	} best[SIMILAR_MOST]; /* the nearest first */
};

/* The number of letters to change, add or delete to turn one name into the other (V. Levenshtein, 1966).  Case is ignored, and - equals _.
 * Each name has at most SIMILAR_BYTES. */
unsigned similar_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

void similar_consider(struct similar *s, const char *name);
/* Write "PREFIXa, b, c", or "" if nothing is similar. */
void similar_put(const struct similar *s, const char *prefix, char *text, size_t bytes);

#endif
