/* SPDX-License-Identifier: MIT */
/* Forks children that work, one of which execs this program again; statuses are checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long work(void)
{
	unsigned long x = 1;

	for (unsigned long i = 0; i < 20000000; i++)
		x = x * 6364136223846793005ul + i;
	return x;
}

int main(int argc, char **argv)
{
	int sum = 0;

	if (argc > 1)
		return (int)(work() & 1) + 20;
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			if (i == 3) {
				execl("/proc/self/exe", argv[0], "again", (char *)NULL);
				_exit(1);
			}
			_exit((int)(work() & 1) + 10 + i);
		}
	for (int i = 0; i < 4; i++) {
		int status;

		if (wait(&status) < 0 || !WIFEXITED(status))
			return 1;
		sum += WEXITSTATUS(status);
	}
	if (wait(NULL) != -1)
		return 2;
	printf("%d\n", sum);
	return 10;
}
