/* SPDX-License-Identifier: MIT */
/* Checks whether what exists at the path of an output may be replaced or written to. */
#include "jitreg/output/output_internal.h"

#include "jitreg/base/file_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int output_cannot_write(struct diag *d, const char *path, int error, const char *why)
{
	if (strcmp(path, "-") == 0)
		path = "standard output";
	return diag_fail(d, error, "%s: cannot be written: %s", path, why ? why : strerror(error));
}

int output_place_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	char *end;
	long fd;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
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

/* ------------------------------------------------------------------------------------------------------ no regular file */

static int check_special_file(const char *path, const struct stat *st, struct diag *d)
{
	if (S_ISDIR(st->st_mode))
		return output_cannot_write(d, path, EISDIR, NULL);
	if (S_ISLNK(st->st_mode))
		return output_cannot_write(d, path, ELOOP, "it is a symbolic link; give the path that it leads to");
	if (!S_ISFIFO(st->st_mode) && !S_ISCHR(st->st_mode))
		return output_cannot_write(d, path, EPERM, "it is neither a file nor a FIFO");
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return output_cannot_write(d, path, EPERM, "it belongs to another user; give another path");
	return 0;
}

int output_place_open_special(const char *path, struct diag *d)
{
	int fd = file_changes.open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0), error = errno, ret;
	struct stat st;

	if (fd < 0)
		return output_cannot_write(d, path, error, error == ENXIO ? "no program reads from it" : NULL);
	/* checked again, since the path may lead to another file by now */
	ret = fstat(fd, &st) ? output_cannot_write(d, path, errno, NULL) : check_special_file(path, &st, d);
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

/* The file is opened once more, because O_NONBLOCK on the existing descriptor would affect the other programs that share it. */
int output_place_open_descriptor(const char *path, int descriptor, struct diag *d)
{
	char link[32];
	struct stat st;
	int fd;

	if (fstat(descriptor, &st))
		return output_cannot_write(d, path, errno, NULL);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return output_cannot_write(d, path, EPERM, "it is no pipe; give the name of the file");
	if (isatty(descriptor))
		return output_cannot_write(d, path, EPERM, "it is a terminal");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	fd = open(link, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? output_cannot_write(d, path, errno, NULL) : fd;
}

/* -------------------------------------------------------------------------------------------------------- a regular file */

static bool has_mark(int fd, const struct output_form *form)
{
	size_t bytes = form->within ? form->within : form->mark_bytes;
	char *begin = malloc(bytes);
	ssize_t nr = begin ? pread(fd, begin, bytes, form->at) : -1;
	bool found = nr > 0 && memmem(begin, (size_t)nr, form->mark, form->mark_bytes);

	free(begin);
	return found;
}

/* Returns the process that holds a write lock on the file, as a recorder does, 0 if none does or if that cannot be found out, or -1 if its
 * pid is unknown (another container or machine). */
static pid_t find_recorder(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

static int refuse_recorded(const char *path, pid_t recorder, struct diag *d)
{
	char which[48] = "";

	if (recorder > 0)
		snprintf(which, sizeof(which), " (process %d)", (int)recorder);
	return diag_fail(d, EBUSY, "%s: another tailor%s records into it; give another name", path, which);
}

/* Check that an open regular file may be replaced: no recorder writes to it, and it is empty, has the mark of the form, or overwrite is
 * set.  Returns 0, or -errno with a sentence. */
static int check_open_file(const struct output_file *o, int fd, bool overwrite, struct diag *d)
{
	const pid_t recorder = find_recorder(fd);

	if (recorder)
		return refuse_recorded(o->path, recorder, d);
	if (overwrite || o->before.st_size == 0 || (o->form && has_mark(fd, o->form)))
		return 0;
	if (o->form)
		return diag_fail(d, EEXIST, "%s: this file exists and is not %s of tailor; give another name, or --overwrite", o->path,
				 o->form->name);
	return diag_fail(d, EEXIST, "%s: this file exists; give another name, or --overwrite", o->path);
}

static int check_regular_file(const struct output_file *o, bool overwrite, struct diag *d)
{
	int fd, ret;
	struct stat st, folder;

	if (fstat(o->folder, &folder) == 0 && folder.st_mode & S_ISVTX && geteuid() != 0 && o->before.st_uid != geteuid() &&
	    folder.st_uid != geteuid())
		return output_cannot_write(d, o->path, EPERM, "a file of another user is there; give another path");
	if (!(o->before.st_mode & 0222) && !overwrite)
		return diag_fail(d, EACCES, "%s: this file is read-only; give another name, or --overwrite", o->path);
	fd = openat(o->folder, o->base, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return overwrite || o->before.st_size == 0 ? 0 :
		       output_cannot_write(d, o->path, errno, "a file is there that cannot be read; give another name, or --overwrite");
	if (fstat(fd, &st) || st.st_dev != o->before.st_dev || st.st_ino != o->before.st_ino)
		ret = output_cannot_write(d, o->path, EBUSY, "another program replaces it");
	else
		ret = check_open_file(o, fd, overwrite, d);
	close(fd);
	return ret;
}

static int check_old_file(const struct output_file *o, struct diag *d)
{
	struct output_file old = { .form = o->form, .overwrite = o->overwrite, .folder = o->folder };
	char path[4096], name[256];
	int ret = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s.old", o->path) >= sizeof(path) ||
	    (size_t)snprintf(name, sizeof(name), "%s.old", o->base) >= sizeof(name))
		return output_cannot_write(d, o->path, ENAMETOOLONG, NULL);
	old.path = path;
	old.base = name;
	if (fstatat(o->folder, name, &old.before, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (!S_ISREG(old.before.st_mode))
		ret = output_cannot_write(d, path, EEXIST, "it is no file; remove it, or give -o another name");
	return ret ? ret : check_regular_file(&old, old.overwrite, d);
}

int output_place_check(struct output_file *o, struct diag *d)
{
	int ret;

	o->existed = fstatat(o->folder, o->base, &o->before, AT_SYMLINK_NOFOLLOW) == 0;
	if (!o->existed)
		return 0;
	if (!S_ISREG(o->before.st_mode))
		return check_special_file(o->path, &o->before, d);
	ret = check_regular_file(o, o->overwrite, d);
	return ret || !o->keep_old ? ret : check_old_file(o, d);
}
