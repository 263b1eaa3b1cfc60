/* SPDX-License-Identifier: MIT */
#include "jitreg/output/output_file.h"

#include "jitreg/base/file_changes.h"
#include "jitreg/output/output_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool may_overwrite;

void output_file_allow_overwriting(void)
{
	may_overwrite = true;
}

/* ------------------------------------------------------------------------------------------------------------------ open */

static int open_folder(struct output_file *o, struct diag *d)
{
	const char *slash = strrchr(o->path, '/');
	char folder[4096] = ".";

	o->base = slash ? slash + 1 : o->path;
	if (slash && (size_t)snprintf(folder, sizeof(folder), "%.*s", slash == o->path ? 1 : (int)(slash - o->path), o->path) >=
			     sizeof(folder))
		return output_cannot_write(d, o->path, ENAMETOOLONG, NULL);
	o->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->folder < 0)
		return output_cannot_write(d, o->path, errno, NULL);
	return *o->base ? 0 : output_cannot_write(d, o->path, *o->path ? EISDIR : ENOENT, NULL);
}

static int open_at_path(struct output_file *o, struct diag *d)
{
	int ret = open_folder(o, d);

	if (ret == 0)
		ret = output_place_check(o, d);
	if (ret)
		return ret;
	if (!o->existed || S_ISREG(o->before.st_mode))
		return output_name_create(o, d);
	o->fd = output_place_open_special(o->path, d);
	o->is_direct = true;
	return o->fd < 0 ? o->fd : 0;
}

/* Reset all members but those that the caller sets, and copy the path.  Returns 0, or -ENOMEM with a sentence. */
static int begin(struct output_file *o, const char *path, struct diag *d)
{
	o->to = NULL;
	o->fd = o->folder = -1;
	o->is_direct = o->existed = o->has_name = o->has_old = false;
	o->error = 0;
	o->temporary[0] = 0;
	o->overwrite |= may_overwrite;
	o->path = strdup(path);
	return o->path ? 0 : diag_fail(d, ENOMEM, "out of memory");
}

int output_file_open(struct output_file *o, const char *path, struct diag *d)
{
	const int descriptor = output_place_descriptor(path);
	int ret = begin(o, path, d);

	if (ret == 0 && descriptor >= 0) {
		o->is_direct = true;
		o->fd = output_place_open_descriptor(path, descriptor, d);
		ret = o->fd < 0 ? o->fd : 0;
	} else if (ret == 0) {
		ret = open_at_path(o, d);
	}
	if (ret)
		output_file_fini(o);
	return ret;
}

/* ---------------------------------------------------------------------------------------------------------------- stream */

