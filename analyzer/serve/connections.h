/* SPDX-License-Identifier: MIT */
/*
 * Keeps places among a server's connections free for clients that know its token. A connection that has not shown the token within five
 * seconds is ended, and the oldest such connection at once if they take more than half of the places. Context: any thread; the functions
 * lock.
 */
#ifndef TAILOR_CONNECTIONS_H
#define TAILOR_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CONNECTIONS_MAX 256u

struct connection {
	int fd;
	uint64_t since_ns; /* time of its beginning (CLOCK_MONOTONIC); 0: the place is free */
	bool is_known;	   /* the connection has shown the token */
	bool is_given_up;  /* it was shut down, and is not closed yet */
};

struct connections {
	pthread_mutex_t lock;
	struct connection of[CONNECTIONS_MAX];
};

/* Adds a connection, and ends the oldest one without the token if there are too many of these. Returns NULL if all places are taken. */
struct connection *connections_add(struct connections *c, int fd);
/* Notes that a connection has shown the token, so that it is not ended. */
void connections_know(struct connections *c, struct connection *one);
/* Frees the place of a connection. Call it before the descriptor is closed, because the other functions may shut the descriptor down. */
void connections_remove(struct connections *c, struct connection *one);
/* Ends connections that have not shown the token in time.  Call every second or so. */
void connections_expire(struct connections *c);

#endif
