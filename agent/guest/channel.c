/* SPDX-License-Identifier: MIT */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>

#define CHANNEL_WAIT_MS 5000
#define SLICE_MS 6 /* a host is held up for less than 10 */
#define TRIES 20
#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#define F_SEAL_SHRINK 2
#endif

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Anybody can listen under the name of a recorder that has ended: only our own user and root are believed. */
static bool is_trusted_peer(int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof(peer);

	return sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == 0 || peer.uid == sys_geteuid());
}

/*
 * A recorder that is stopped, or starved, must not hold its host up: who waits for it looks every few milliseconds whether it
 * works, and gives up if not; and until it works again, nobody else waits.  The host's timers may interrupt every wait: what
 * bounds them all is the clock.
 */
struct patience {
	int64_t until_ms;
	uint64_t heartbeats;
	bool is_stopped; /* it did not work while it was waited for, whether it does now or not */
};
static uint64_t stopped_at; /* beats of a recorder that was waited for in vain */

static struct patience start_patience(void)
{
	return (struct patience){ now_ms() + CHANNEL_WAIT_MS, log_heartbeats(), false };
}

bool channel_recorder_is_stopped(void)
{
	uint64_t at = __atomic_load_n(&stopped_at, __ATOMIC_RELAXED);

	return at && at == log_heartbeats();
}

/* Once it did not work, that is why the wait ended, also if it goes on right behind. */
static bool recorder_was_seen_stopped(struct patience *p)
{
	p->is_stopped |= channel_recorder_is_stopped();
	return p->is_stopped;
}

/* After each slice: wait on? */
static bool may_wait_longer(struct patience *p)
{
	uint64_t beats = log_heartbeats();

	if (now_ms() >= p->until_ms)
		return false;
	if (p->heartbeats && beats == p->heartbeats) {
		__atomic_store_n(&stopped_at, beats, __ATOMIC_RELAXED);
		p->is_stopped = true;
		return false;
	}
	p->heartbeats = beats;
	return true;
}

static int wait_for_answer(int fd)
{
	struct patience p = start_patience();
	struct pollfd wait = { fd, POLLIN, 0 };
	int ret;

	do {
		ret = sys_poll(&wait, 1, recorder_was_seen_stopped(&p) ? 0 : SLICE_MS);
	} while (ret == -EINTR || (ret == 0 && !recorder_was_seen_stopped(&p) && may_wait_longer(&p)));
	return ret > 0 ? 0 : ret < 0 ? ret : p.is_stopped ? -EAGAIN : -ETIMEDOUT;
}

static int connect_to_recorder(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct patience p = start_patience();
	size_t bytes = strlen(name);
	int fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK), ret, naps = 0;

	if (fd < 0)
		return fd;
	if (bytes > sizeof(a.sun_path) - 1)
		bytes = sizeof(a.sun_path) - 1;
	memcpy(a.sun_path + 1, name, bytes);
	for (;;) {
		ret = sys_connect(fd, &a, offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
		/* -EAGAIN: there is no place in the queue now */
		if (ret != -EAGAIN || recorder_was_seen_stopped(&p) || (++naps % SLICE_MS == 0 && !may_wait_longer(&p)))
			break;
		sys_sleep_ns(1000000);
	}
	if (ret == -EAGAIN && !p.is_stopped)
		ret = -ETIMEDOUT;
	if (ret == 0 && !is_trusted_peer(fd))
		ret = -EPERM;
	if (ret) {
		sys_close(fd);
		return ret;
	}
	return fd;
}

