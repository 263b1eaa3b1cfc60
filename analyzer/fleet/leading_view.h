/* SPDX-License-Identifier: MIT */
/* Chooses the view that an answer about stores begins with if the user asked for none, by the rule of analyzer/leading. Context: thread. */
#ifndef TAILOR_FLEET_LEADING_VIEW_H
#define TAILOR_FLEET_LEADING_VIEW_H

#include "analyzer/fleet/asked.h"

/* Open the store that the text names, as asked_open() does, and make the sums of the view a->view, or of the leading view if that is NULL.
 * q->by becomes the grouping of that view. is_total: as in struct sums_question. Return 0, or -errno with the reason in d. The caller
 * closes *s if it is not NULL, and calls sums_fini(), in any case. */
int leading_view_open(const char *text, const struct asked_options *a, bool is_total, struct sums_question *q, struct store **s,
		      struct sums *sums, struct diag *d);
/* Set *view to the name of the view that leads in all these stores together, so that they can be compared. Return 0, or -errno with the
 * reason in d. */
int leading_view_find(const char *const *text, uint32_t nr, const struct asked_options *a, const char **view, struct diag *d);

#endif
