/* SPDX-License-Identifier: MIT */
/*
 * Makes output files without a name, and gives them one.
 *
 * If no file had the name at first, linkat(2) or renameat2(2) gives it to the new file, and fails if another program has created a file
 * there. If a file had the name, the two files exchange their names (RENAME_EXCHANGE), and the old file is compared with the one at first.
 * If another program has replaced it, the names are exchanged back. So of two writers the second one fails. File systems without these
 * calls, and stewards, cannot do that, so a file that another program writes at the same moment may be lost there.
 */
#include "jitreg/output/output_internal.h"

#include "jitreg/base/file_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TRIES 3 /* attempts to find a name for a hidden file that no other file has */

/* ------------------------------------------------------------------------------------- hidden files, removed by signals */

/* This is the hidden file that remove_pending_and_die() removes.  A process has one, since commands write one file at a time.  If there is
 * a second one, it stays when a signal ends the process. */
static struct {
	volatile sig_atomic_t is_set;
	int folder;
	pid_t process;
	char name[OUTPUT_TEMPORARY_BYTES];
} pending;

/* Remove the hidden file, unless this is a child of the process that made it, and let the signal end the process.  Context: signal. */
static void remove_pending_and_die(int signal_number)
{
	if (pending.is_set && pending.process == getpid())
		unlinkat(pending.folder, pending.name, 0);
	raise(signal_number); /* the default action ends the process, since SA_RESETHAND has restored it */
}

/* Make signals that would end the process remove the hidden file of o first.  Signals that the command handles or ignores are left
 * unchanged. */
static void remove_on_signals(const struct output_file *o)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ };
	struct sigaction before, a = { .sa_handler = remove_pending_and_die, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };

	if (pending.is_set)
		return;
	pending.folder = o->folder;
	pending.process = getpid();
	memcpy(pending.name, o->temporary, sizeof(pending.name));
	pending.is_set = true;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL && !(before.sa_flags & SA_SIGINFO))
			sigaction(signals[i], &a, NULL);
}

static void forget_temporary(struct output_file *o)
{
	if (pending.is_set && strcmp(pending.name, o->temporary) == 0)
		pending.is_set = false;
	o->temporary[0] = 0;
}

void output_name_remove_temporary(struct output_file *o)
{
	if (!o->temporary[0])
		return;
	output_name_remove(o, o->temporary);
	forget_temporary(o);
}

static void choose_temporary_name(struct output_file *o)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint64_t)getpid() << 32 | (uint64_t)(uintptr_t)o;
	snprintf(o->temporary, sizeof(o->temporary), ".tailor-%016llx.part", (unsigned long long)number);
}

/* Formats the path of a file in the output's folder, because a steward takes paths and no descriptors of folders.  Returns path. */
static const char *path_beside(const struct output_file *o, const char *name, char *path, size_t bytes)
{
	snprintf(path, bytes, "%.*s%s", (int)(o->base - o->path), o->path, name);
	return path;
}

static int create_beside(const struct output_file *o, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char path[PATH_MAX];

	if (file_changes_are_own())
		return openat(o->folder, name, flags, 0600);
	return file_changes.open(path_beside(o, name, path, sizeof(path)), flags, 0600);
}

int output_name_remove(const struct output_file *o, const char *name)
{
	char path[PATH_MAX];

	if (file_changes_are_own())
		return unlinkat(o->folder, name, 0);
	return file_changes.remove(path_beside(o, name, path, sizeof(path)));
}

int output_name_rename(const struct output_file *o, const char *from, const char *to)
{
	char path[2][PATH_MAX];

	if (file_changes_are_own())
		return renameat(o->folder, from, o->folder, to);
	return file_changes.rename(path_beside(o, from, path[0], sizeof(path[0])), path_beside(o, to, path[1], sizeof(path[1])));
}

/* Rename with flags of renameat2(2).  Without the right to change files this fails with ENOSYS, as on a file system without flags, because
 * stewards do not support them. */
static int rename_with(const struct output_file *o, const char *from, const char *to, unsigned flags)
{
	if (file_changes_are_own())
		return renameat2(o->folder, from, o->folder, to, flags);
	errno = ENOSYS;
	return -1;
}

