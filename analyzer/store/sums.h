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
	/* The question asks only for rows with these names.  NULL: with any. */
	const char *event;     /* NULL: the first event of the store; waits and code loads only if there is no other */
	const char *process;
	const char *service;
	const char *host;
	const char *query;     /* a part of its text */
	const char *component; /* name or label, maybe with LEVEL: before it */
	bool per_service; /* rows are split by service */
	bool is_total; /* of_epoch of lines stays NULL, which takes less memory */
};

struct sums_epoch {
	int64_t id, begin_ns, end_ns, recording;
	uint32_t number, tier, parts, cpus;
	double samples, effective;
	uint64_t lost;
	bool has_functions; /* false: the epoch was stored without functions or has lost them, to keep the cap */
	double weight; /* weight of the event in the rows that were asked for */
};

#define SUMS_DROPPED UINT32_MAX /* the id of a line that stands for all functions of epochs without functions */

struct sums_line {
	int64_t id; /* number of the component, function, query, process or service (a text) in the store; 0: none */
	int64_t service; /* number of a text; 0: none; SUMS_ALL_SERVICES: rows are not split by service */
	uint32_t paths; /* SUMS_FUNCTION: number of paths of its image in this store (names.h) */
	double samples, weight;
	/* SUMS_COMPONENT, with is_total: weight of all samples whose call stack has the component, at least that of its own; 0: unknown */
	double total;
	double *of_epoch; /* weight per epoch; NULL with is_total */
};

#define SUMS_ALL_SERVICES (-1)

struct sums {
	char *event, *unit;
	ARRAY(struct sums_epoch) epochs; /* sorted by begin_ns */
	ARRAY(struct sums_line) lines; /* the largest weight first */
	double samples, weight;
	uint64_t lost;
	enum sums_by by;
	bool has_totals; /* some line has a total */
	uint32_t nr_without_functions; /* number of epochs that have no functions */
	struct lacking lacking; /* sentences that held in the window */
	struct went went; /* all epochs that were removed to keep the cap; epochs is 0 if their time is outside of the window */
};

/* Sums up the epochs whose middle is in the question's window.  Returns 0, or -errno with the reason in d, and *out is empty then.
 * -EINVAL: the store has no event, process, service, query or component of a name that the question asks for. */
int sums_make(struct store *s, const struct sums_question *q, struct sums *out, struct diag *d);
void sums_fini(struct sums *s);

/* A text of a line is "" where it has none, or NULL if memory ran out.  Free them with sums_names_fini().  A line with id 0 has a name in
 * parentheses, such as "(unattributed)".  If the image of a function has several paths, place is the name of the image without a folder. */
struct sums_names {
	char *name, *label, *level, *place, *detail, *query;
	char *service; /* "" if rows are not split by service */
	bool jit;
};
/* Reads the texts of a line.  Returns 0, or -errno with the reason in d.  Call sums_names_fini() in any case. */
int sums_names(struct store *s, enum sums_by by, const struct sums_line *l, struct sums_names *out, struct diag *d);
void sums_names_fini(struct sums_names *n);
/* Makes "hash join (a = b)" of labels that several of nr lines have, if the lines have short details.  A label that is changed is freed,
 * and the new one is on the heap. Returns false if memory ran out. */
bool sums_tell_apart(char **label, const char *const *detail, uint32_t nr);

/* Sums up, and fills *p with the result as one side of a comparison, in which an epoch counts as an execution. called: the name of this
 * side.  Returns 0, or -errno with the reason in d, -ENODATA if the window has no epochs.  After 0, free *p with profile_fini(). */
int sums_profile(struct store *s, const struct sums_question *q, const char *called, struct profile *p, struct diag *d);

#endif
