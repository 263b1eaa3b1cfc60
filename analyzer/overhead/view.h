/* SPDX-License-Identifier: MIT */
/* Writes the output of `tailor overhead`, a table or JSON.  Context: thread. */
#ifndef TAILOR_OVERHEAD_VIEW_H
#define TAILOR_OVERHEAD_VIEW_H

#include "analyzer/overhead/overhead.h"

#include <stdio.h>

/* Write the table, in at most 80 columns except for the lines with the command and the event, and for longer words of notices. */
void overhead_text(const struct overhead *o, FILE *to);
/* Write the JSON. Its keys are stable. Later versions may add some, but remove none. Returns 0, or -ENOMEM, also if writing fails. */
int overhead_json(const struct overhead *o, FILE *to);

/* Returns the measured command as one line, with blanks between words and '?' for control characters.  If it has more than max characters,
 * it is cut, and ends in "…".  The caller frees it.  Returns NULL if memory runs out. */
char *overhead_command(const struct overhead *o, size_t max);

#endif
