/* SPDX-License-Identifier: MIT */
/*
 * This process creates, renames and removes its outputs, and reads privileged files, by these functions. They make system calls, or, if
 * this process has given up its rights to do so, send requests to a steward process (jitreg/confine/steward.h). They return -1 with errno
 * on failure. Context: thread.
 */
#ifndef JITREG_FILE_CHANGES_H
#define JITREG_FILE_CHANGES_H

#include <stdbool.h>
#include <sys/types.h>

struct file_changes {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*rename)(const char *from, const char *to);
	/* Opens a file for reading that this process may not open (EACCES, EPERM), if a steward permits it. NULL without a steward. at:
	 * the folder that path is relative to, or AT_FDCWD. Relative to a folder, stewards permit only perf maps. */
	int (*read_private)(int at, const char *path);
	int (*remove)(const char *path); /* removes a file or an empty folder */
};

extern struct file_changes file_changes;

/* Does this process make changes by itself?  If a steward makes them, only the functions above are available, which take paths.  So there
 * are no O_TMPFILE, links or exchanges of names then. */
bool file_changes_are_own(void);

#endif
