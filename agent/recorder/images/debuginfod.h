/* SPDX-License-Identifier: MIT */
/*
 * Fetches debug files from servers, by libdebuginfod (elfutils), which is loaded when the first one is wanted.  Nothing is fetched unless
 * the user asked for it, by an option or by DEBUGINFOD_URLS. Fetched files stay in the library's cache. No file is fetched later
 * than 60 seconds after the library was loaded. Context: thread.
 */
#ifndef TAILOR_DEBUGINFOD_H
#define TAILOR_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct debuginfod;

/* Creates a client of the servers in DEBUGINFOD_URLS, or of elfutils' own if that is not set. asked: the user asked for it by an option.
 * Returns NULL if the user asked neither by the option nor by DEBUGINFOD_URLS, or if memory runs out. */
struct debuginfod *debuginfod_create(bool asked);
void debuginfod_destroy(struct debuginfod *d);
/* Fetches the debug file of a build id.  name: shown in the line of progress on a terminal.  Returns true and the path of the file, or
 * false if it cannot be fetched. */
bool debuginfod_fetch(struct debuginfod *d, const unsigned char *build_id, size_t bytes, const char *name, char path[PATH_MAX]);
/* Makes fetches end also when is_over(context) returns true. */
void debuginfod_set_limit(struct debuginfod *d, bool (*is_over)(void *context), void *context);
/* Returns a sentence if files could not be fetched because servers were slow, or, if the user asked by an option, because the library is
 * missing. Else returns NULL, also if d is NULL. */
const char *debuginfod_problem(const struct debuginfod *d);

#endif
