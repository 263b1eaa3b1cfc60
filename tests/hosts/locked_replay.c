/* SPDX-License-Identifier: MIT */
/*
 * A plan under a lock, of which the host announces each new part while it holds it; the replay function takes it as well.  Goes on
 * for so many rounds, and until FILE is there: locked_replay ROUNDS FILE.  Prints how often it replayed.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long nr, replays;

static void replay(void *host)
{
	(void)host;
	pthread_mutex_lock(&lock);
	for (unsigned long i = 1; i <= nr; i++)
		jitreg_component(1, i, "operator", "", 0);
	replays++;
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	jitreg_set_replay(replay, NULL);
	for (unsigned long i = 0; i < rounds || (argc > 2 && access(argv[2], F_OK) != 0); i++) {
		pthread_mutex_lock(&lock);
		if (nr < 1000)
			nr++;
		jitreg_component(1, nr, "operator", "", 0);
		pthread_mutex_unlock(&lock);
		if (jitreg_replay_wanted())
			jitreg_replay();
		usleep(1000);
	}
	printf("%lu\n", replays);
	return 0;
}
