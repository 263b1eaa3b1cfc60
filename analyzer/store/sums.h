/* SPDX-License-Identifier: MIT */
/* What a store has of a stretch of time, summed up.  Context: thread. */
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
	/* names, or NULL: rows of these alone */
	const char *event;     /* NULL: the one that has the most samples */
	const char *process;
	const char *service;
	const char *host;
	const char *query;     /* a part of its text */
	const char *component; /* its name, or label; LEVEL: may stand before it */
	bool per_service; /* a row for each service, in place of one for all */
	bool is_total; /* lines have no weight of each epoch */
};

struct sums_epoch {
	int64_t id, begin_ns, end_ns, recording;
	uint32_t number, tier, parts, cpus;
	double samples, effective;
	uint64_t lost;
	bool has_functions; /* they did not go to keep the cap */
	double weight; /* of the event and the rows asked for */
};

#define SUMS_DROPPED UINT32_MAX /* in place of a function: the epoch has none any more */

struct sums_line {
	int64_t id; /* of the component, function, query, process or (a text) service; 0: of none */
	int64_t service; /* a text; 0: of none; SUMS_ALL_SERVICES where they are not told apart */
	uint32_t paths; /* of a function: how many paths its image has in this store (names.h) */
	double samples, weight;
	double *of_epoch; /* weight in each; NULL: of is_total */
};

#define SUMS_ALL_SERVICES (-1)

struct sums {
	char *event, *unit;
	struct sums_epoch *epoch; /* by begin */
	uint32_t nr_epochs;
	struct sums_line *line; /* the largest first */
	uint32_t nr;
	double samples, weight;
	uint64_t lost;
	enum sums_by by;
	uint32_t nr_without_functions; /* epochs */
	struct lacking lacking; /* in the window */
	struct went went; /* what went from before the window's end to keep the cap; of an earlier window's: no epochs */
};

/* 0, or -errno with a sentence: -EINVAL where the store has no such name. */
int sums_make(struct store *s, const struct sums_question *q, struct sums *out, struct diag *d);
void sums_fini(struct sums *s);

/* Has none of its lines a name? */
bool sums_are_nameless(const struct sums *s);

/* Texts of a line, "" where it has none; each malloc.  place of a function whose image has several paths is the image's name. */
struct sums_names {
	char *name, *label, *level, *place, *detail, *query;
	char *service; /* "" where services are not told apart */
	bool jit;
};
/* 0, or -errno with a sentence. */
int sums_names(struct store *s, enum sums_by by, const struct sums_line *l, struct sums_names *out, struct diag *d);
void sums_names_fini(struct sums_names *n);

/* As a side of a comparison: an epoch is an execution. */
int sums_profile(struct store *s, const struct sums_question *q, const char *called, struct profile *p, struct diag *d);

#endif
