/* SPDX-License-Identifier: MIT */
/* Which of many words stand in a large file, in one pass over it.  Context: any. */
#ifndef TAILOR_WORD_SEARCH_H
#define TAILOR_WORD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct word {
	const char *bytes;
	size_t nr; /* at least WORD_BYTES_MIN */
	bool found; /* out */
};
#define WORD_BYTES_MIN 4

/* Sets found of each. */
void word_search(const char *text, size_t bytes, struct word *words, size_t nr);

#endif
