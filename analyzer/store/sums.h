/* SPDX-License-Identifier: MIT */
/* Sums up a store's epochs in a window of time.  Context: thread. */
#ifndef TAILOR_STORE_SUMS_H
#define TAILOR_STORE_SUMS_H

#include "analyzer/compare/profile.h"
#include "analyzer/store/store.h"
#include "analyzer/store/lacking.h"
#include "analyzer/store/went.h"
#include "analyzer/store/window.h"

enum sums_by { SUMS_COMPONENT, SUMS_FUNCTION, SUMS_QUERY, SUMS_PROCESS, SUMS_SERVICE };

struct sums_question {
	struct window window;
	enum sums_by by;
	/* only rows with these names; NULL: any */
	const char *event;     /* NULL: the first one, waits and code loads last */
	const char *process;
	const char *service;
	const char *host;
	const char *query;     /* a part of its text */
	const char *component; /* name or label, maybe with LEVEL: before it */
	bool per_service; /* rows are split by service */
	bool is_total; /* lines need no weights per epoch */
};

struct sums_epoch {
	int64_t id, begin_ns, end_ns, recording;
	uint32_t number, tier, parts, cpus;
	double samples, effective;
	uint64_t lost;
	bool has_functions; /* functions were not dropped to keep the cap */
	double weight; /* weight of the event in the rows that were asked for */
};

#define SUMS_DROPPED UINT32_MAX /* stands for all functions of epochs that lost them */

struct sums_line {
	int64_t id; /* number of the component, function, query, process or service (a text); 0: none */
	int64_t service; /* number of a text; 0: none; SUMS_ALL_SERVICES: rows are not split by service */
	uint32_t paths; /* SUMS_FUNCTION: number of paths of its image in this store (names.h) */
	double samples, weight;
	double *of_epoch; /* weight per epoch; NULL with is_total */
};

#define SUMS_ALL_SERVICES (-1)

struct sums {
	char *event, *unit;
	struct sums_epoch *epoch; /* sorted by begin */
	uint32_t nr_epochs;
	struct sums_line *line; /* the largest weight first */
	uint32_t nr;
	double samples, weight;
	uint64_t lost;
	enum sums_by by;
	uint32_t nr_without_functions; /* number of epochs */
	struct lacking lacking; /* sentences that held in the window */
	struct went went; /* all epochs that were dropped to keep the cap; none if their time is outside of the window */
};

/* Sums up.  Returns 0, or -errno with a sentence, which is -EINVAL if the store has no such name. */
int sums_make(struct store *s, const struct sums_question *q, struct sums *out, struct diag *d);
void sums_fini(struct sums *s);

/* Are there lines, none of which has a name? */
bool sums_are_nameless(const struct sums *s);

/* Texts of a line, "" if it has none; free with sums_names_fini().  The place of a function whose image has several paths is the image's
 * name. */
struct sums_names {
	char *name, *label, *level, *place, *detail, *query;
	char *service; /* "" if rows are not split by service */
	bool jit;
};
/* Reads the texts of a line.  Returns 0, or -errno with a sentence. */
int sums_names(struct store *s, enum sums_by by, const struct sums_line *l, struct sums_names *out, struct diag *d);
void sums_names_fini(struct sums_names *n);

/* Makes sums a side of a comparison, in which an epoch counts as an execution. */
int sums_profile(struct store *s, const struct sums_question *q, const char *called, struct profile *p, struct diag *d);

#endif
