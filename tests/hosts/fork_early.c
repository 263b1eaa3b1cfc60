/* SPDX-License-Identifier: MIT */
/* Forks before main's first line, in a constructor; both processes work. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static unsigned long work(void)
{
	unsigned long x = 1;

	for (unsigned long i = 0; i < 40000000; i++)
		x = x * 6364136223846793005ul + i;
	return x;
}

__attribute__((constructor)) static void early(void)
{
	child = fork();
}

int main(void)
{
	unsigned long x = work();
	int status = 0;

	if (child == 0)
		_exit((int)(x & 3) + 1);
	/* a stranger among the children would be found here */
	if (waitpid(-1, &status, 0) != child || wait(NULL) != -1)
		return 1;
	printf("%lx, child %d\n", x, WEXITSTATUS(status));
	return 6;
}