/* Write for the stream o->to.  The first error is kept in o->error, because stdio does not keep it. */
static ssize_t write_to_output(void *output, const char *bytes, size_t nr)
{
	struct output_file *o = output;
	size_t done = 0;

	while (done < nr) {
		ssize_t n = write(o->fd, bytes + done, nr - done);

		if (n < 0 && (errno == EINTR || (errno == EAGAIN && poll(&(struct pollfd){ o->fd, POLLOUT, 0 }, 1, -1) == 1)))
			continue;
		if (n <= 0) {
			o->error = o->error ? o->error : n < 0 ? errno : ENOSPC;
			errno = o->error;
			return 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)nr;
}

static int open_stream(struct output_file *o, struct diag *d)
{
	struct stat st;

	if (o->is_direct && fstat(o->fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) &&
	    output_place_descriptor(o->path) < 0)
		fcntl(o->fd, F_SETFL, fcntl(o->fd, F_GETFL) & ~O_NONBLOCK);
	o->to = fopencookie(o, "w", (cookie_io_functions_t){ .write = write_to_output });
	if (!o->to)
		return diag_fail(d, ENOMEM, "out of memory");
	setvbuf(o->to, NULL, _IOFBF, 1 << 16);
	return 0;
}

int output_file_open_stream(struct output_file *o, const char *path, struct diag *d)
{
	const int descriptor = output_place_descriptor(path);
	int ret;

	if (descriptor >= 0) {
		ret = begin(o, path, d);
		o->is_direct = true;
		if (ret == 0 && (o->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) < 0)
			ret = output_cannot_write(d, path, errno, NULL);
	} else {
		ret = output_file_open(o, path, d);
		if (ret)
			return ret;
	}
	if (ret == 0)
		ret = open_stream(o, d);
	if (ret)
		output_file_drop(o);
	return ret;
}

void output_file_temporary(const struct output_file *o, char *path, size_t bytes)
{
	snprintf(path, bytes, "%.*s%s", (int)(o->base - o->path), o->path, o->temporary);
}

/* ------------------------------------------------------------------------------------------------------------------- end */

int output_file_take_name(struct output_file *o, struct diag *d)
{
	return o->is_direct || o->has_name ? 0 : output_name_take(o, d);
}

int output_file_has_name(const struct output_file *o, struct diag *d)
{
	struct stat own, there;

	if (o->is_direct || !o->has_name)
		return 0;
	if (fstatat(o->folder, o->base, &there, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT) /* a recorder that has given up rights may not search the folder */
			return 0;
	} else if (fstat(o->fd, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
		return 0;
	}
	return diag_fail(d, ESTALE, "%s: another program has removed or replaced this file while it was written; what was recorded is lost",
			 o->path);
}

/* Close the stream o->to if it is still open, and keep its first error in o->error. */
static void close_stream(struct output_file *o)
{
	const bool failed = o->to && ferror(o->to);

	errno = 0;
	if (o->to && (fclose(o->to) || failed) && !o->error)
		o->error = errno ? errno : EIO;
	o->to = NULL;
}

int output_file_end(struct output_file *o, struct diag *d)
{
	int ret = 0;

	close_stream(o);
	if (!o->error && !o->is_direct && fsync(o->fd) && errno != EINVAL && errno != EROFS)
		o->error = errno;
	if (o->error)
		ret = output_cannot_write(d, o->path, o->error, NULL);
	else
		ret = output_file_take_name(o, d);
	if (ret)
		output_file_drop(o);
	else
		output_file_fini(o);
	return ret;
}

void output_file_fini(struct output_file *o)
{
	if (!o->path)
		return;
	close_stream(o);
	output_name_remove_temporary(o);
	if (o->fd >= 0)
		close(o->fd);
	if (o->folder >= 0)
		close(o->folder);
	free(o->path);
	o->path = NULL;
	o->fd = o->folder = -1;
}

/* The file at the path is removed, and PATH.old renamed back, only if that file is this output. */
void output_file_drop(struct output_file *o)
{
	char old[256];

	if (!o->path)
		return;
	if (o->has_name && output_file_has_name(o, NULL) == 0) {
		output_name_remove(o, o->base);
		if (o->has_old && (size_t)snprintf(old, sizeof(old), "%s.old", o->base) < sizeof(old))
			output_name_rename(o, old, o->base);
	}
	output_file_fini(o);
}

/* ---------------------------------------------------------------------------------------------------------------- others */

int output_file_check(const char *path, const struct output_form *form, struct diag *d)
{
	struct output_file o = { .form = form };
	int ret;

	if (output_place_descriptor(path) >= 0)
		return 0;
	ret = begin(&o, path, d);
	if (ret == 0)
		ret = open_folder(&o, d);
	if (ret == 0)
		ret = output_place_check(&o, d);
	if (ret == 0 && (!o.existed || S_ISREG(o.before.st_mode))) /* not a FIFO, whose reader would see an end */
		ret = output_name_create(&o, d);
	output_file_drop(&o);
	return ret;
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

bool output_file_is_standard(const char *path)
{
	return output_place_descriptor(path) == STDOUT_FILENO;
}
