/* SPDX-License-Identifier: MIT */
/* Finds paths on this machine at which the files named by line tables may be.  Context: thread. */
#ifndef TAILOR_SOURCE_PATH_H
#define TAILOR_SOURCE_PATH_H

#include <limits.h>
#include <stdbool.h>

#define SOURCE_PATHS_MAX 16

/*
 * Adds an argument of --source-path, which must stay valid.  FROM=TO replaces the beginning FROM of paths.  Another argument is a folder,
 * in which a file is looked for by the ends of its path.  Returns false if there are SOURCE_PATHS_MAX already, or if the argument, FROM or
 * TO is empty.
 */
bool source_path_add(const char *argument);
/*
 * Sets `at` to candidate n (from 0 on) for a file that a line table or a host names. Candidates by --source-path come first. The last one
 * is the path itself, in the recording's working folder (NULL: not known) if it is relative. at is "" if there is no path with this number,
 * or if it is too long, but there may be later ones. Returns false if no candidates are left.
 */
bool source_path_get(const char *file, const char *working_folder, unsigned n, char at[PATH_MAX]);

#endif
