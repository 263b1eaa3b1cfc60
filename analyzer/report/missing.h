/* SPDX-License-Identifier: MIT */
/*
 * Finds the reasons why a report lacks something, by the evidence in the trace, such as counters, the command's processor time, the
 * recorder's notices of errors, and the options of the recording. If nothing explains it, the sentence says that the reason is unknown, and
 * what was seen. A remedy is only given if it would help.
 *
 * The reasons why there are no samples are a table, in which each has the evidence that it needs. The first one whose evidence is there is
 * the reason. Context: thread.
 */
#ifndef TAILOR_MISSING_H
#define TAILOR_MISSING_H

#include "analyzer/report/verdict.h"

#define MISSING_TEXT 512

/* Find why there are no samples. Write a sentence, which begins with a small letter, and return the reason's key, which tests use. */
const char *missing_samples(const struct verdict *v, char text[MISSING_TEXT]);
/* missing_attribution() writes what a reason for unattributed samples means in this trace. missing_attribution_remedy() writes what helps
 * against it, or "" if nothing does. Return text. */
const char *missing_attribution(const struct verdict *v, enum reason why, char text[MISSING_TEXT]);
const char *missing_attribution_remedy(const struct verdict *v, enum reason why, char text[MISSING_TEXT]);
/* Return what helps against losses of samples for this reason, or "" if nothing does. */
const char *missing_loss_remedy(const struct verdict *v, enum loss_reason why);

#endif
