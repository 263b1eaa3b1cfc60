/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/connections.h"

#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

#define STRANGERS_MAX (CONNECTIONS_MAX / 2)
#define STRANGER_NS 5000000000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Shuts a connection down. libmicrohttpd then reads the end of its data, and closes it. */
static void give_up(struct connection *one)
{
	shutdown(one->fd, SHUT_RDWR);
	one->is_given_up = true;
}

static void give_up_oldest_of_many(struct connections *c)
{
	struct connection *oldest = NULL;
	unsigned nr = 0;

	for (struct connection *at = c->of; at < c->of + CONNECTIONS_MAX; at++)
		if (at->since_ns && !at->is_known && !at->is_given_up) {
			nr++;
			oldest = oldest && oldest->since_ns <= at->since_ns ? oldest : at;
		}
	if (nr > STRANGERS_MAX)
		give_up(oldest);
}

struct connection *connections_add(struct connections *c, int fd)
{
	struct connection *one = c->of;

	pthread_mutex_lock(&c->lock);
	while (one < c->of + CONNECTIONS_MAX && one->since_ns)
		one++;
	one = one < c->of + CONNECTIONS_MAX ? one : NULL;
	if (one)
		*one = (struct connection){ .fd = fd, .since_ns = now_ns() };
	give_up_oldest_of_many(c);
	pthread_mutex_unlock(&c->lock);
	return one;
}

void connections_know(struct connections *c, struct connection *one)
{
	pthread_mutex_lock(&c->lock);
	one->is_known = true;
	pthread_mutex_unlock(&c->lock);
}

void connections_remove(struct connections *c, struct connection *one)
{
	pthread_mutex_lock(&c->lock);
	one->since_ns = 0;
	pthread_mutex_unlock(&c->lock);
}

void connections_expire(struct connections *c)
{
	uint64_t now = now_ns();

	pthread_mutex_lock(&c->lock);
	for (struct connection *at = c->of; at < c->of + CONNECTIONS_MAX; at++)
		if (at->since_ns && !at->is_known && !at->is_given_up && now - at->since_ns > STRANGER_NS)
			give_up(at);
	pthread_mutex_unlock(&c->lock);
}
