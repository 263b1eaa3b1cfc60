/* SPDX-License-Identifier: MIT */
/* Which lines are hot only the analyzer knows, which is another part of this program: so it is started, as a child of its own. */
#include "agent/recorder/keep_source.h"

#include "agent/recorder/own_command.h"
#include "jitreg/protocol/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define BYTES 32768u /* where neither option nor environment says otherwise */

static uint64_t bytes_to_keep(const struct session_options *o)
{
	const char *text = getenv(TAILOR_ENV_SOURCE_TEXT);

	if (o->source_text_bytes != SOURCE_TEXT_AUTO)
		return o->source_text_bytes;
	return text ? strtoull(text, NULL, 10) : BYTES;
}

void keep_source_text(const struct session_options *o)
{
	const uint64_t most = bytes_to_keep(o);
	char bytes[32];
	char *argv[] = { "tailor", "keep-source", "--bytes", bytes, (char *)(uintptr_t)o->output, NULL };
	struct stat st;

	if (!most || o->dormant || o->epoch_ns || *o->output == '-' || stat(o->output, &st) || !S_ISREG(st.st_mode))
		return;
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)most);
	own_command_run(argv, "text of source files");
}
