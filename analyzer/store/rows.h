/* SPDX-License-Identifier: MIT */
/* The rows of a store's epochs, for those who send them elsewhere.  Context: thread. */
#ifndef TAILOR_STORE_ROWS_H
#define TAILOR_STORE_ROWS_H

#include "analyzer/store/store.h"
#include "analyzer/store/window.h"

struct rows_epoch {
	int64_t id, begin_ns, end_ns, recording, number;
	uint32_t tier, parts, cpus;
	double samples, effective;
	uint64_t lost;
	const char *host;
};

/* function: 0: the epoch no longer has functions.  The weights of a series' rows are whole, and add up to its own. */
struct rows_row {
	int64_t series, function;
	uint64_t samples, weight;
};

/* For qsort(): by series, then function. */
int rows_compare(const void *a, const void *b);

struct rows_reader {
	bool (*wanted)(void *context, const struct rows_epoch *e); /* NULL: all are */
	/* not 0: it stops there, and that is returned */
	int (*epoch)(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
	void *context;
};
/* Of each epoch of the window, by its begin, all in one state of the store.  host: NULL: of all.  0, or -errno with a sentence. */
int rows_read(struct store *s, const struct window *w, const char *host, const struct rows_reader *reader, struct diag *d);
/* The next host that it has epochs of, in alphabetical order; NULL: there are no more.  *after: "" at first; replaced, to be freed. */
const char *rows_next_host(struct store *s, char **after);
/* From the begin of its first epoch to behind its last; false: it has none. */
bool rows_span(struct store *s, struct window *w);
/* A name that no other store has, in hexadecimal digits; valid until the next call. */
const char *rows_store_name(struct store *s);

/* Texts of a series, "" where there is none, valid until the next call. */
struct rows_series {
	const char *event, *unit, *process, *executable, *service, *level, *component, *place, *detail, *label, *query;
};
struct rows_function {
	const char *name, *image;
	bool jit;
};
struct rows_series rows_series(struct store *s, int64_t id);
struct rows_function rows_function(struct store *s, int64_t id);

#endif
