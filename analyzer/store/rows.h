/* SPDX-License-Identifier: MIT */
/* Reads the rows of a store's epochs, for code that sends them to a server (analyzer/fleet).  Context: thread. */
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

/* A row has the samples of a series in a function. function 0: no function is known, or the epoch has no functions, to keep the cap. The
 * weights of a series' rows add up to the weight of the series. */
struct rows_row {
	int64_t series, function;
	uint64_t samples, weight;
};

/* Compares rows for qsort(), by series, then function. */
int rows_compare(const void *a, const void *b);

struct rows_reader {
	bool (*wanted)(void *context, const struct rows_epoch *e); /* Returns whether an epoch is to be read.  NULL: all are. */
	/* rows_read() calls this for each epoch that is wanted.  e and row are valid during the call.  A value other than 0 ends the
	 * reading, and rows_read() returns it. */
	int (*epoch)(void *context, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
	void *context;
};
/* Reads the epochs whose middle is in the window, the earliest first, in one transaction, so that all are of one state of the store. host:
 * only epochs of this host; NULL or "": of all hosts. Returns 0, what reader->epoch() returned, or -errno with the reason in d. */
int rows_read(struct store *s, const struct window *w, const char *host, const struct rows_reader *reader, struct diag *d);
/* Returns the name of the next host that has epochs, in alphabetical order, or NULL if there are no more, or if the store or memory
 * fails. after: the host before it, on the heap, "" at first.  It is replaced by the result, and the caller frees it at the end. */
const char *rows_next_host(struct store *s, char **after);
/* Sets *w to the time from where the first epoch begins to just after the end of the last one. Returns false if there are no epochs, or if
 * the store has failed. */
bool rows_span(struct store *s, struct window *w);
/* Returns the store's unique name (32 hexadecimal digits if tailor made the store), or "" if it has none or has failed. The text is valid
 * until the next call. */
const char *rows_store_name(struct store *s);

/* Texts of a series and of a function are "" where it has none, and all are "" if the store has no such row or has failed. They are valid
 * until the next call of the same function. */
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
