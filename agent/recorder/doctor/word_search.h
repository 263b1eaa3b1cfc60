/* SPDX-License-Identifier: MIT */
/* Finds which of many words are in a large file, in one pass over it.  Context: any. */
#ifndef TAILOR_WORD_SEARCH_H
#define TAILOR_WORD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	const char *bytes;
	size_t nr; /* at least WORD_BYTES_MIN */
	bool found; /* set by word_search() */
};
#define WORD_BYTES_MIN 4

/* Sets `found` of each word. */
void word_search(const char *text, size_t bytes, struct word *words, size_t nr);

#endif
