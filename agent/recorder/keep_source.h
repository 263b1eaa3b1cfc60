/* SPDX-License-Identifier: MIT */
/* Adds text of source files to a trace that has been written.  Context: thread. */
#ifndef TAILOR_KEEP_SOURCE_H
#define TAILOR_KEEP_SOURCE_H

#include "agent/recorder/session/session.h"

/* Words of `tailor keep-source`, which stay valid; NULL: nothing is to be kept. */
char *const *keep_source_words(const struct session_options *o);
/* Keeps as much text as the options say.  Waits for `tailor keep-source`, which ends after three seconds of processor time at the latest;
 * nothing fails. */
void keep_source_text(const struct session_options *o);

#endif
