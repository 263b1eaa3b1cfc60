/* SPDX-License-Identifier: MIT */
#include "jitreg/base/output_file.h"

#include "jitreg/base/file_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 3 /* another program may create a file between two of our calls */

static int diag_cannot_write(struct diag *d, const char *path, int error, const char *why)
{
	return diag_fail(d, error, "%s: cannot be written: %s", path, why ? why : strerror(error));
}

/* The descriptor that a path names, or -1. */
static int descriptor_named_by_path(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	char *end;
	long fd;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *number = path + strlen(folders[i]);

		if (strncmp(path, folders[i], strlen(folders[i])) != 0 || *number < '0' || *number > '9')
			continue;
		fd = strtol(number, &end, 10);
		return *end || fd > 1 << 20 ? -1 : (int)fd;
	}
	return -1;
}

/* May what is there, and is no regular file, be written to? */
static int check_special_file(const char *path, const struct stat *st, struct diag *d)
{
	if (S_ISDIR(st->st_mode))
		return diag_cannot_write(d, path, EISDIR, NULL);
	if (S_ISLNK(st->st_mode))
		return diag_cannot_write(d, path, ELOOP, "it is a symbolic link; give the path that it leads to");
	if (!S_ISFIFO(st->st_mode) && !S_ISCHR(st->st_mode))
		return diag_cannot_write(d, path, EPERM, "it is neither a file nor a FIFO");
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return diag_cannot_write(d, path, EPERM, "it belongs to another user; give another path");
	return 0;
}

static int open_special_file(const char *path, struct diag *d)
{
	int fd = file_changes.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0), error = errno, ret;
	struct stat st;

	if (fd < 0)
		return diag_cannot_write(d, path, error, error == ENXIO ? "no program reads from it" : NULL);
	ret = fstat(fd, &st) ? diag_cannot_write(d, path, errno, NULL) : check_special_file(path, &st, d); /* it may be another by now */
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

int output_file_open(const char *path, struct diag *d)
{
	struct stat st;
	int fd, ret, error = 0;

	for (int i = 0; i < TRIES; i++) {
		if (lstat(path, &st) == 0) {
			if (!S_ISREG(st.st_mode)) {
				ret = check_special_file(path, &st, d);
				return ret ? ret : open_special_file(path, d);
			}
			if (file_changes.remove(path) && errno != ENOENT)
				return diag_cannot_write(
					d, path, errno,
					st.st_uid == geteuid() ? NULL : "a file of another user is there; give another path");
		}
		fd = file_changes.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
		error = errno;
		if (fd >= 0)
			return fd;
		if (error != EEXIST)
			break;
	}
	return diag_cannot_write(d, path, error, NULL);
}

FILE *output_file_stream(const char *path, struct diag *d)
{
	int fd = descriptor_named_by_path(path), error;
	struct stat st;
	FILE *f;

	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			fd = diag_cannot_write(d, path, errno, NULL);
	} else {
		fd = output_file_open(path, d);
	}
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	f = fdopen(fd, "w");
	if (f)
		return f;
	error = errno;
	close(fd);
	diag_cannot_write(d, path, error, NULL);
	errno = error;
	return NULL;
}

bool output_file_end(FILE *to)
{
	const bool failed = ferror(to);

	return (to == stdout ? fflush(to) : fclose(to)) == 0 && !failed;
}

bool output_file_keep_old(const char *path)
{
	char old[4096];
	struct stat st;

	return (size_t)snprintf(old, sizeof(old), "%s.old", path) < sizeof(old) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       file_changes.rename(path, old) == 0;
}

void output_file_restore_old(const char *path)
{
	char old[4096];

	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) < sizeof(old))
		file_changes.rename(old, path);
}

int output_file_check(const char *path, struct diag *d)
{
	const char *slash = strrchr(path, '/');
	char folder[4096] = ".";
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return check_special_file(path, &st, d);
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	return access(folder, W_OK | X_OK) ? diag_cannot_write(d, path, errno, NULL) : 0;
}

void output_file_remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		file_changes.remove(path);
}

bool output_file_is_same(const char *output, const char *input)
{
	struct stat x, y;

	return stat(output, &x) == 0 && stat(input, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
