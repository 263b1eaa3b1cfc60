/* SPDX-License-Identifier: MIT */
/* The store's dictionary: what rows are of, each thing once, by what it is called wherever it runs next.  Context: thread. */
#ifndef TAILOR_STORE_NAMES_H
#define TAILOR_STORE_NAMES_H

#include "analyzer/store/internal.h"

#include <stdbool.h>

#define NAMES_TEXT_MAX 4096 /* bytes that are kept of a text, and read of one that another wrote */

/* Each returns a number, added where there is none yet; 0: the store has failed (or, of text, NULL or ""). */
int64_t names_text(struct store *s, const char *text);
int64_t names_process(struct store *s, const char *name, const char *executable, const char *service);
int64_t names_event(struct store *s, const char *name, const char *unit);
/* text: with numbers and strings taken out (names_query_shape()). */
int64_t names_query(struct store *s, const char *text);
struct component_name {
	const char *level, *name, *place, *detail, *label;
	int64_t query;
};
int64_t names_component(struct store *s, const struct component_name *c);
int64_t names_function(struct store *s, const char *name, const char *image, bool jit);
int64_t names_series(struct store *s, int64_t process, int64_t component, int64_t event);
int64_t names_place(struct store *s, int64_t series, int64_t function);

/*
 * Functions as tables list them: one row for a function of one library, wherever the library lies.  Each container has copies of its own,
 * and a file that was replaced while it runs is "PATH (deleted)", so the dictionary has such a function once for each path.
 */

/* A function of the dictionary, by its number. */
struct joined_function {
	uint32_t first; /* the number of the first function of this name in an image of this name */
	uint32_t paths; /* how many paths that image has; of the first one */
};

/* All functions with numbers below nr, in an array of nr that was allocated with zeros.  false without memory. */
bool names_join_functions(struct store *s, struct joined_function *function, int64_t nr);
/* The image's name in its path: behind the last slash, without " (deleted)".  bytes: how much of it. */
const char *names_image(const char *path, size_t *bytes);

/* A query without its literals: numbers and quoted texts are ?, lists of them one, blanks are single.  malloc; NULL without memory. */
char *names_query_shape(const char *text);

#endif
