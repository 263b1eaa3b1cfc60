/* SPDX-License-Identifier: MIT */
#ifndef TAILOR_STEWARD_INTERNAL_H
#define TAILOR_STEWARD_INTERNAL_H

#include "jitreg/confine/steward.h"

#include <limits.h>
#include <sys/socket.h>

#define STEWARD_PATH_BYTES PATH_MAX
#define STEWARD_SENT_MAX 2 /* maximum number of descriptors sent with a request: the socket for the answer, and a folder */

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
	int steward, changer; /* sockets for requests to the two processes; -1: the process was not started */
	pid_t parent, steward_pid, changer_pid;
};

/* Fork the steward or the opener, and the changer if output is not NULL, and set *s.  See steward_start() and steward_start_opener().
 * Return 0 or -errno. */
int steward_fork(char *const *const command[STEWARD_COMMANDS_MAX], const char *output, struct steward *s);
int steward_fork_opener(bool (*may_open)(const char *path, int fd), struct steward *s);
/* Send a message with nr descriptors, at most STEWARD_SENT_MAX.  Returns -1 with errno on failure. */
ssize_t steward_send(int socket, const void *message, size_t bytes, const int *fd, int nr);

/* Do what steward_create_trigger(), steward_remove() or steward_connect() asks for.  Returns 0, with a connection in *fd, or -errno (-EPERM
 * for other names). */
int steward_do_for_jvm(const struct steward_request *r, int folder, int *fd);
/* Open a file for reading: with a folder, tmp/perf-N.map in it, and with folder -1 one of /proc/PID/map_files, /proc/PID/exe,
 * /proc/PID/environ or /proc/PID/io.  Returns 0 with *fd, or -errno (-EACCES for other paths, and if the file is not a regular one). */
int steward_read_private(const struct steward_request *r, int folder, int *fd);
/* Open a file that steward_start_opener() permits.  Returns 0 with *fd, or -errno (-EACCES for other files). */
int steward_open_named(const struct steward_request *r, bool (*may_open)(const char *path, int fd), int *fd);
/* Execute a command in a child, and return at once.  The child waits for the command's end, and sends its status to the socket answer. */
void steward_execute(const struct steward_request *r, char *const words[], const char *operand, int answer);

#endif
