/* SPDX-License-Identifier: MIT */
/*
 * The agent's environment variables are listed in jitreg/protocol/env.h and read once, but not in an agent that was injected. Context: init
 * for environ_read() and environ_add_socket(), any for the others.
 */
#ifndef TAILOR_ENVIRON_H
#define TAILOR_ENVIRON_H

#include "jitreg/protocol/env.h"

#define ENVIRON_INDEX_(NAME, text, help) ENVIRON_##NAME,
enum environ_variable { TAILOR_ENVIRONMENT(ENVIRON_INDEX_) ENVIRON_NR };
#undef ENVIRON_INDEX_

void environ_read(void);
/*
 * Returns the value that a variable had when the agent started, or NULL if it was not set or was empty then, or if the variables were not
 * read. The text is part of the environment and not a copy, so a host that overwrites its environment (for its process title) changes the
 * text, but not whether the result is NULL.
 */
const char *environ_get(enum environ_variable v);
/* Put NAME=VALUE into the environment in place of other entries of that name, or take out the entry with that address. The text is not
 * copied, so it must stay valid. environ_add_entry() returns 0 or -errno. Neither locks the environment. */
int environ_add_entry(char *entry);
void environ_remove_entry(const char *entry);
/* Sets TAILOR_SOCKET for the processes that this one starts.  Unlike setenv() it does not use the heap, which is the host's.  Returns 0 or
 * -errno. */
int environ_add_socket(const char *name);

#endif
