/* SPDX-License-Identifier: MIT */
#ifndef TAILOR_STEWARD_INTERNAL_H
#define TAILOR_STEWARD_INTERNAL_H

#include "jitreg/confine/steward.h"

#include <limits.h>
#include <sys/socket.h>

#define STEWARD_PATH_BYTES PATH_MAX
#define STEWARD_SENT_MAX 2 /* descriptors of a request: where the answer goes, and a folder */

enum steward_act {
	STEWARD_OPEN, STEWARD_RENAME, STEWARD_REMOVE_OUTPUT, STEWARD_RUN, STEWARD_READ,
	STEWARD_TRIGGER, STEWARD_REMOVE, STEWARD_CONNECT,
};

struct steward_request {
	enum steward_act act;
	int flags;
	mode_t mode;
	unsigned number;
	pid_t pid;
	uid_t uid;
	gid_t gid;
	char path[2][STEWARD_PATH_BYTES];
};

union steward_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(STEWARD_SENT_MAX * sizeof(int))];
};

struct steward {
	int steward, changer; /* sockets; -1: there is none */
	pid_t parent, steward_pid, changer_pid;
};

/* 0 or -errno. */
int steward_fork(char *const *const command[STEWARD_COMMANDS_MAX], const char *output, struct steward *s);
int steward_fork_opener(bool (*may_open)(const char *path, int fd), struct steward *s);
/* With descriptors.  -1 and errno where that fails. */
ssize_t steward_send(int socket, const void *message, size_t bytes, const int *fd, int nr);

/* 0 or -errno; *fd: of a connection. */
int steward_do_for_jvm(const struct steward_request *r, int folder, int *fd);
/* Likewise: what a recorded process maps, or its perf map.  folder: -1, or of that map. */
int steward_read_private(const struct steward_request *r, int folder, int *fd);
/* Likewise: what steward_start_opener() says. */
int steward_open_named(const struct steward_request *r, bool (*may_open)(const char *path, int fd), int *fd);
/* Execute it in a child, whose status goes to answer. */
void steward_execute(const struct steward_request *r, char *const words[], const char *operand, int answer);

#endif
