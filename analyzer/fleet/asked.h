/* SPDX-License-Identifier: MIT */
/*
 * Parses the options with which commands query a store (which rows, which window of time, and how they are listed), and opens the store. A
 * store is given as STORE[@WINDOW], where STORE is a file, or an address of ClickHouse servers. Context: thread.
 */
#ifndef TAILOR_FLEET_ASKED_H
#define TAILOR_FLEET_ASKED_H

#include "analyzer/store/sums.h"

#include <argp.h>

/* A member is NULL, or false, if the user did not give its option. */
struct asked_options {
	const char *from, *to, *last; /* the window, if STORE has no @WINDOW */
	const char *event, *host, *process, *service, *query, *component;
	bool per_service; /* give each service a row of its own */
	const char *view; /* name of a view that asked_find_view() knows */
};

struct asked_view {
	const char *name, *level; /* level: what `tailor diff --level` calls the view, or NULL */
	enum sums_by by;
	bool is_list; /* the view is a list by name, unlike those of epochs and reasons */
};

/* Return the view with this name or level. If name is NULL, return that of components. Return NULL if there is none. */
const struct asked_view *asked_find_view(const char *name);

/* The parser of these options is a child of a command's argp parser. Its input is a struct asked_options of zeros. */
extern const struct argp asked_argp;

/* Return whether the text is an address of servers, or names the file of a store (store_is_named()). */
bool asked_is_store(const char *text);
/* Return the next of several traces and stores that commas separate, as strsep() does. The commas within an address of servers do not
 * separate. */
char *asked_next_source(char **rest);

/* Set the window to the @WINDOW in the text or the one of the options, or to all time if there is neither. Return 0, or -errno with the
 * reason in d; -EINVAL if there is more than one window or it cannot be parsed. */
int asked_window(const char *text, const struct asked_options *a, struct window *w, struct diag *d);
/* Open the store that the text names, and set the question q to the options. by: grouping of the view. Return 0 and *out, which the caller
 * closes, or -errno with the reason in d. For a server, q->window becomes all time and q->host NULL, because only rows of the window and
 * the host were read from it. */
int asked_open(const char *text, const struct asked_options *a, enum sums_by by, struct sums_question *q, struct store **out,
	       struct diag *d);
/* Change the question q to functions, as is done if no host declared components. Hours of ClickHouse have no functions, so a server is read
 * again, by days; *s is replaced then, and is NULL after an error. Return 0, or -errno with the reason in d. */
int asked_open_functions(const char *text, const struct asked_options *a, struct sums_question *q, struct store **s, struct diag *d);

#endif
