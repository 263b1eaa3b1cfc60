/* SPDX-License-Identifier: MIT */
/* `tailor run --spark`: a folder beside the trace for Spark's event log, and the analyzer's `tailor plan` when all is over.
 * Context: thread. */
#ifndef TAILOR_SPARK_LOG_H
#define TAILOR_SPARK_LOG_H

#include "agent/recorder/session/options.h"
#include "jitreg/base/diag.h"

/* Before the command starts: the folder, and its name in the environment.  0, or -errno with a sentence. */
int spark_log_prepare(const struct session_options *o, struct diag *d);
/* The words of that command, which stay. */
char *const *spark_log_words(const struct session_options *o);
/* The trace is complete. */
void spark_log_add(const struct session_options *o);

#endif
