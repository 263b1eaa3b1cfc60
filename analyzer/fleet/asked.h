/* SPDX-License-Identifier: MIT */
/*
 * The options with which commands query a store: rows, window, and the grouping of the list. STORE[@WINDOW] is a file, or the address of
 * ClickHouse in its place. Context: thread.
 */
#ifndef TAILOR_FLEET_ASKED_H
#define TAILOR_FLEET_ASKED_H

#include "analyzer/store/sums.h"

#include <argp.h>

/* NULL: the option is not given. */
struct asked_options {
	const char *from, *to, *last; /* the window, if there is no @WINDOW */
	const char *event, *host, *process, *service, *query, *component;
	bool per_service; /* a row for each service */
	const char *view; /* a view that asked_find_view() knows */
};

struct asked_view {
	const char *name, *level; /* level: the name for `tailor diff --level`, or NULL */
	enum sums_by by;
	bool is_list; /* the view lists names, and not epochs or reasons */
};

/* Find a view by either name. NULL as name: the view of components. Return NULL if there is none. */
const struct asked_view *asked_find_view(const char *name);

/* A child of a command's argp. Its input is a struct asked_options. */
extern const struct argp asked_argp;

/* Is it a store, by its first bytes or its address? */
bool asked_is_store(const char *text);
/* Return the next of several traces and stores that commas separate, as strsep() does. Commas within an address do not separate. */
char *asked_next_source(char **rest);

/* Find the window of STORE[@WINDOW]. Without one it is all time. Return 0, or -EINVAL with a sentence. */
int asked_window(const char *text, const struct asked_options *a, struct window *w, struct diag *d);
/* Open the store, and set the question. by: grouping of the view. Return 0, or -errno with a sentence. */
int asked_open(const char *text, const struct asked_options *a, enum sums_by by, struct sums_question *q, struct store **out,
	       struct diag *d);
/* List functions of an open store instead, because no host declared components. Hours of ClickHouse have no functions, so such a store is
 * read again. */
int asked_open_functions(const char *text, const struct asked_options *a, struct sums_question *q, struct store **s, struct diag *d);

#endif