static int send_wire_message(int fd, struct wire_message *m, const int *fds, int nr)
{
	char control[CMSG_SPACE(WIRE_EVENTS_MAX * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	long n;

	m->magic = WIRE_MAGIC;
	m->version = LOG_VERSION;
	m->pid = sys_getpid();
	m->tid = sys_gettid();
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
		n = sys_sendmsg(fd, &h, MSG_NOSIGNAL);
	} while (n == -EINTR);
	return n == (long)sizeof(*m) ? 0 : n < 0 ? (int)n : -EPROTO;
}

/* *passed: the descriptor that came along, or -1.  -EPIPE: the connection was closed without an answer. */
static int receive_answer(int fd, struct wire_answer *a, int *passed)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { a, sizeof(*a) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	long n;
	int ret;

	*passed = -1;
	memset(a, 0, sizeof(*a));
	ret = wait_for_answer(fd);
	if (ret)
		return ret;
	do {
		n = sys_recvmsg(fd, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n == -EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(passed, CMSG_DATA(c), sizeof(int));
	if (n == 0 || n == -ECONNRESET)
		ret = -EPIPE;
	else if (n != (long)sizeof(*a) || a->magic != WIRE_MAGIC || a->version != LOG_VERSION)
		ret = -EPROTO;
	else
		ret = a->status;
	if (ret < 0 && *passed >= 0) {
		sys_close(*passed);
		*passed = -1;
	}
	return ret < 0 ? ret : 0;
}

/* The recorder waits for a message for a while only.  Who does not get to run meanwhile finds the connection closed, and tries again. */
static int exchange_with_recorder(const char *socket_name, struct wire_message *m, const int *fds, int nr, struct wire_answer *a,
				  int *passed)
{
	int ret = -EPIPE;

	for (int i = 0; i < TRIES && ret == -EPIPE; i++) {
		int fd = connect_to_recorder(socket_name);

		if (fd < 0)
			return fd;
		ret = send_wire_message(fd, m, fds, nr);
		if (ret == 0 || ret == -EPIPE) /* it may have refused us before we spoke */
			ret = receive_answer(fd, a, passed);
		sys_close(fd);
	}
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

/* Memory that somebody could cut would kill the host by SIGBUS. */
static int map_sealed_memory(int fd, size_t bytes, void **memory)
{
	int seals = sys_fcntl(fd, F_GET_SEALS, 0);
	long p;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || sys_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) < (long)bytes)
		return -EPROTO;
	p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (p < 0 && p > -4096)
		return (int)p;
	sys_madvise((void *)p, bytes, MADV_DONTDUMP);
	*memory = (void *)p;
	return 0;
}

int channel_send_hello(const char *socket, bool child, struct wire_answer *answer, struct log_head **log, uint64_t *log_bytes)
{
	struct wire_message m = { .request = WIRE_HELLO, .flags = child ? WIRE_FLAG_CHILD : 0 };
	void *memory = NULL;
	int fd, ret;

	m.log_bytes = wanted_log_bytes();
	ret = exchange_with_recorder(socket, &m, NULL, 0, answer, &fd);
	if (ret)
		return ret;
	if (fd < 0)
		return -EPROTO;
	if (answer->ring_bytes < LOG_RING_BYTES_MIN || answer->ring_bytes > 1ull << 40 || answer->ring_bytes % 4096 != 0)
		ret = -EPROTO;
	else
		ret = map_sealed_memory(fd, LOG_HEAD_BYTES + answer->ring_bytes, &memory);
	sys_close(fd);
	if (ret) {
		channel_report_stop(socket, -ret);
		return ret;
	}
	*log = memory;
	*log_bytes = answer->ring_bytes;
	return 0;
}

int channel_send_counters(const char *socket, const int *fds, int nr, int error)
{
	struct wire_message m = { .request = WIRE_COUNTER, .error = error };
	struct wire_answer a;
	int passed;

	return exchange_with_recorder(socket, &m, fds, nr, &a, &passed);
}

int channel_request_counter_memory(const char *socket, uint64_t bytes, unsigned char **base, uint32_t *number)
{
	struct wire_message m = { .request = WIRE_COUNTER_MEMORY, .log_bytes = bytes };
	struct wire_answer a;
	void *memory = NULL;
	int fd, ret = exchange_with_recorder(socket, &m, NULL, 0, &a, &fd);

	if (ret)
		return ret;
	if (fd < 0)
		return -EPROTO;
	ret = a.ring_bytes == bytes ? map_sealed_memory(fd, bytes, &memory) : -EPROTO;
	sys_close(fd);
	*base = memory;
	*number = a.reserved;
	return ret;
}

void channel_report_stop(const char *socket, int error)
{
	struct wire_message m = { .request = WIRE_STOP, .error = error };
	struct wire_answer a;
	int passed;

	exchange_with_recorder(socket, &m, NULL, 0, &a, &passed);
}
