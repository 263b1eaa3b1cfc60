/* SPDX-License-Identifier: MIT */
/* A window of a store in place of a trace.  Context: thread. */
#ifndef TAILOR_CMD_DB_H
#define TAILOR_CMD_DB_H

#include "analyzer/cmd_trace.h"
#include "analyzer/compare/profile.h"

/* Is it one, by its first bytes or its address? */
bool db_is_named(const char *text);
/* The next of several traces and stores that commas separate, as strsep() has it: an address has commas of its own. */
char *db_next_source(char **rest);
/* text: STORE[@WINDOW].  CMD_DONE, or CMD_FAILED or CMD_MISUSED with a sentence on stderr. */
int db_read_profile(const char *text, const struct trace_arguments *arguments, struct profile *p);

#endif
