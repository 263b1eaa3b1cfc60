/* SPDX-License-Identifier: MIT */
/*
 * Reads a process's title (ps), which the server writes into its arguments.  The title is "postgres: user database host(port) activity", or
 * the kind of a background process.  With cluster_name set, it is "postgres: cluster: ...".
 */
#include "agent/recorder/engines/postgres.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "postgres: "
#define WORKER "parallel worker for PID "

/* The titles of processes without a client begin with these texts. */
static const char *const background[] = {
	"archiver", "autovacuum launcher", "autovacuum worker", "background writer", "checkpointer", "io worker", "logger",
	"logical replication", "parallel worker", "slotsync worker", "startup", "stats collector", "walreceiver", "walwriter",
};

/* Returns whether titles of this kind end with a text that changes all the time, which a process's name leaves out. */
static bool title_tail_changes(const char *kind)
{
	return strcmp(kind, "archiver") == 0 || strcmp(kind, "startup") == 0 || strcmp(kind, "walreceiver") == 0;
}

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char *skip_cluster_name(const char *title)
{
	const char *colon = strstr(title, ": ");

	return colon && (size_t)(colon - title) == strcspn(title, " ") - 1 ? colon + 2 : title;
}

void postgres_title_read(struct postgres_backend *b)
{
	char path[64], title[512], user[64], database[64], host[96];
	const char *at = title;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)b->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, title, sizeof(title) - 1);
	if (fd >= 0)
		close(fd);
	title[n > 0 ? n : 0] = 0;
	/* The process is the postmaster, or was just forked from it and has the postmaster's arguments, or they cannot be read. */
	if (!begins_with(title, PREFIX)) {
		snprintf(b->name, sizeof(b->name), "postmaster");
		return;
	}
	b->titled = true;
	at = skip_cluster_name(title + sizeof(PREFIX) - 1);
	if (begins_with(at, WORKER))
		b->leader = (pid_t)atoi(at + sizeof(WORKER) - 1);
	for (size_t i = 0; i < sizeof(background) / sizeof(background[0]); i++)
		if (begins_with(at, background[i])) {
			snprintf(b->name, sizeof(b->name), "%.*s", (int)sizeof(b->name) - 1,
				 title_tail_changes(background[i]) ? background[i] : at);
			for (size_t k = strlen(b->name); k && b->name[k - 1] == ' '; k--)
				b->name[k - 1] = 0;
			return;
		}
	if (sscanf(at, "%63s %63s %95s", user, database, host) == 3) {
		if (*host != '[') /* the port distinguishes connections of one client, not clients, so it is removed */
			host[strcspn(host, "(")] = 0;
		snprintf(b->name, sizeof(b->name), "%s@%s %s", user, database, host);
	} else {
		snprintf(b->name, sizeof(b->name), "%.*s", (int)sizeof(b->name) - 1, at);
	}
}
