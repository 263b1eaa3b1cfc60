/* SPDX-License-Identifier: MIT */
/* `tailor run --spark` makes a folder beside the trace for Spark's event log, and has the analyzer (`tailor plan`) add the log's plans to
 * the trace.  Context: thread. */
#ifndef TAILOR_SPARK_LOG_H
#define TAILOR_SPARK_LOG_H

#include "agent/recorder/session/options.h"
#include "jitreg/base/diag.h"

/* Called before the command starts.  Creates the folder, unless it exists, and sets its name in the environment.  Returns 0, or -errno
 * with a sentence. */
int spark_log_prepare(const struct session_options *o, struct diag *d);
/* Returns the argument vector of `tailor plan`, which is valid until the next call, and as long as o->output.  Called after
 * spark_log_prepare(). */
char *const *spark_log_words(const struct session_options *o);
/* Called when the trace is complete.  Adds the plans of Spark by `tailor plan`.  If the folder is empty, it is removed, and a sentence is
 * printed that the trace has no plans. */
void spark_log_add(const struct session_options *o);

#endif
