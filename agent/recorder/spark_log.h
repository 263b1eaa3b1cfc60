/* SPDX-License-Identifier: MIT */
/* `tailor run --spark`: a folder beside the trace for Spark's event log, and the analyzer's `tailor plan` when all is over.
 * Context: thread. */
#ifndef TAILOR_SPARK_LOG_H
#define TAILOR_SPARK_LOG_H

#include "agent/recorder/session/options.h"
#include "jitreg/base/diag.h"

/* Called before the command starts: creates the folder, and sets its name in the environment.  0, or -errno with a sentence. */
int spark_log_prepare(const struct session_options *o, struct diag *d);
/* Words of `tailor plan`, which stay valid. */
char *const *spark_log_words(const struct session_options *o);
/* Called when the trace is complete: adds the plans of Spark. */
void spark_log_add(const struct session_options *o);

#endif
