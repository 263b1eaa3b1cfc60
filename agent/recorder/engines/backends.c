/* SPDX-License-Identifier: MIT */
/* Finds a server's process by its number, notes whether queries are short, and passes notices to the recording's user. */
#include "agent/recorder/engines/postgres.h"

#include "jitreg/base/clock.h"

#include <stdarg.h>
#include <stdio.h>

#define SHORT_NS 30000000ull /* queries that last less are likely to end between two looks */
#define SOON_NS 1000000000ull /* looks come sooner for so long after a short query */

void engines_notice(struct engines *e, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	e->recording->notice(e->recording->recording, NOTICE_HOST, "%s", text);
}

struct postgres_backend *engines_find_own_pid(const struct engines *e, const struct postgres_server *s, pid_t own_pid)
{
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (e->backends.at[i]->own_pid == own_pid && e->backends.at[i]->server == s)
			return e->backends.at[i];
	return NULL;
}

bool engines_has_short_queries(const struct engines *e, uint64_t now_ns)
{
	return e->short_ns && now_ns < e->short_ns + SOON_NS;
}

void engines_note_query_duration(struct engines *e, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns - begin_ns < SHORT_NS)
		e->short_ns = clock_now_ns();
}
