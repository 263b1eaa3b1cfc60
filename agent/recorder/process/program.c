/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/program.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int why_not_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

/* Finds a command as execvp(3) does.  Sets path, of PROGRAM_PATH_BYTES, to that of its file, or to "" if no folder of PATH has one that can
 * be executed, and *why to 0 or the error for which it cannot be executed. */
static void find_program_in_path(const char *command, char *path, int *why)
{
	const char *dirs = getenv("PATH"), *end;
	int error;

	if (strchr(command, '/')) {
		snprintf(path, PROGRAM_PATH_BYTES, "%s", command);
		*why = why_not_executable(command);
		return;
	}
	*why = ENOENT;
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; *command && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, PROGRAM_PATH_BYTES, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "./", command);
		error = why_not_executable(path);
		if (!error) {
			*why = 0;
			return;
		}
		if (error == EACCES)
			*why = EACCES; /* execvp(3), too, fails with this if no other folder has an executable one */
	}
	path[0] = 0;
}

static long read_file_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return pread(fd, to, bytes, (off_t)offset);
}

const char *program_uncounted_remedy(void)
{
	return !proc_is_root_of_machine() ? "record it as root" : "attach to it once it runs (`tailor attach PID`)";
}

bool program_is_limited(pid_t pid)
{
	uint64_t space = proc_limit(pid, "Max address space"), data = proc_limit(pid, "Max data size");

	return (space && space < PRELOAD_ADDRESS_SPACE_MIN) || (data && data < PRELOAD_DATA_MIN);
}

/* Returns the property that gives a process of this program privileges which its user does not have, or NULL.  The kernel ends this user's
 * counters at the exec of such a program. */
static const char *what_gives_privileges(int fd, const struct stat *st)
{
	if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
		return "is setuid";
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid())
		return "is setgid";
	return geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0 ? "has file capabilities" : NULL;
}

static void inspect_program_file(const char *path, struct program *p, int depth)
{
	static const char *const why_not[] = {
		[PRELOAD_STATIC] = "statically linked",
		[PRELOAD_OTHER_CLASS] = "not a 64-bit x86 program",
		[PRELOAD_OTHER_LIBC] = "its C library is not glibc",
		[PRELOAD_SANITIZER] = "AddressSanitizer ends a program whose first library is another one",
		[PRELOAD_LIMITED] = "it is limited to less than 64 MiB of address space or 32 MiB of data: ulimit -v, -d",
	};
	char text[4096] = "";
	struct stat st;
	char *rest;
	int error, fd = regular_file_open(path);
	ssize_t n;

	p->can_preload = true;
	if (fd < 0) {
		if (errno == EACCES && access(path, X_OK) == 0)
			p->why_uncounted = "may be executed by this user, and not read";
		return; /* if the program cannot be executed either, exec reports the reason */
	}
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n > 2 && text[0] == '#' && text[1] == '!' && depth < 2) {
		char *name, *argument;

		close(fd);
		text[strcspn(text, "\n")] = 0;
		name = strtok_r(text + 2, " \t", &rest);
		argument = name ? strtok_r(NULL, " \t", &rest) : NULL;
		if (argument && strcmp(argument, "-S") == 0)
			argument = strtok_r(NULL, " \t", &rest);
		if (name && argument && strcmp(basename(name), "env") == 0) /* the interpreter is the program that env(1) starts */
			find_program_in_path(argument, p->interpreter, &error);
		else if (name)
			snprintf(p->interpreter, sizeof(p->interpreter), "%s", name);
		inspect_program_file(p->interpreter, p, depth + 1);
		return;
	}
	p->fit = preload_look_at(read_file_at, fd);
	if (p->fit == PRELOAD_FITS && program_is_limited(getpid()))
		p->fit = PRELOAD_LIMITED;
	p->can_preload = p->fit <= PRELOAD_STATIC; /* this is true for a static program, since those that it starts may load the agent */
	p->why_not = why_not[p->fit];
	p->why_uncounted = fstat(fd, &st) == 0 ? what_gives_privileges(fd, &st) : NULL;
	if (p->fit == PRELOAD_FITS && p->why_uncounted)
		p->why_not = "it has privileges that this user has not: its loader ignores LD_PRELOAD";
	close(fd);
}

void program_inspect(const char *command, struct program *p)
{
	memset(p, 0, sizeof(*p));
	p->can_preload = true;
	find_program_in_path(command, p->path, &p->error);
	if (!p->error)
		inspect_program_file(p->path, p, 0);
}
