#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Writes the names of wait events of servers' programs into postgres_wait_names.h, one program for each major version; those of other
# versions stay.  Headers have numbers only, so pgstat_get_wait_event() is called before main().  From the top folder:
#
#	agent/recorder/engines/postgres_waits.sh /usr/lib/postgresql/*/bin/postgres
#
# A program that needs the libraries of another system, which stands in a folder, is started by that one's loader:
#
#	agent/recorder/engines/postgres_waits.sh \
#		"$r/lib64/ld-linux-x86-64.so.2 --library-path $r/usr/lib/x86_64-linux-gnu $r/usr/lib/postgresql/19/bin/postgres"
set -euo pipefail
committed=agent/recorder/engines/postgres_wait_names.h
[ $# -gt 0 ] || { echo "usage: $0 PROGRAM..." >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ask.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static sigjmp_buf nameless;
static void leave(int signal)
{
	(void)signal;
	siglongjmp(nameless, 1);
}
__attribute__((constructor)) static void ask(void)
{
	const char *(*type)(uint32_t) = (const char *(*)(uint32_t))dlsym(RTLD_DEFAULT, "pgstat_get_wait_event_type");
	const char *(*name)(uint32_t) = (const char *(*)(uint32_t))dlsym(RTLD_DEFAULT, "pgstat_get_wait_event");
	const char *const major = getenv("POSTGRES_MAJOR");
	/* LWLock, Lock, BufferPin or Buffer, Activity, Client, IPC, Timeout, IO; names of extensions are the server's at run time */
	static const uint32_t classes[] = { 1, 3, 4, 5, 6, 8, 9, 10 };

	if (!type || !name || !major)
		return;
	/* 19 looks for a lock behind its own ones in the memory that servers share, which is not there yet. */
	signal(SIGSEGV, leave);
	for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
		printf("\tX(%s, %u, \"%s\"", major, classes[c], type(classes[c] << 24));
		const char *volatile first = NULL;

		for (volatile uint32_t i = 0; i < 256; i++) {
			const char *n;

			if (sigsetjmp(nameless, 1))
				break;
			n = name(classes[c] << 24 | i);
			if (classes[c] == 1 && (!n || !i))
				n = ""; /* no lock has this number */
			if (!n || strcmp(n, "unknown wait event") == 0 || strcmp(n, "???") == 0 ||
			    (classes[c] == 1 && strcmp(n, "extension") == 0) || n == first)
				break;
			printf("%s \"%s\"", i % 4 ? "," : ", \\\n\t ", n);
			if (classes[c] == 4)
				first = n; /* up to 18 it is the name of all numbers */
		}
		printf(") \\\n");
	}
	fflush(stdout);
	_exit(0);
}
C
gcc -shared -fPIC -O1 -o "$work/ask.so" "$work/ask.c"
for program; do
	# shellcheck disable=SC2086 # a program may have a loader in front
	major=$($program --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	# shellcheck disable=SC2086
	POSTGRES_MAJOR=$major LD_PRELOAD="$work/ask.so" $program --version >"$work/names.$major"
done
awk -v to="$work/kept." '
	/^\tX\(/ { major = substr($1, 3) + 0 }
	/^\t/ && major { print > (to major) }' "$committed"
for kept in "$work"/kept.*; do
	[ -e "$work/names.${kept##*.}" ] || mv "$kept" "$work/names.${kept##*.}"
done
{
	cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* This file was written by postgres_waits.sh.  Context: any. */
#ifndef TAILOR_POSTGRES_WAIT_NAMES_H
#define TAILOR_POSTGRES_WAIT_NAMES_H

/* Each row has a major version, a class, its name, and the names of its events from 0 on. */
#define POSTGRES_WAITS(X) \
HEAD
	for names in $(printf '%s\n' "$work"/names.* | sort -V); do
		cat "$names"
	done
	printf '\n#endif\n'
} >"$work/new.h"
cp "$work/new.h" "$committed"
