/* SPDX-License-Identifier: MIT */
/*
 * How this process creates, renames and removes its outputs, and reads what only a privileged process may: by itself, or by a steward's
 * hands where it has given up these rights (jitreg/confine/steward.h).  As the system calls: -1 and errno where that fails.
 * Context: thread.
 */
#ifndef JITREG_FILE_CHANGES_H
#define JITREG_FILE_CHANGES_H

#include <stdbool.h>
#include <sys/types.h>

struct file_changes {
	int (*open)(const char *path, int flags, mode_t mode);
	int (*rename)(const char *from, const char *to);
	/* The file of a mapping, a process's program or its perf map (below the folder `at`), where opening it failed with
	 * EACCES or EPERM.  NULL: there is no steward. */
	int (*read_private)(int at, const char *path);
	int (*remove)(const char *path); /* or an empty folder */
};

extern struct file_changes file_changes;

/* Does this process do it by itself?  Else what takes a descriptor of a folder is not available: O_TMPFILE, links, exchanging names. */
bool file_changes_are_own(void);

#endif
