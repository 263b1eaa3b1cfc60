/* SPDX-License-Identifier: MIT */
/* Files that others have put at a path, opened to be read.  Context: any thread. */
#ifndef JITREG_REGULAR_FILE_H
#define JITREG_REGULAR_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* The file at path, if it is a regular one (to open a device may do something, and a FIFO waits); the caller closes it.  -1 with errno:
 * ENOENT also where something else lies there. */
static inline int regular_file_open(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	if (S_ISREG(st.st_mode))
		return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	errno = ENOENT;
	return -1;
}

#endif
