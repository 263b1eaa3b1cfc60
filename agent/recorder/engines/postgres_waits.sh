#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Writes postgres_waits.c: the names of wait events, by asking servers' programs, one for each major version, because headers have
# numbers only.  pgstat_get_wait_event() is called before main().  From the top folder:
#
#	agent/recorder/engines/postgres_waits.sh /usr/lib/postgresql/*/bin/postgres > agent/recorder/engines/postgres_waits.c
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ask.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
__attribute__((constructor)) static void ask(void)
{
	const char *(*type)(uint32_t) = (const char *(*)(uint32_t))dlsym(RTLD_DEFAULT, "pgstat_get_wait_event_type");
	const char *(*name)(uint32_t) = (const char *(*)(uint32_t))dlsym(RTLD_DEFAULT, "pgstat_get_wait_event");
	const char *const major = getenv("POSTGRES_MAJOR");
	/* LWLock, Lock, BufferPin, Activity, Client, IPC, Timeout, IO; names of extensions are the server's at run time */
	static const uint32_t classes[] = { 1, 3, 4, 5, 6, 8, 9, 10 };

	if (!type || !name || !major)
		return;
	for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
		printf("\tWAITS(%s, %u, \"%s\"", major, classes[c], type(classes[c] << 24));
		for (uint32_t i = 0; i < 256; i++) {
			const char *n = name(classes[c] << 24 | i);

			if (classes[c] == 1 && !i)
				n = ""; /* no lock has this number */
			if (!n || strcmp(n, "unknown wait event") == 0 || strcmp(n, "???") == 0 ||
			    (classes[c] == 1 && strcmp(n, "extension") == 0))
				break;
			printf("%s \"%s\"", i % 4 ? "," : ",\n\t      ", n);
			if (classes[c] == 4)
				break;
		}
		printf(")\n");
	}
	fflush(stdout);
	_exit(0);
}
C
sed -i 's/#include <stdint.h>/#include <stdint.h>\n#include <unistd.h>/' "$work/ask.c"
gcc -shared -fPIC -O1 -o "$work/ask.so" "$work/ask.c"
cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* Written by postgres_waits.sh. */
#include "agent/recorder/engines/postgres_waits.h"

#include <stdio.h>

/* A major version, a class, its name, the names of its events from 0 on. */
#define NAMES(...) (const char *const[]){ __VA_ARGS__ }
#define WAITS(major, class, type, ...) { major, class, type, NAMES(__VA_ARGS__), sizeof(NAMES(__VA_ARGS__)) / sizeof(char *) },
static const struct {
	unsigned major, class;
	const char *type;
	const char *const *name;
	size_t nr;
} waits[] = {
HEAD
for program; do
	major=$("$program" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	POSTGRES_MAJOR=$major LD_PRELOAD="$work/ask.so" "$program" --version
done
cat <<'TAIL'
};

void postgres_wait_text(unsigned major, uint32_t info, char *to, size_t room)
{
	static const char *const types[] = { "",	  "LWLock",    "",    "Lock",	 "BufferPin", "Activity",
					     "Client", "Extension", "IPC", "Timeout", "IO" };
	const unsigned class = info >> 24, event = info & 0xffff;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (waits[i].major == major && waits[i].class == class && event < waits[i].nr) {
			snprintf(to, room, "%s:%s", waits[i].type, waits[i].name[event]);
			return;
		}
	if (class < sizeof(types) / sizeof(types[0]) && *types[class])
		snprintf(to, room, "%s:event %u", types[class], event);
	else
		snprintf(to, room, "event %#x", info);
}
TAIL
