/* SPDX-License-Identifier: MIT */
#include "jitreg/confine/steward_internal.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

ssize_t steward_send(int socket, const void *message, size_t bytes, const int *fd, int nr)
{
	union steward_control control = { 0 };
	struct iovec io = { (void *)(uintptr_t)message, bytes };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (nr) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE((size_t)nr * sizeof(*fd));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nr * sizeof(*fd));
		memcpy(CMSG_DATA(c), fd, (size_t)nr * sizeof(*fd));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL);
}
