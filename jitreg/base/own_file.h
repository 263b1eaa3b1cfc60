/* SPDX-License-Identifier: MIT */
/*
 * Some files and folders have names that follow from the name of another file (STORE-lock, STORE.epochs). In a folder that others may
 * write to, another user can create such a file or a link first, and so choose which file is read or written. So such a file is used only
 * if it is not a link and has no other hard link, is owned by the user of this process, by root, or by the owner of the other file, and,
 * if it is a folder, others may not write to it. Context: any thread.
 */
#ifndef JITREG_OWN_FILE_H
#define JITREG_OWN_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns NULL if the file can be used, or a clause that says why not.  st: as of lstat(2) or fstat(2).  type: S_IFREG or S_IFDIR.  owner:
 * the owner of the other file, who may own this one too. */
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
 * Open such a file without following a link or waiting for a FIFO, check it by own_file_refusal(), and store the descriptor in *fd. flags:
 * those of open(2). Returns 0 with *refusal NULL, or 0 with a reason in *refusal and *fd -1 if the file must not be used. Returns -errno,
 * with *refusal NULL and *fd -1, if it cannot be opened.
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

/* Check an existing file.  Returns NULL if it can be used or does not exist, or a clause that says why not. */
static inline const char *own_file_check(const char *path, mode_t type, uid_t owner)
{
	const char *refusal;
	int fd, ret = own_file_open(path, O_PATH, type, owner, &fd, &refusal);

	if (fd >= 0)
		close(fd);
	return refusal ? refusal : ret && ret != -ENOENT ? "it cannot be looked at" : NULL;
}

#endif
