/* SPDX-License-Identifier: MIT */
/*
 * Lists the sentences without which any answer would be misread. They are about hosts of unknown versions, names that were not heard,
 * samples without names (unnamed.h), and tags. `top`, the page, comparisons, exports and stores have this list. The report prints the same
 * sentences, and puts others between them. Context: thread.
 */
#ifndef TAILOR_FIRST_NOTES_H
#define TAILOR_FIRST_NOTES_H

#include "analyzer/query/report.h"
#include "analyzer/query/warnings.h"

/*
 * Call each(context, sentence) for each sentence, which ends with a full stop. by: sums by functions, whose column of that number has them,
 * or NULL, and then samples without names are not listed. shares: name the shares of samples; without it, the sentence is the same for each
 * recording of a program, as a store needs it.
 */
void first_notes_each(const struct report *r, const struct report_group *by, uint32_t column, bool shares,
		      void (*each)(void *context, const char *sentence), void *context);
/* Moves sentences behind the tables that say little about the samples: names of Python's functions, where most samples are of other
 * programs. */
void first_notes_weigh(struct warnings *w, const struct report *r, const struct report_group *by, uint32_t column);
/* Print them on stderr, as a command does that writes an answer for other programs. */
void first_notes_print(const struct report *r, const struct report_group *by, uint32_t column);

#endif
