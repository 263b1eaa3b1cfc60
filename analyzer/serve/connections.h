/* SPDX-License-Identifier: MIT */
/*
 * The connections of a server, which keep places free for clients that know its token.  A connection that has not shown the token ends
 * after five seconds, and the oldest of them at once if they take more than half of the places.  Context: any thread; the functions lock.
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
	bool is_known;	   /* has shown the token */
	bool is_given_up;
};

struct connections {
	pthread_mutex_t lock;
	struct connection of[CONNECTIONS_MAX];
};

/* Adds a connection.  NULL: all places are taken. */
struct connection *connections_add(struct connections *c, int fd);
/* Call when a connection has shown the token. */
void connections_know(struct connections *c, struct connection *one);
/* Call before the descriptor is closed. */
void connections_remove(struct connections *c, struct connection *one);
/* Ends connections that have not shown the token in time. */
void connections_expire(struct connections *c);

#endif
