/* SPDX-License-Identifier: MIT */
/* Names that look like one that does not exist: few edits apart, or one begins with the other.  Context: thread. */
#ifndef TAILOR_SIMILAR_H
#define TAILOR_SIMILAR_H

#include <stddef.h>

#define SIMILAR_BYTES 64 /* longer names have no neighbours */
#define SIMILAR_MOST 3

struct similar {
	const char *wanted;
	size_t wanted_bytes; /* below 3 or from SIMILAR_BYTES on: nothing is similar */
	int nr;
	struct {
		char name[SIMILAR_BYTES];
		unsigned distance;
	} best[SIMILAR_MOST]; /* the nearest first */
};

/* Letters that must be changed, added or left out to get from one to the other, whatever their case; - and _ are alike.  Each of at most
 * SIMILAR_BYTES.  (V. Levenshtein, 1966) */
unsigned similar_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

void similar_consider(struct similar *s, const char *name);
/* "PREFIXa, b, c", or "". */
void similar_put(const struct similar *s, const char *prefix, char *text, size_t bytes);

#endif
