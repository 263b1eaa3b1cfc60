/* SPDX-License-Identifier: MIT */
/* Handles requests to the steward and the opener: files of HotSpot's attach protocol, commands, and files that are opened for reading. */
#include "jitreg/confine/steward_internal.h"

#include "jitreg/base/message.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define IOPRIO_WHO_PROCESS 1
#define WORDS_MAX 32

/* Does name consist of the text before, a number, and the text behind? */
static bool is_numbered(const char *name, const char *before, const char *behind)
{
	const size_t bytes = strlen(before);
	size_t digits;

	if (strncmp(name, before, bytes) != 0)
		return false;
	digits = strspn(name + bytes, "0123456789");
	return digits && strcmp(name + bytes + digits, behind) == 0;
}

static int create_trigger(const struct steward_request *r, int folder)
{
	int fd, ret = 0;

	if (!is_numbered(r->path[0], ".attach_pid", ""))
		return -EPERM;
	fd = openat(folder, r->path[0], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (fchown(fd, r->uid, r->gid) && geteuid() != r->uid) {
		ret = -EPERM;
		unlinkat(folder, r->path[0], 0);
	}
	close(fd);
	return ret;
}

static int remove_file(const struct steward_request *r, int folder)
{
	struct stat st;

	if (!is_numbered(r->path[0], ".attach_pid", "") && !is_numbered(r->path[0], "perf-", ".map"))
		return -EPERM;
	if (fstatat(folder, r->path[0], &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EPERM;
	return unlinkat(folder, r->path[0], 0) ? -errno : 0;
}

static int connect_to_jvm(const struct steward_request *r, int folder, int *fd)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int ret;

	if (!is_numbered(r->path[0], ".java_pid", ""))
		return -EPERM;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return -errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%.64s", folder, r->path[0]);
	if (connect(*fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return 0;
	ret = -errno;
	close(*fd);
	*fd = -1;
	return ret;
}

int steward_do_for_jvm(const struct steward_request *r, int folder, int *fd)
{
	switch (r->act) {
	case STEWARD_TRIGGER:
		return create_trigger(r, folder);
	case STEWARD_REMOVE:
		return remove_file(r, folder);
	case STEWARD_CONNECT:
		return connect_to_jvm(r, folder, fd);
	default:
		return -EPERM;
	}
}

/* Is path a file in /proc/PID that steward_read_private() permits: the program, a mapped file (map_files, wherever the file itself is), the
 * environment or the I/O counts? */
static bool is_mapped_file(const char *path)
{
	int pid, end = 0;
	unsigned long long from, to;

	if (sscanf(path, "/proc/%d/map_files/%llx-%llx%n", &pid, &from, &to, &end) == 3 && end && !path[end])
		return true;
	end = 0;
	return (sscanf(path, "/proc/%d/exe%n", &pid, &end) == 1 && end && !path[end]) ||
	       (sscanf(path, "/proc/%d/environ%n", &pid, &end) == 1 && end && !path[end]) ||
	       (sscanf(path, "/proc/%d/io%n", &pid, &end) == 1 && end && !path[end]);
}

int steward_read_private(const struct steward_request *r, int folder, int *fd)
{
	const char *path = r->path[0];
	struct stat st;

	if (folder >= 0 ? strncmp(path, "tmp/", 4) != 0 || !is_numbered(path + 4, "perf-", ".map") : !is_mapped_file(path))
		return -EACCES;
	*fd = openat(folder >= 0 ? folder : AT_FDCWD, path,
		     O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (folder >= 0 ? O_NOFOLLOW : 0));
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close(*fd);
	*fd = -1;
	return -EACCES;
}

int steward_open_named(const struct steward_request *r, bool (*may_open)(const char *path, int fd), int *fd)
{
	char begins[SELFMAG];
	struct stat st;

	*fd = open(r->path[0], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (pread(*fd, begins, sizeof(begins), 0) == SELFMAG && memcmp(begins, ELFMAG, SELFMAG) == 0)
			return 0;
		if (may_open && may_open(r->path[0], *fd) && (st.st_uid == geteuid() || st.st_mode & S_IROTH))
			return 0;
	}
	close(*fd);
	*fd = -1;
	return -EACCES;
}

/* Give this process the process group, the nice value and the I/O priority of the process that sent the request, but no real-time
 * policy. */
static void take_place_of(pid_t pid)
{
	const struct sched_param none = { 0 };

	errno = 0;
	setpgid(0, getpgid(pid));
	sched_setscheduler(0, SCHED_OTHER, &none); /* a recorder may have a real-time policy, which commands must not have */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)pid));
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid));
}

static void execute_words(char *const words[], const char *operand)
{
	char *all[WORDS_MAX + 2];
	sigset_t none;
	int nr = 0;

	while (words[nr] && nr < WORDS_MAX) {
		all[nr] = words[nr];
		nr++;
	}
	all[nr++] = (char *)(uintptr_t)operand;
	all[nr] = NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(all[0], all);
	message_print("%s: %s", all[0], strerror(errno));
	_exit(127);
}

void steward_execute(const struct steward_request *r, char *const words[], const char *operand, int answer)
{
	pid_t pid = fork();
	int status = -ECHILD;

	if (pid)
		return; /* if fork() failed, the caller closes the answer's socket, which the client sees as -EPIPE */
	signal(SIGCHLD, SIG_DFL);
	take_place_of(r->pid);
	pid = fork();
	if (pid == 0)
		execute_words(words, operand);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	steward_send(answer, &status, sizeof(status), NULL, 0);
	_exit(0);
}
