/* SPDX-License-Identifier: MIT */
/* This module gives up the rights that a recorder does not need once its sockets and its first output are open (jitreg/confine). Context:
 * thread. */
#ifndef TAILOR_RECORDER_RIGHTS_H
#define TAILOR_RECORDER_RIGHTS_H

#include "agent/recorder/session/session.h"

/*
 * Starts the steward, and gives up all rights that o does not need.  Does neither with --no-sandbox, if there are few descriptors, or if
 * the steward cannot be started.  The command of `tailor run` has been forked before, and keeps all rights.  After rights were given up,
 * the recorder can execute only three commands, and these by steward_run(): that of its epochs, keep_source, and spark (NULL: there is
 * none).
 */
void recorder_rights_keep(const struct session_options *o, char *const *keep_source, char *const *spark);

#endif
