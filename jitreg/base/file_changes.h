/* SPDX-License-Identifier: MIT */
/*
 * The functions by which this process creates, renames and removes its outputs, and reads privileged files.  They are system calls, or
 * requests to a steward if this process has given up these rights (jitreg/confine/steward.h).  They return -1 with errno on failure.
 * Context: thread.
 */
#ifndef JITREG_FILE_CHANGES_H
#define JITREG_FILE_CHANGES_H

#include <stdbool.h>
#include <sys/types.h>

struct file_changes {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*rename)(const char *from, const char *to);
	/* Opens the file of a mapping, the program of a process or its perf map (below the folder `at`), if opening it failed with
	 * EACCES or EPERM.  NULL without a steward. */
	int (*read_private)(int at, const char *path);
	int (*remove)(const char *path); /* removes a file or an empty folder */
};

extern struct file_changes file_changes;

/* Does this process make changes by itself?  If a steward makes them, calls that take a descriptor of a folder are unavailable:
 * O_TMPFILE, links, exchanging names. */
bool file_changes_are_own(void);

#endif
