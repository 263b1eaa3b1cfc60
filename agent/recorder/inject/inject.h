/* SPDX-License-Identifier: MIT */
/*
 * Loads the agent into a running process.  One of its threads is stopped at a safe point, calls the process's own dlopen and then the
 * agent, and is resumed in its previous state.  All other threads run on.  Context: thread.
 */
#ifndef TAILOR_INJECT_H
#define TAILOR_INJECT_H

#include "agent/recorder/process/attach_target.h"

/* Finds libtailor.so beside this command, in ../lib/tailor or in ../lib.  Returns false if it is in none of them, or its path is too
 * long. */
bool inject_find_library(char *path, size_t bytes);

/* Checks the preconditions without touching the process.  Waits up to 2 s if needed libraries are not found, because the process may have
 * just been started.  Returns 0, or -errno with the reason and a remedy in d. */
int inject_check_preconditions(const struct attach_target *t, const char *library, struct diag *d);

/*
 * Injects the agent.  It connects to socket, and meanwhile(context) must serve that socket while the thread is waited for.  Returns 0,
 * one of enum inject_unasked if the agent was loaded, but no thread could be borrowed to ask V8 or CPython, with a notice in d, or -errno
 * with the reason in d.  After an error the process may have loaded the agent, and one of its threads
 * that did not stop in time may remain traced until inject_release_late_threads() lets it go.  adapt: V8 and CPython are asked for their
 * code, if a thread may do so.
 */
enum inject_unasked { INJECT_V8_UNASKED = 1, INJECT_PYTHON_UNASKED };
int inject(const struct attach_target *t, bool adapt, const char *library, const char *socket, void (*meanwhile)(void *context),
	   void *context, struct diag *d);

/*
 * Lets go of threads that stopped after inject() had given up on them, which would otherwise stand still until the recorder ends.  Call it
 * now and then after inject().  It does not block.
 */
void inject_release_late_threads(void);

#endif
