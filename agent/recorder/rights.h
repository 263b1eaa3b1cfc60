/* SPDX-License-Identifier: MIT */
/* The rights that a recorder keeps once its sockets and its first output are open (jitreg/confine).  Context: thread. */
#ifndef TAILOR_RECORDER_RIGHTS_H
#define TAILOR_RECORDER_RIGHTS_H

#include "agent/recorder/session/session.h"

/*
 * A command that was started for the user has been forked already, and has all rights.  From now on, the recorder can execute three
 * commands by steward_run(), and nothing else: the command of its epochs, the one that keeps text of sources, and the one that adds Spark's
 * plans (NULL: it has none).
 */
void recorder_rights_keep(const struct session_options *o, char *const *keep_source, char *const *spark);

#endif
