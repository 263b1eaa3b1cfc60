/* SPDX-License-Identifier: MIT */
/* Finds hours in which something differs significantly from its own history: the share of a component, function, query, process or
 * service, or the number of code objects that are generated.  Shows these, and what analyzer/history adds.  Context: thread. */
#ifndef TAILOR_CHANGES_H
#define TAILOR_CHANGES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"
#include "jitreg/base/grow.h"

#define CHANGES_SAMPLES_LEAST 100 /* effective samples without which an hour, or a window, is not compared */

enum change_kind { CHANGE_SHARE, CHANGE_PLAN, CHANGE_COMPILATION };

struct left_history {
	enum change_kind kind;
	int64_t begin_ns;     /* UTC; where the first of the two consecutive hours begins that both differ from the history */
	/* CHANGE_SHARE: shares (0..1) of the samples of all lines except those that are new or stand out more; CHANGE_PLAN: 0, and the
	 * share of the query's samples in nodes that are new; CHANGE_COMPILATION: objects per hour */
	double before, after;
	uint32_t nr_history;  /* number of hours that the hour was compared with */
	/* name: of the line, or the query's text; detail: detail and place of the line (struct sums_names), or a plan's new operators;
	 * each may be NULL if memory ran out */
	char *name, *detail;
	char *sentence; /* CHANGE_PLAN: a sentence about it; else NULL */
};

struct changes {
	ARRAY_OF(struct left_history);
	uint32_t nr_hours;  /* hours of the window whose next hour is in the store, too; others cannot be judged */
	uint32_t nr_judged; /* largest number of lines in one hour that had enough history and samples */
	bool same_hours;    /* for some changes of shares, the history is the same hour of earlier days */
	/* There are not yet hours of history, so windows before and after marks were compared.  nr_epochs: epochs of all of them;
	 * nr_compared: lines that were tested; compared: a sentence for each mark. */
	bool is_first_day;
	bool has_own_shares; /* names of some changes begin with a program, of whose time their shares are */
	uint32_t nr_epochs, nr_compared;
	ARRAY(char *) compared;
};

/*
 * Finds changes that begin in the question's window.  A change that lasts for several hours is reported once.  An hour is compared with the
 * same hour of earlier days if there are at least 5 of these, else with the hours before it.  For shares and for generated code, an error
 * probability of 0.01 holds for all lines of an hour together.  The next hour must differ, too.  Returns 0, or -errno with the reason in d.
 * Call changes_fini() in any case.
 */
/* Adds a change, for analyzer/history.  Returns NULL if memory ran out. */
struct left_history *changes_add(struct changes *c, enum change_kind kind, int64_t begin_ns, uint32_t nr_history);
/* Adds the sentence about a mark around which windows were compared. nr: number of lines that changed.  Returns false if memory ran out. */
bool changes_add_compared(struct changes *c, const char *when, const char *mark, uint32_t nr);
/* Adds the sentence about a mark around which a window has too few samples.  samples: of the smaller side.  Returns false if memory ran
 * out. */
bool changes_add_too_few(struct changes *c, const char *when, const char *mark, double samples);
int changes_find(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d);
void changes_show(struct page *p, const struct changes *c);
void changes_fini(struct changes *c);

#endif
