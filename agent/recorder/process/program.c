/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int can_execute(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

/* As execvp(3) looks for it: a path of PROGRAM_PATH_BYTES, and 0 or why not. */
static void find(const char *command, char *path, int *why)
{
	const char *dirs = getenv("PATH"), *end;
	int error;

	if (strchr(command, '/')) {
		snprintf(path, PROGRAM_PATH_BYTES, "%s", command);
		*why = can_execute(command);
		return;
	}
	*why = ENOENT;
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; *command && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		snprintf(path, PROGRAM_PATH_BYTES, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "./", command);
		error = can_execute(path);
		if (!error) {
			*why = 0;
			return;
		}
		if (error == EACCES)
			*why = EACCES; /* said when there is no other */
	}
	path[0] = 0;
}

static void look_at(const char *path, struct program *p, int depth)
{
	union {
		Elf64_Ehdr h;
		char text[4096];
	} u = { 0 };
	struct stat st;
	bool interpreted = false;
	char *rest;
	int error, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	p->can_preload = true;
	if (fd < 0)
		return; /* exec will say why */
	n = read(fd, u.text, sizeof(u.text) - 1);
	if (n > 2 && u.text[0] == '#' && u.text[1] == '!' && depth < 2) {
		char *name, *argument;

		close(fd);
		u.text[strcspn(u.text, "\n")] = 0;
		name = strtok_r(u.text + 2, " \t", &rest);
		argument = name ? strtok_r(NULL, " \t", &rest) : NULL;
		if (argument && strcmp(argument, "-S") == 0)
			argument = strtok_r(NULL, " \t", &rest);
		if (name && argument && strcmp(basename(name), "env") == 0) /* which starts another one */
			find(argument, p->interpreter, &error);
		else if (name)
			snprintf(p->interpreter, sizeof(p->interpreter), "%s", name);
		look_at(p->interpreter, p, depth + 1);
		return;
	}
	if (n < (ssize_t)sizeof(u.h) || memcmp(u.h.e_ident, ELFMAG, SELFMAG)) {
		close(fd);
		return;
	}
	if (u.h.e_ident[EI_CLASS] != ELFCLASS64 || u.h.e_machine != EM_X86_64) {
		p->can_preload = false;
		p->why_not = "not a 64-bit x86 program";
	} else {
		for (int i = 0; i < u.h.e_phnum && u.h.e_phentsize == sizeof(Elf64_Phdr); i++) {
			Elf64_Phdr ph;

			if (pread(fd, &ph, sizeof(ph), (off_t)(u.h.e_phoff + (uint64_t)i * sizeof(ph))) != sizeof(ph))
				break;
			interpreted |= ph.p_type == PT_INTERP;
		}
		if (!interpreted) /* programs that it starts may load the agent */
			p->why_not = "statically linked";
		else if (fstat(fd, &st) == 0 && (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
						 ((st.st_mode & S_ISGID) && st.st_gid != getegid())))
			p->why_not = "setuid or setgid: the loader ignores LD_PRELOAD, and the kernel may stop counting";
	}
	close(fd);
}

void program_inspect(const char *command, struct program *p)
{
	memset(p, 0, sizeof(*p));
	p->can_preload = true;
	find(command, p->path, &p->error);
	if (!p->error)
		look_at(p->path, p, 0);
}
