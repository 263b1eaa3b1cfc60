#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Writes postgres_wait_names.h: the names of wait events, by asking servers' programs, one for each major version, because headers have
# numbers only.  pgstat_get_wait_event() is called before main().  From the top folder:
#
#	agent/recorder/engines/postgres_waits.sh /usr/lib/postgresql/*/bin/postgres > agent/recorder/engines/postgres_wait_names.h
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ask.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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
		printf("\tX(%s, %u, \"%s\"", major, classes[c], type(classes[c] << 24));
		for (uint32_t i = 0; i < 256; i++) {
			const char *n = name(classes[c] << 24 | i);

			if (classes[c] == 1 && (!n || !i))
				n = ""; /* no lock has this number */
			if (!n || strcmp(n, "unknown wait event") == 0 || strcmp(n, "???") == 0 ||
			    (classes[c] == 1 && strcmp(n, "extension") == 0))
				break;
			printf("%s \"%s\"", i % 4 ? "," : ", \\\n\t ", n);
			if (classes[c] == 4)
				break;
		}
		printf(") \\\n");
	}
	fflush(stdout);
	_exit(0);
}
C
gcc -shared -fPIC -O1 -o "$work/ask.so" "$work/ask.c"
cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* Written by postgres_waits.sh.  Context: any. */
#ifndef TAILOR_POSTGRES_WAIT_NAMES_H
#define TAILOR_POSTGRES_WAIT_NAMES_H

/* A major version, a class, its name, the names of its events from 0 on. */
#define POSTGRES_WAITS(X) \
HEAD
for program; do
	major=$("$program" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	POSTGRES_MAJOR=$major LD_PRELOAD="$work/ask.so" "$program" --version
done
printf '\n#endif\n'
