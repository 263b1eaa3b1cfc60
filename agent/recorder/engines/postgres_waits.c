/* SPDX-License-Identifier: MIT */
#include "agent/recorder/engines/postgres_waits.h"

#include "agent/recorder/engines/postgres_wait_names.h"

#include <stdio.h>

#define NAMES(...) (const char *const[]){ __VA_ARGS__ }
#define ENTRY(major, class, type, ...) { major, class, type, NAMES(__VA_ARGS__), sizeof(NAMES(__VA_ARGS__)) / sizeof(char *) },
static const struct {
	unsigned major, class;
	const char *type;
	const char *const *name; /* "": no event has the number */
	size_t nr;
} waits[] = { POSTGRES_WAITS(ENTRY) };

void postgres_wait_text(unsigned major, uint32_t info, char *to, size_t room)
{
	static const char *const types[] = { "",       "LWLock",    "",	   "Lock",    "BufferPin", "Activity",
					     "Client", "Extension", "IPC", "Timeout", "IO",	   "InjectionPoint" };
	const unsigned class = info >> 24, event = info & 0xffff;
	const char *type = class < sizeof(types) / sizeof(types[0]) ? types[class] : "";

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (waits[i].major != major || waits[i].class != class)
			continue;
		if (event < waits[i].nr && *waits[i].name[event]) {
			snprintf(to, room, "%s:%s", waits[i].type, waits[i].name[event]);
			return;
		}
		type = waits[i].type; /* in version 19, the class BufferPin is called Buffer */
	}
	if (*type)
		snprintf(to, room, "%s:event %u", type, event);
	else
		snprintf(to, room, "event %#x", info);
}
