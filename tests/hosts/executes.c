/* SPDX-License-Identifier: MIT */
/*
 * executes FOLDER PROGRAM: behind chroot, by each function that executes programs, PROGRAM; otherwise prints its arguments and
 * environment, as that program does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_WAYS 10

static void run(int way, const char *program)
{
	char *const arguments[] = { (char *)"name", (char *)"two words", NULL };
	char *const given[] = { (char *)"OF_ITS_OWN=1", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") - strlen("LD_PRELOAD=") : NULL, NULL };
	pid_t child;

	switch (way) {
	case 0:
		execve(program, arguments, environ);
		break;
	case 1:
		execv(program, arguments);
		break;
	case 2:
		execvp(program, arguments);
		break;
	case 3:
		execvpe(program, arguments, given);
		break;
	case 4:
		execl(program, "name", "two words", NULL);
		break;
	case 5:
		execlp(program, "name", NULL);
		break;
	case 6:
		execle(program, "name", "two words", NULL, given);
		break;
	case 7:
		execve("/missing", arguments, environ);
		break;
	case 8:
	case 9:
		errno = (way == 8 ? posix_spawn : posix_spawnp)(&child, program, NULL, NULL, arguments, given);
		if (!errno)
			waitpid(child, NULL, 0);
	}
	printf("%d: %s\n", way, strerror(errno));
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		for (int way = 0; way < NR_WAYS; way++) {
			pid_t child = fork();

			if (!child) {
				if (chroot(argv[1])) {
					perror("chroot");
					_exit(1);
				}
				run(way, argv[2]);
			}
			waitpid(child, NULL, 0);
		}
		return 0;
	}
	for (int i = 0; i < argc; i++)
		printf("[%s] ", argv[i]);
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "TAILOR_", 7) != 0 && strncmp(*e, "_=", 2) != 0)
			printf("{%s} ", *e);
	printf("\n");
	return 0;
}
