/* SPDX-License-Identifier: MIT */
/*
 * What commands ask of a store, by options: which rows, of which window, listed by what.  STORE[@WINDOW] is a file, or ClickHouse's address
 * in its place.  Context: thread.
 */
#ifndef TAILOR_FLEET_ASKED_H
#define TAILOR_FLEET_ASKED_H

#include "analyzer/store/sums.h"

#include <argp.h>

/* NULL: not given. */
struct asked_options {
	const char *from, *to, *last; /* the window, where no @WINDOW says it */
	const char *event, *host, *process, *service, *query, *component;
	bool per_service; /* a row for each service */
	const char *view; /* one that asked_find_view() knows */
};

struct asked_view {
	const char *name, *level; /* level: what `tailor diff --level` calls it, or NULL */
	enum sums_by by;
	bool is_list; /* of names; else of epochs or reasons */
};

/* By either name; the components' for NULL; NULL: there is none. */
const struct asked_view *asked_find_view(const char *name);

/* As a child of a command's argp; its input is a struct asked_options. */
extern const struct argp asked_argp;

/* Is it a store, by its first bytes or its address? */
bool asked_is_store(const char *text);
/* The next of several traces and stores that commas separate, as strsep() has it: an address has commas of its own. */
char *asked_next_source(char **rest);

/* The window of STORE[@WINDOW]: all where nothing says it.  0, or -EINVAL with a sentence. */
int asked_window(const char *text, const struct asked_options *a, struct window *w, struct diag *d);
/* Open it, with the question.  by: of the view.  0, or -errno with a sentence. */
int asked_open(const char *text, const struct asked_options *a, enum sums_by by, struct sums_question *q, struct store **out,
	       struct diag *d);
/* Where no host of a store that is open declared components, functions instead: hours of ClickHouse's have none, so its is read anew. */
int asked_open_functions(const char *text, const struct asked_options *a, struct sums_question *q, struct store **s, struct diag *d);

#endif
