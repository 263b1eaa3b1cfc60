/* SPDX-License-Identifier: MIT */
/* Keeps the store's dictionary of processes, functions and so on.  Each is in it once, and is identified by texts, since its number in a
 * trace differs from run to run.  Context: thread. */
#ifndef TAILOR_STORE_NAMES_H
#define TAILOR_STORE_NAMES_H

#include "analyzer/store/internal.h"

#include <stdbool.h>

#define NAMES_TEXT_MAX 4096 /* maximum number of bytes of a text; longer ones are cut when they are written, and by sums_names() */

/* Each of these returns the number of a row of the dictionary, which is added if it is new.  They return 0 if the store has failed.
 * names_text() and names_query() also return 0 for NULL and "", and so number 0 in other rows stands for no text. */
int64_t names_text(struct store *s, const char *text);
int64_t names_process(struct store *s, const char *name, const char *executable, const char *service);
int64_t names_event(struct store *s, const char *name, const char *unit);
/* text: a query without its literals (names_identity()) */
int64_t names_query(struct store *s, const char *text);
struct component_name {
	const char *level, *name, *place, *detail, *label;
	int64_t query;
};
int64_t names_component(struct store *s, const struct component_name *c);
int64_t names_function(struct store *s, const char *name, const char *image, bool jit);
int64_t names_series(struct store *s, int64_t process, int64_t component, int64_t event);
int64_t names_place(struct store *s, int64_t series, int64_t function);

/* Tables show a function of a library in one row, whatever the library's path.  The dictionary has such a function once per path, since
 * each container has its own copy of the library, and the path of a library that was replaced while it runs is "PATH (deleted)".  The
 * dictionary has names as people are shown them (function_label()), and a function whose label changed is one row, too. */

/* names_join_functions() fills an array of these for all functions of the dictionary.  The index is the function's number. */
struct joined_function {
	uint32_t first; /* number of the function that stands for all of this name and kind (jit) in an image of this name; 0: none */
	uint32_t paths; /* for the first one: how many paths the images of these functions have */
};

/* Fills an array of nr zeroed elements for all functions with numbers below nr.  Returns false if memory ran out.  The array is
 * incomplete if the store fails, for which callers ask store_failed(). */
bool names_join_functions(struct store *s, struct joined_function *function, int64_t nr);
/* Returns the name of the image at path, which begins after the last slash and excludes " (deleted)".  It points into path. *bytes: its
 * length. */
const char *names_image(const char *path, size_t *bytes);

/* Returns the identity of a query's text or of a node's detail (sql_text_identity()). The caller frees it. Returns NULL if memory ran
 * out. */
char *names_identity(const char *text);
/* Is that the level of functions of a language (HOST_LEVEL_FUNCTION)? level may be NULL. */
bool names_is_language_level(const char *level);
/* Returns a component's detail without literals likewise.  That of a function of a language is copied, since it is a path. */
char *names_detail(const char *level, const char *detail);

/*
 * Tables show a node of a plan in one row, whatever literals it had.  Stores of tailor 1.0 have a row of the dictionary for each of them,
 * so the rows are joined when they are read.
 *
 * first: an array of nr zeroed elements. The element of each component that has a name becomes the number of the first one with its level,
 * name, place, detail and query, literals aside.  Returns false if memory ran out. The array is incomplete if the store fails, for which
 * callers ask store_failed().
 */
bool names_join_components(struct store *s, uint32_t *first, int64_t nr);

#endif
