/* SPDX-License-Identifier: MIT */
/* The analyzer computes which source lines are hot.  The recorder does not contain it, so `tailor keep-source` runs as a child. */
#include "agent/recorder/keep_source.h"

#include "agent/recorder/own_command.h"
#include "jitreg/confine/confine.h"
#include "jitreg/confine/steward.h"
#include "jitreg/protocol/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define BYTES 32768u /* maximum number of bytes of text, if neither option nor environment sets another number */

static uint64_t bytes_to_keep(const struct session_options *o)
{
	const char *text = getenv(TAILOR_ENV_SOURCE_TEXT);

	if (o->source_text_bytes != SOURCE_TEXT_AUTO)
		return o->source_text_bytes;
	return text ? strtoull(text, NULL, 10) : BYTES;
}

char *const *keep_source_words(const struct session_options *o)
{
	static char *argv[] = { "/proc/self/exe", "keep-source", "--bytes", NULL, NULL, NULL, NULL }, bytes[32];
	const uint64_t most = bytes_to_keep(o);

	if (!most || o->dormant || o->epoch_ns || *o->output == '-')
		return NULL;
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)most);
	argv[3] = bytes;
	argv[4] = (char *)(uintptr_t)o->output;
	argv[5] = confine_is_off() ? (char *)CONFINE_OPTION : NULL;
	return argv;
}

void keep_source_text(const struct session_options *o)
{
	char *const *argv = keep_source_words(o);
	struct stat st;

	if (!argv || stat(o->output, &st) || !S_ISREG(st.st_mode))
		return;
	if (steward_is_there())
		own_command_by_steward(SESSION_KEEP_SOURCE, "text of source files");
	else
		own_command_run(argv, "text of source files");
}
