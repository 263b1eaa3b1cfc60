/* SPDX-License-Identifier: MIT */
/* This module adds text of source files to a trace that has been written. Context: thread. */
#ifndef TAILOR_KEEP_SOURCE_H
#define TAILOR_KEEP_SOURCE_H

#include "agent/recorder/session/session.h"

/* Returns the argument vector of `tailor keep-source`, which is valid until the next call, and as long as o->output. Returns NULL if no
 * text is to be kept, as in dormant sessions and with epochs. */
char *const *keep_source_words(const struct session_options *o);
/* Adds as much text as the options say, by `tailor keep-source`, and waits for its end.  Does nothing if no text is to be kept, or if the
 * trace is not a regular file.  A failure is not returned, since the trace is complete without the text. */
void keep_source_text(const struct session_options *o);

#endif
