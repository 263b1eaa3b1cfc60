/* SPDX-License-Identifier: MIT */
#include "agent/recorder/rights.h"

#include "jitreg/confine/confine.h"
#include "jitreg/confine/steward.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#define DESCRIPTORS_LEAST 64

/* Chooses the rights.  The library that fetches debug files needs sockets and a cache in the home folder.  A dormant recorder will write
 * outputs that `tailor start` names later. */
static enum confine_policy choose_policy(const struct session_options *o)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (o->debuginfod || (urls && *urls))
		return CONFINE_FETCHER;
	if (o->dormant)
		return CONFINE_ON_CALL;
	return o->inject ? CONFINE_INJECTOR : CONFINE_RECORDER;
}

/* May this process open DESCRIPTORS_LEAST descriptors?  The steward's sockets and the files that it sends take some.  If there are fewer,
 * the recorder needs them for its counters. */
static bool has_descriptors(void)
{
	struct rlimit most;

	return getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur >= DESCRIPTORS_LEAST;
}

void recorder_rights_keep(const struct session_options *o, char *const *keep_source, char *const *spark)
{
	char *const *const commands[STEWARD_COMMANDS_MAX] = { [SESSION_EPOCH_COMMAND] = o->epoch_command,
							      [SESSION_KEEP_SOURCE] = keep_source,
							      [SESSION_SPARK] = spark };

	const enum confine_policy policy = choose_policy(o);
	const bool writes_itself = policy != CONFINE_RECORDER && policy != CONFINE_INJECTOR; /* may write its output without a steward */

	if (!confine_is_off() && has_descriptors() && steward_start(commands, writes_itself ? NULL : o->output) == 0)
		confine_begin(policy);
}
