/* SPDX-License-Identifier: MIT */
/*
 * The reasons why a report lacks something: tables whose rows say which evidence each reason needs. Evidence is what was seen: counters,
 * processor time at the end, a notice with the error where it happened, the options of the recording. Where nothing is known, the sentence
 * says that the reason is unknown, and what was seen. Remedies stand behind a reason only where they would help.
 *
 * The first row whose evidence is there is the reason. Context: thread.
 */
#ifndef TAILOR_MISSING_H
#define TAILOR_MISSING_H

#include "analyzer/report/verdict.h"

#define MISSING_TEXT 512

/* Find why there are no samples. Return the row's key, and write its sentence. */
const char *missing_samples(const struct verdict *v, char text[MISSING_TEXT]);
/* missing_attribution() writes what a reason for unattributed samples means in this trace. missing_attribution_remedy() writes what helps
 * against it; "": nothing does. Return text. */
const char *missing_attribution(const struct verdict *v, enum reason why, char text[MISSING_TEXT]);
const char *missing_attribution_remedy(const struct verdict *v, enum reason why, char text[MISSING_TEXT]);
/* Return what helps against losses of samples; "": nothing does. */
const char *missing_loss_remedy(const struct verdict *v, enum loss_reason why);

#endif
