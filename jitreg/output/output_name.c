/* SPDX-License-Identifier: MIT */
/*
 * A file without a name, and how it takes one.
 *
 * Where there was none, link(2) creates the name, and fails if another program has created it meanwhile.  Where there was one, the two
 * files exchange their names (RENAME_EXCHANGE), and what came out is compared with what was there when we began: if another program has
 * replaced it meanwhile, they change back.  So of two writers the second is told, and none of the two files is ever half of each.
 */
#include "jitreg/output/output_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TRIES 3 /* another program may create or remove a file between two of our calls */

/* ------------------------------------------------------------------------------------- hidden files, removed by signals */

/* The one hidden file of this process that signals remove.  A command writes one file at a time; a second one is removed by its failure
 * alone. */
static struct {
	volatile sig_atomic_t is_set;
	int folder;
	pid_t process;
	char name[OUTPUT_TEMPORARY_BYTES];
} pending;

/* Context: signal. */
static void remove_pending_and_die(int signal_number)
{
	if (pending.is_set && pending.process == getpid())
		unlinkat(pending.folder, pending.name, 0);
	raise(signal_number); /* SA_RESETHAND: it ends the process now */
}

/* A signal that the command handles or ignores is left as it is. */
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
	unlinkat(o->folder, o->temporary, 0);
	forget_temporary(o);
}

static void choose_temporary_name(struct output_file *o)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint64_t)getpid() << 32 | (uint64_t)(uintptr_t)o;
	snprintf(o->temporary, sizeof(o->temporary), ".tailor-%016llx.part", (unsigned long long)number);
}

static int create_hidden_file(struct output_file *o)
{
	for (int i = 0; i < TRIES; i++) {
		choose_temporary_name(o);
		o->fd = openat(o->folder, o->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (o->fd >= 0) {
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

	o->fd = o->is_named ? -1 : openat(o->folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (o->fd >= 0) {
		format_descriptor_link(o, link, sizeof(link));
		if (access(link, F_OK)) { /* without /proc it could take no name */
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

/* The file under a name that nothing has.  0 or -errno. */
static int link_file(const struct output_file *o, const char *name)
{
	char link[32];

	if (o->temporary[0])
		return renameat2(o->folder, o->temporary, o->folder, name, RENAME_NOREPLACE) ? -errno : 0;
	format_descriptor_link(o, link, sizeof(link));
	return linkat(AT_FDCWD, link, o->folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Where the file system has no RENAME_NOREPLACE, a second link does the same; where it has no links (exFAT), a moment remains in which
 * another program's file would be lost. */
static int rename_exclusively(const struct output_file *o, const char *name)
{
	if (linkat(o->folder, o->temporary, o->folder, name, 0) == 0)
		return unlinkat(o->folder, o->temporary, 0) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (faccessat(o->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(o->folder, o->temporary, o->folder, name) ? -errno : 0;
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
		return unlinkat(o->folder, name, 0) ? -errno : 0;
	if ((size_t)snprintf(old, sizeof(old), "%s.old", o->base) >= sizeof(old))
		return -ENAMETOOLONG;
	o->has_old = renameat(o->folder, name, o->folder, old) == 0;
	return o->has_old ? 0 : -errno;
}

/* Without RENAME_EXCHANGE a moment remains in which another program's file would be lost. */
static int replace_by_rename(struct output_file *o)
{
	int ret;

	if (!is_same_as_before(o, o->base))
		return -EEXIST;
	ret = o->keep_old ? keep_or_remove_old(o, o->base) : 0;
	if (ret == 0 && renameat(o->folder, o->temporary, o->folder, o->base))
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
	if (renameat2(o->folder, o->temporary, o->folder, o->base, RENAME_EXCHANGE)) {
		ret = errno == ENOENT ? link_exclusively(o, o->base) : errno == EINVAL || errno == ENOSYS ? replace_by_rename(o) : -errno;
	} else {
		ret = is_same_as_before(o, o->temporary) ? keep_or_remove_old(o, o->temporary) : -EEXIST;
		if (ret)
			renameat2(o->folder, o->temporary, o->folder, o->base, RENAME_EXCHANGE);
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
