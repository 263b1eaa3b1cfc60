/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define CHANNEL_WAIT_MS 5000

static int connect_to(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t bytes = strlen(name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -errno;
	memcpy(a.sun_path + 1, name, bytes < sizeof(a.sun_path) - 1 ? bytes : sizeof(a.sun_path) - 1);
	do {
		ret = connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes));
	} while (ret && errno == EINTR);
	if (ret) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static int send_message(int fd, struct wire_message *m, const int *fds, int nr)
{
	char control[CMSG_SPACE(WIRE_EVENTS_MAX * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	m->magic = WIRE_MAGIC;
	m->version = LOG_VERSION;
	m->pid = (uint32_t)getpid();
	m->tid = (uint32_t)syscall(SYS_gettid);
	m->nr_fds = (uint32_t)nr;
	strncpy(m->guest_version, TAILOR_VERSION, sizeof(m->guest_version) - 1);
	if (nr) {
		struct cmsghdr *c;

		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE((size_t)nr * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nr * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)nr * sizeof(int));
	}
	do {
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*m) ? 0 : n < 0 ? -errno : -EPROTO;
}

/* *passed: the descriptor that came along, or -1. */
static int receive_answer(int fd, struct wire_answer *a, int *passed)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec part = { a, sizeof(*a) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd wait = { fd, POLLIN, 0 };
	struct cmsghdr *c;
	ssize_t n;
	int ret;

	*passed = -1;
	do {
		ret = poll(&wait, 1, CHANNEL_WAIT_MS);
	} while (ret < 0 && errno == EINTR);
	if (ret != 1)
		return ret < 0 ? -errno : -ETIMEDOUT;
	do {
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(passed, CMSG_DATA(c), sizeof(int));
	if (n != (ssize_t)sizeof(*a) || a->magic != WIRE_MAGIC || a->version != LOG_VERSION)
		ret = -EPROTO;
	else
		ret = a->status;
	if (ret < 0 && *passed >= 0) {
		close(*passed);
		*passed = -1;
	}
	return ret < 0 ? ret : 0;
}

static int exchange(const char *socket_name, struct wire_message *m, const int *fds, int nr, struct wire_answer *a, int *passed)
{
	int fd = connect_to(socket_name), ret;

	if (fd < 0)
		return fd;
	ret = send_message(fd, m, fds, nr);
	if (ret == 0)
		ret = receive_answer(fd, a, passed);
	close(fd);
	return ret;
}

/* A process with little address space gets a log that leaves it most of that. */
static uint64_t wanted_log_bytes(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY)
		return 0;
	return r.rlim_cur / 64 > LOG_RING_BYTES_MIN ? r.rlim_cur / 64 : LOG_RING_BYTES_MIN;
}

int channel_hello(const char *socket, bool child, struct wire_answer *answer, struct log_head **log, uint64_t *log_bytes)
{
	struct wire_message m = { .request = WIRE_HELLO, .flags = child ? WIRE_FLAG_CHILD : 0 };
	int fd, ret;
	void *p;

	m.log_bytes = wanted_log_bytes();
	ret = exchange(socket, &m, NULL, 0, answer, &fd);
	if (ret)
		return ret;
	if (fd < 0 || answer->ring_bytes < LOG_RING_BYTES_MIN || answer->ring_bytes % 4096 != 0) {
		if (fd >= 0)
			close(fd);
		return -EPROTO;
	}
	p = mmap(NULL, LOG_HEAD_BYTES + answer->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ret = p == MAP_FAILED ? -errno : 0;
	close(fd);
	if (ret) {
		channel_stop(socket, -ret);
		return ret;
	}
	madvise(p, LOG_HEAD_BYTES + answer->ring_bytes, MADV_DONTDUMP);
	*log = p;
	*log_bytes = answer->ring_bytes;
	return 0;
}

int channel_counters(const char *socket, const int *fds, int nr, int error)
{
	struct wire_message m = { .request = WIRE_COUNTER, .error = error };
	struct wire_answer a;
	int passed;

	return exchange(socket, &m, fds, nr, &a, &passed);
}

void channel_stop(const char *socket, int error)
{
	struct wire_message m = { .request = WIRE_STOP, .error = error };
	struct wire_answer a;
	int passed;

	exchange(socket, &m, NULL, 0, &a, &passed);
}
