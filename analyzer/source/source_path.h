/* SPDX-License-Identifier: MIT */
/* Where on this machine the files may be that line tables name.  Context: thread. */
#ifndef TAILOR_SOURCE_PATH_H
#define TAILOR_SOURCE_PATH_H

#include <limits.h>
#include <stdbool.h>

#define SOURCE_PATHS_MAX 16

/* FROM=TO: files below FROM are looked for below TO; or a folder, below which files are looked for by the end of their path.  It must stay.
 * false: there are SOURCE_PATHS_MAX already, or it is neither. */
bool source_path_add(const char *argument);
/*
 * Candidate n (from 0 on) for a file as a line table or a host names it: where --source-path says, then where it says itself, one without
 * a folder of its own in the recording's working folder (NULL: not known).  false behind the last one; *at "": this number has none.
 */
bool source_path_get(const char *file, const char *working_folder, unsigned n, char at[PATH_MAX]);

#endif
