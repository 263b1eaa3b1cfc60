/* SPDX-License-Identifier: MIT */
/*
 * The agent is put into a process that runs already: one of its threads is stopped where nothing can go wrong, made to call
 * the process's own dlopen and then the agent, and put back as it was.  All others run on meanwhile.  Context: thread.
 */
#ifndef TAILOR_INJECT_H
#define TAILOR_INJECT_H

#include "agent/recorder/process/attach_target.h"

/* Where libtailor.so is, seen from this command: beside it, or in ../lib/tailor.  false: nowhere. */
bool inject_find_library(char *path, size_t bytes);

/* 0, or -errno with a sentence that says why it would not be safe and what to do; nothing was touched. */
int inject_check(const struct attach_target *t, const char *library, struct diag *d);

/*
 * The agent connects to socket, and meanwhile(context) must serve it, while the thread is waited for.  0, or -errno with a
 * sentence; the process runs on as before.
 */
int inject(const struct attach_target *t, const char *library, const char *socket, void (*meanwhile)(void *context), void *context,
	   struct diag *d);

#endif
