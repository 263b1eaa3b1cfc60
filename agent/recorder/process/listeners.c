/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/listeners.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTENS 0x10000u /* flag of a listening socket in /proc/net/unix, the kernel's __SO_ACCEPTCON */

int listeners_each(const char *begin, const char *end, int (*each)(void *context, const char *name), void *context)
{
	FILE *f = fopen("/proc/net/unix", "re");
	size_t nr_begin = strlen(begin), nr_end = strlen(end);
	char line[512];
	int ret = 0;

	while (f && !ret && fgets(line, sizeof(line), f)) {
		unsigned flags;
		int at = 0;
		size_t nr;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s @%n", &flags, &at) != 1 || !at || !(flags & LISTENS))
			continue;
		nr = strlen(line + at);
		if (nr < LISTENER_NAME_BYTES && nr >= nr_begin + nr_end && memcmp(line + at, begin, nr_begin) == 0 &&
		    strcmp(line + at + nr - nr_end, end) == 0)
			ret = each(context, line + at);
	}
	if (f)
		fclose(f);
	return ret;
}

int listener_connect(const char *name, uid_t owner, pid_t *pid)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t bytes = strlen(name);
	socklen_t peer_bytes = sizeof(struct ucred);
	struct ucred peer;
	int fd, error;

	if (bytes == 0 || bytes > sizeof(a.sun_path) - 1)
		return -ENAMETOOLONG;
	memcpy(a.sun_path + 1, name, bytes);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes)) {
		error = errno;
		close(fd);
		return -error;
	}
	if (peer.pid <= 0 || (peer.uid != 0 && peer.uid != geteuid() && peer.uid != owner)) {
		close(fd);
		return -EPERM;
	}
	*pid = peer.pid;
	return fd;
}
