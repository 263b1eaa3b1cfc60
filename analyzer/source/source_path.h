/* SPDX-License-Identifier: MIT */
/* Paths on this machine at which the files named by line tables may be.  Context: thread. */
#ifndef TAILOR_SOURCE_PATH_H
#define TAILOR_SOURCE_PATH_H

#include <limits.h>
#include <stdbool.h>

#define SOURCE_PATHS_MAX 16

/* Adds an argument of --source-path, which must stay valid.  FROM=TO replaces the beginning FROM of paths.  A folder is searched for files
 * by the end of their path.  false: there are SOURCE_PATHS_MAX already, or the argument is neither. */
bool source_path_add(const char *argument);
/*
 * Candidate n (from 0 on) for a file as a line table or a host names it.  Candidates by --source-path come first, then the path itself, in
 * the recording's working folder (NULL: not known) if it is relative.  false: no candidates are left.  *at is "" if number n has none.
 */
bool source_path_get(const char *file, const char *working_folder, unsigned n, char at[PATH_MAX]);

#endif
