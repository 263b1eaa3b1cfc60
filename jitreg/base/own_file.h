/* SPDX-License-Identifier: MIT */
/*
 * Files and folders whose names follow from another's name (STORE-lock, STORE.epochs).  In a folder that others may write to, another user
 * can make one first, or a link, and so choose what is read or where is written.  Such a file is used only if it is no link, and belongs to
 * this process's user, to root, or to the owner of the file that it stands beside.  Context: any thread.
 */
#ifndef JITREG_OWN_FILE_H
#define JITREG_OWN_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

/* type: S_IFREG or S_IFDIR.  owner: who else may own it.  NULL: it is used; or a clause that says why not, for "it is ...". */
static inline const char *own_file_refusal(const struct stat *st, mode_t type, uid_t owner)
{
	if (S_ISLNK(st->st_mode))
		return "it is a link";
	if ((st->st_mode & S_IFMT) != type)
		return type == S_IFDIR ? "it is not a folder" : "it is not a regular file";
	if (st->st_uid != geteuid() && st->st_uid && st->st_uid != owner)
		return "it belongs to another user";
	if (type == S_IFDIR && st->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it (chmod go-w)";
	if (type == S_IFREG && st->st_nlink > 1)
		return "it has another name as well (a hard link)";
	return NULL;
}

/*
 * Opens it without following a link or waiting, asks the descriptor what it is, and leaves that in *fd.  flags: O_PATH to look only.
 * 0 with *refusal NULL or why it is not used (then *fd is -1), or -errno where it cannot be opened.
 */
static inline int own_file_open(const char *path, int flags, mode_t type, uid_t owner, int *fd, const char **refusal)
{
	int opened = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
	struct stat st;

	*refusal = NULL;
	*fd = opened;
	if (*fd < 0 && errno != ENOENT && lstat(path, &st) == 0) {
		int error = errno;

		*refusal = own_file_refusal(&st, type, owner);
		return *refusal ? 0 : -error;
	}
	if (*fd < 0)
		return -errno;
	*refusal = fstat(*fd, &st) ? "it cannot be looked at" : own_file_refusal(&st, type, owner);
	if (*refusal) {
		close(*fd);
		*fd = -1;
	}
	return 0;
}

/* Looks at the file that is there now, if there is one.  NULL: it is used, or is not there. */
static inline const char *own_file_check(const char *path, mode_t type, uid_t owner)
{
	const char *refusal;
	int fd, ret = own_file_open(path, O_PATH, type, owner, &fd, &refusal);

	if (fd >= 0)
		close(fd);
	return refusal ? refusal : ret && ret != -ENOENT ? "it cannot be looked at" : NULL;
}

#endif
