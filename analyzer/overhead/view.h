/* SPDX-License-Identifier: MIT */
/* The output of `tailor overhead`: a table or JSON.  Context: thread. */
#ifndef TAILOR_OVERHEAD_VIEW_H
#define TAILOR_OVERHEAD_VIEW_H

#include "analyzer/overhead/overhead.h"

#include <stdio.h>

/* At most 80 columns, except for the line with the command. */
void overhead_text(const struct overhead *o, FILE *to);
/* 0 or -ENOMEM.  Keys are stable: new ones may be added, none is removed. */
int overhead_json(const struct overhead *o, FILE *to);

/* The command as one line: blanks between words, control characters as '?', cut with "…" at max characters.  The caller frees the
 * line.  Returns NULL if memory runs out. */
char *overhead_command(const struct overhead *o, size_t max);

#endif
