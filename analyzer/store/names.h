/* SPDX-License-Identifier: MIT */
/* The store's dictionary of processes, functions and so on, each once, by names that stay the same in the next run.  Context: thread. */
#ifndef TAILOR_STORE_NAMES_H
#define TAILOR_STORE_NAMES_H

#include "analyzer/store/internal.h"

#include <stdbool.h>

#define NAMES_TEXT_MAX 4096 /* most bytes of a text that are written, and that are read */

/* Each returns the number of a name, which is added if it is new.  0: the store has failed, or a text is NULL or "". */
int64_t names_text(struct store *s, const char *text);
int64_t names_process(struct store *s, const char *name, const char *executable, const char *service);
int64_t names_event(struct store *s, const char *name, const char *unit);
/* text: a query without literals, from names_query_shape(). */
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
 * Functions as tables list them, with one row for a function of a library, whatever the library's path.  Each container has copies of its
 * own, and a file that was replaced while it runs is "PATH (deleted)", so the dictionary has such a function once per path.
 */

/* A function of the dictionary, in an array by number. */
struct joined_function {
	uint32_t first; /* number of the first function of this name in an image of this name */
	uint32_t paths; /* for the first one: number of paths that the image has */
};

/* Fills an array of nr zeroed elements for all functions with numbers below nr.  false without memory. */
bool names_join_functions(struct store *s, struct joined_function *function, int64_t nr);
/* The image's name in its path, which begins after the last slash and excludes " (deleted)".  *bytes: its length. */
const char *names_image(const char *path, size_t *bytes);

/* A query without its literals.  Numbers and quoted texts become ?, lists of them one ?, and blanks single.  The caller frees it; NULL
 * without memory. */
char *names_query_shape(const char *text);

#endif
