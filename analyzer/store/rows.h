/* SPDX-License-Identifier: MIT */
/* Reads the rows of a store's epochs, for code that sends them elsewhere.  Context: thread. */
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

/* A row.  function 0: the epoch no longer has functions.  The weights of a series' rows add up to its own weight. */
struct rows_row {
	int64_t series, function;
	uint64_t samples, weight;
};

/* Compares rows for qsort(), by series, then function. */
int rows_compare(const void *a, const void *b);

struct rows_reader {
	bool (*wanted)(void *context, const struct rows_epoch *e); /* NULL: all are wanted */
	/* called for each epoch; a value other than 0 ends the reading, and is returned */
	int (*epoch)(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
	void *context;
};
/* Reads epochs of the window, sorted by begin, all in one state of the store.  host: only of this host; NULL: of all.  Returns 0, or -errno
 * with a sentence. */
int rows_read(struct store *s, const struct window *w, const char *host, const struct rows_reader *reader, struct diag *d);
/* The next host with epochs, in alphabetical order; NULL: there are no more.  *after: malloc()ed, "" at first.  It is replaced, and the
 * caller frees it. */
const char *rows_next_host(struct store *s, char **after);
/* The time from the begin of the first epoch to just after the end of the last one.  false: there are no epochs. */
bool rows_span(struct store *s, struct window *w);
/* The store's unique name, in hexadecimal digits.  Valid until the next call. */
const char *rows_store_name(struct store *s);

/* Texts of a series, "" if it has none.  Valid until the next call. */
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
