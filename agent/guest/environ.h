/* SPDX-License-Identifier: MIT */
/* The agent's environment variables, which are listed in jitreg/protocol/env.h and read once.  Context: init. */
#ifndef TAILOR_ENVIRON_H
#define TAILOR_ENVIRON_H

#include "jitreg/protocol/env.h"

#define ENVIRON_INDEX_(NAME, text, help) ENVIRON_##NAME,
enum environ_variable { TAILOR_ENVIRONMENT(ENVIRON_INDEX_) ENVIRON_NR };
#undef ENVIRON_INDEX_

void environ_read(void);
/* The value of a variable, or NULL if it is not set or empty.  Valid in the constructor only. */
const char *environ_get(enum environ_variable v);
/* Put NAME=VALUE into the environment, or take that very entry out again.  The text is not copied.  0 or -errno. */
int environ_add_entry(char *entry);
void environ_remove_entry(const char *entry);
/* Set TAILOR_SOCKET for the processes that this one starts.  Unlike setenv() it allocates nothing, because the heap is the host's.  0 or
 * -errno. */
int environ_add_socket(const char *name);

#endif
