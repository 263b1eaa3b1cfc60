/* SPDX-License-Identifier: MIT */
/*
 * The functions by which this process creates, renames and removes its outputs, and reads privileged files.  They make system calls, or, if
 * this process has given up its rights to do so, send requests to a steward process (jitreg/confine/steward.h).  They return -1 with errno
 * on failure.  Context: thread.
 */
#ifndef JITREG_FILE_CHANGES_H
#define JITREG_FILE_CHANGES_H

#include <stdbool.h>
#include <sys/types.h>

struct file_changes {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*rename)(const char *from, const char *to);
	/* Opens a file that this process may not open (EACCES, EPERM): the file of a mapping, a process's program or its perf map (path is
	 * relative to the folder `at` then), or another file that a steward permits.  NULL without a steward. */
	int (*read_private)(int at, const char *path);
	int (*remove)(const char *path); /* removes a file or an empty folder */
};

extern struct file_changes file_changes;

/* Does this process make changes by itself?  If a steward makes them, only the functions above are available, which take paths.  So there
 * are no O_TMPFILE, links or exchanges of names then. */
bool file_changes_are_own(void);

#endif
