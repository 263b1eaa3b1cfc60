/* SPDX-License-Identifier: MIT */
#include "agent/recorder/rights.h"

#include "jitreg/confine/confine.h"
#include "jitreg/confine/steward.h"

#include <stdlib.h>

/* The library that fetches debug files has sockets and a cache in the home folder; `tailor start` names an output that is not known yet. */
static enum confine_policy choose_policy(const struct session_options *o)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (o->debuginfod || (urls && *urls))
		return CONFINE_FETCHER;
	if (o->dormant)
		return CONFINE_ON_CALL;
	return o->inject ? CONFINE_INJECTOR : CONFINE_RECORDER;
}

void recorder_rights_keep(const struct session_options *o, char *const *keep_source, char *const *spark)
{
	char *const *const commands[STEWARD_COMMANDS_MAX] = { [SESSION_EPOCH_COMMAND] = o->epoch_command,
							      [SESSION_KEEP_SOURCE] = keep_source,
							      [SESSION_SPARK] = spark };

	const enum confine_policy policy = choose_policy(o);

	/* one that may write itself needs no other hands for it */
	if (!confine_is_off() && steward_start(commands, policy == CONFINE_RECORDER || policy == CONFINE_INJECTOR ? o->output : NULL) == 0)
		confine_begin(policy);
}
