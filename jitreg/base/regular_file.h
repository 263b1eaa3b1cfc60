/* SPDX-License-Identifier: MIT */
/* Opens files for reading whose paths come from other processes or from traces.  Context: any thread. */
#ifndef JITREG_REGULAR_FILE_H
#define JITREG_REGULAR_FILE_H

#include "jitreg/base/file_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Open the file at path, relative to the folder at as in openat(2), if it is a regular file.  Others are not opened, since opening a device
 * may have side effects, and opening a FIFO waits.  follow: the path may be a symbolic link.  If this process has no permission,
 * file_changes.read_private() is asked.  Returns a descriptor, which the caller closes, with *st that of the opened file, by which callers
 * check the owner, as the path may lead to another file by now.  Returns -1 with errno on failure, which is ENOENT if the path is not a
 * regular file.
 */
static inline int regular_file_open_at(int at, const char *path, bool follow, struct stat *st)
{
	int fd = fstatat(at, path, st, follow ? 0 : AT_SYMLINK_NOFOLLOW);

	if (fd == 0 && !S_ISREG(st->st_mode)) {
		errno = ENOENT;
		return -1;
	}
	if (fd == 0)
		fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
	if (fd < 0 && (errno == EACCES || errno == EPERM) && file_changes.read_private)
		fd = file_changes.read_private(at, path);
	if (fd < 0 || (fstat(fd, st) == 0 && S_ISREG(st->st_mode)))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* Returns a clause to append to a message that the file at path could not be opened.  It is "" unless error is EACCES and the file belongs
 * to another user. */
static inline const char *file_owner_text(const char *path, int error)
{
	struct stat st;

	if (error != EACCES || stat(path, &st) || st.st_uid == geteuid())
		return "";
	return st.st_uid ? "; it belongs to another user" : "; it belongs to root: use sudo, or chown it";
}

/* Open a regular file, also by a symbolic link, as regular_file_open_at() does. */
static inline int regular_file_open(const char *path)
{
	struct stat st;

	return regular_file_open_at(AT_FDCWD, path, true, &st);
}

#endif