static int create_hidden_file(struct output_file *o)
{
	for (int i = 0; i < TRIES; i++) {
		choose_temporary_name(o);
		o->fd = create_beside(o, o->temporary);
		if (o->fd >= 0) {
			if (file_changes_are_own())
				remove_on_signals(o);
			return 0;
		}
		o->temporary[0] = 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

static void format_descriptor_link(const struct output_file *o, char *link, size_t bytes)
{
	snprintf(link, bytes, "/proc/self/fd/%d", o->fd);
}

int output_name_create(struct output_file *o, struct diag *d)
{
	char link[32];
	int ret;

	o->fd = o->is_named || !file_changes_are_own() ? -1 : openat(o->folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (o->fd >= 0) {
		format_descriptor_link(o, link, sizeof(link));
		if (access(link, F_OK)) { /* the file gets its name by way of /proc, so without that a hidden file is used */
			close(o->fd);
			o->fd = -1;
		}
	}
	ret = o->fd < 0 ? create_hidden_file(o) : 0;
	if (ret == -EACCES && o->existed && faccessat(o->folder, o->base, W_OK, AT_EACCESS) == 0)
		return output_cannot_write(d, o->path, EACCES, "its folder is read-only, and a file is replaced only as a whole; give a "
					   "path in another folder");
	return ret ? output_cannot_write(d, o->path, -ret, NULL) : 0;
}

/* --------------------------------------------------------------------------------------------------------- taking a name */

/* Give the new file a name, which no other file may have (-EEXIST).  Returns 0 or -errno. */
static int link_file(const struct output_file *o, const char *name)
{
	char link[32];

	if (o->temporary[0])
		return rename_with(o, o->temporary, name, RENAME_NOREPLACE) ? -errno : 0;
	format_descriptor_link(o, link, sizeof(link));
	return linkat(AT_FDCWD, link, o->folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Rename the hidden file, where RENAME_NOREPLACE is missing, to a name that no other file may have (-EEXIST). It is linked to the name,
 * and the old name is removed. File systems without links (exFAT) and stewards can only check and rename, and a file that another program
 * creates in between is lost. Returns 0 or -errno. */
static int rename_exclusively(const struct output_file *o, const char *name)
{
	if (file_changes_are_own() && linkat(o->folder, o->temporary, o->folder, name, 0) == 0)
		return unlinkat(o->folder, o->temporary, 0) ? -errno : 0;
	if (file_changes_are_own() && errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (faccessat(o->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return output_name_rename(o, o->temporary, name) ? -errno : 0;
}

static int link_exclusively(struct output_file *o, const char *name)
{
	int ret = link_file(o, name);

	if ((ret == -EINVAL || ret == -ENOSYS) && o->temporary[0])
		ret = rename_exclusively(o, name);
	if (ret == 0 && o->temporary[0])
		forget_temporary(o);
	return ret;
}

static bool is_same_as_before(const struct output_file *o, const char *name)
{
	struct stat st;

	return fstatat(o->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == o->before.st_dev && st.st_ino == o->before.st_ino &&
	       st.st_size == o->before.st_size && st.st_mtim.tv_sec == o->before.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == o->before.st_mtim.tv_nsec;
}

static int keep_or_remove_old(struct output_file *o, const char *name)
{
	char old[256];

	if (!o->keep_old)
		return output_name_remove(o, name) ? -errno : 0;
	if ((size_t)snprintf(old, sizeof(old), "%s.old", o->base) >= sizeof(old))
		return -ENAMETOOLONG;
	o->has_old = output_name_rename(o, name, old) == 0;
	return o->has_old ? 0 : -errno;
}

/* Replace the file where RENAME_EXCHANGE is missing. It must be the old one (-EEXIST if not), and the new one is renamed to its name. A
 * file that another program writes in between is lost. Returns 0 or -errno. */
static int replace_by_rename(struct output_file *o)
{
	int ret;

	if (!is_same_as_before(o, o->base))
		return -EEXIST;
	ret = o->keep_old ? keep_or_remove_old(o, o->base) : 0;
	if (ret == 0 && output_name_rename(o, o->temporary, o->base))
		ret = -errno;
	return ret;
}

static int replace_file(struct output_file *o)
{
	int ret;

	if (!o->temporary[0]) {
		struct output_file named = *o;

		choose_temporary_name(&named);
		ret = link_file(o, named.temporary);
		if (ret)
			return ret;
		memcpy(o->temporary, named.temporary, sizeof(o->temporary));
	}
	if (rename_with(o, o->temporary, o->base, RENAME_EXCHANGE)) {
		ret = errno == ENOENT ? link_exclusively(o, o->base) : errno == EINVAL || errno == ENOSYS ? replace_by_rename(o) : -errno;
	} else {
		ret = is_same_as_before(o, o->temporary) ? keep_or_remove_old(o, o->temporary) : -EEXIST;
		if (ret)
			rename_with(o, o->temporary, o->base, RENAME_EXCHANGE);
	}
	if (ret)
		output_name_remove_temporary(o);
	else if (o->temporary[0])
		forget_temporary(o);
	return ret;
}

int output_name_take(struct output_file *o, struct diag *d)
{
	int ret = o->existed ? replace_file(o) : link_exclusively(o, o->base);

	if (ret == -EEXIST)
		return diag_fail(d, EEXIST, "%s: another program has written this file meanwhile; it stays, and what was made here is not "
				 "kept", o->path);
	if (ret)
		return output_cannot_write(d, o->path, -ret, NULL);
	o->has_name = true;
	return 0;
}
