/* SPDX-License-Identifier: MIT */
/*
 * The connections of a server, so that who knows its token has a place whatever others send: of those that have not shown it yet, each is
 * given up after five seconds, and the oldest one at once where many places are taken.  Context: any thread; they lock.
 */
#ifndef TAILOR_CONNECTIONS_H
#define TAILOR_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CONNECTIONS_MAX 256u

struct connection {
	int fd;
	uint64_t since_ns; /* 0: not in use */
	bool is_known;	   /* it has shown the token */
	bool is_given_up;
};

struct connections {
	pthread_mutex_t lock;
	struct connection of[CONNECTIONS_MAX];
};

/* NULL: there are too many. */
struct connection *connections_add(struct connections *c, int fd);
/* It has shown the token. */
void connections_know(struct connections *c, struct connection *one);
/* Before its descriptor is closed. */
void connections_remove(struct connections *c, struct connection *one);
/* Give up those that are late. */
void connections_expire(struct connections *c);

#endif
