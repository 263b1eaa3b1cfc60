/* SPDX-License-Identifier: MIT */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>

#define CHANNEL_WAIT_MS 5000 /* longest wait for a recorder that is busy */
#define SILENT_MS 80	     /* a wait ends after so many ms in which a recorder without heartbeats sleeps, or its state is unknown */
#define SLICE_MS 6	     /* length of a part of a wait, after which the recorder is checked; a stopped one holds a host up for <10 ms */
#define TRY_AGAIN_MS 10	     /* least time between two attempts of a process without a log; 20 times the last wait is added */
#define TRIES 20
#define STOPPED_SUFFIX "-stopped"
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

static socklen_t fill_address(struct sockaddr_un *a, const char *name, const char *suffix)
{
	size_t bytes = strlen(name), more = strlen(suffix), room = sizeof(a->sun_path) - 1;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	bytes = bytes < room ? bytes : room;
	more = more < room - bytes ? more : room - bytes;
	memcpy(a->sun_path + 1, name, bytes);
	memcpy(a->sun_path + 1 + bytes, suffix, more);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes + more);
}

/* Another process can listen under the name of a recorder that has ended, so only a peer of the same user or of root is trusted. *pid is 0
 * if the peer has no number in this process's PID namespace. */
static bool is_trusted_peer(int fd, pid_t *pid)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof(peer);

	if (sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	*pid = peer.pid;
	return peer.uid == 0 || peer.uid == sys_geteuid();
}

/* Returns the state letter of /proc/PID/stat, such as 'R' (running or runnable) or 'T' (stopped), or 0 if the state is not known. */
static char state_of_process(pid_t pid)
{
	char path[32] = "/proc/", digits[12], text[512], *end;
	int fd, nr = 0;
	long n = -1;

	for (pid_t left = pid; left > 0; left /= 10)
		digits[nr++] = (char)('0' + left % 10);
	if (!nr)
		return 0;
	for (char *at = path + strlen(path); nr >= 0; at++)
		*at = nr-- ? digits[nr] : 0;
	strcat(path, "/stat");
	fd = sys_open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = sys_call(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
		sys_close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')'); /* the process name ends here; the name may itself contain parentheses */
	return end && end[1] ? end[2] : 0;
}

/*
 * A stopped recorder must not hold up each process of a tree anew. A process that has waited without success, for CHANNEL_WAIT_MS or for a
 * recorder that does not run, binds a datagram socket to the recorder's name with "-stopped", and sends that socket to the recorder. The
 * socket stays in the queue of the connection until the recorder works again or is gone. While the name exists, no process waits, unless
 * heartbeats show that the recorder works.
 */
static bool is_known_to_be_stopped(const char *name)
{
	int fd = sys_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
	struct sockaddr_un a;
	bool exists;

	if (fd < 0)
		return false;
	exists = sys_connect(fd, &a, fill_address(&a, name, STOPPED_SUFFIX)) == 0;
	sys_close(fd);
	return exists;
}

static int send_wire_message(int fd, struct wire_message *m, const int *fds, int nr);

static void make_known_to_be_stopped(int connection, const char *name)
{
	struct wire_message m = { .request = 0 }; /* the recorder closes the connection without reading this second message */
	int fd = sys_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
	struct sockaddr_un a;

	if (fd < 0)
		return;
	if (sys_call(SYS_bind, fd, (long)&a, fill_address(&a, name, STOPPED_SUFFIX), 0, 0, 0) == 0)
		send_wire_message(connection, &m, &fd, 1);
	sys_close(fd);
}

/*
 * A stopped or starved recorder must not hold its host up. A thread that waits for the recorder checks every few milliseconds whether the
 * recorder works, and gives up if it does not. After that no thread of the process waits until the heartbeats go on, or until again_ms if
 * there are no heartbeats. The host's timers may interrupt every wait, so all waits are bounded by the clock.
 */
struct patience {
	int64_t begin_ms;
	int silent_ms; /* ms of slices after which the recorder was not running or runnable; counted only if there are no heartbeats */
	uint64_t heartbeats;
	pid_t recorder;
	bool is_stopped; /* the recorder was seen stopped during this wait, whether it works now or not */
};
static uint64_t stopped_at; /* heartbeats of the recorder when it was last found not to work */
static int64_t again_ms; /* earliest time of the next attempt, for a process without a log, which has no heartbeats */

static struct patience start_patience(pid_t recorder)
{
	return (struct patience){ now_ms(), 0, log_heartbeats(), recorder, false };
}

bool channel_recorder_is_stopped(void)
{
	uint64_t at = __atomic_load_n(&stopped_at, __ATOMIC_RELAXED), beats = log_heartbeats();
	int64_t again = __atomic_load_n(&again_ms, __ATOMIC_RELAXED);

	return beats ? at == beats : again && now_ms() < again;
}

static void note_stopped_recorder(int64_t waited_ms)
{
	__atomic_store_n(&stopped_at, log_heartbeats(), __ATOMIC_RELAXED);
	__atomic_store_n(&again_ms, now_ms() + TRY_AGAIN_MS + 20 * waited_ms, __ATOMIC_RELAXED);
}

/* Was the recorder seen stopped since this wait began?  *p remembers it, so the wait ends even if the recorder goes on right afterwards. */
static bool recorder_was_seen_stopped(struct patience *p)
{
	p->is_stopped |= channel_recorder_is_stopped();
	return p->is_stopped;
}

/* May the thread wait for another slice? If not, this notes that the recorder is stopped, so that other threads do not wait. */
static bool may_wait_longer(struct patience *p)
{
	uint64_t beats = log_heartbeats();
	int64_t waited_ms = now_ms() - p->begin_ms;
	char state;

	if (beats && beats != p->heartbeats && waited_ms < CHANNEL_WAIT_MS) {
		p->heartbeats = beats;
		return true;
	}
	if (!beats) {
		state = state_of_process(p->recorder);
		p->silent_ms += state == 'R' ? 0 : SLICE_MS;
		if (state != 'T' && state != 't' && p->silent_ms < SILENT_MS && waited_ms < CHANNEL_WAIT_MS)
			return true;
	}
	note_stopped_recorder(waited_ms);
	p->is_stopped = true;
	return false;
}

/* Waits until the connection can be read. Returns 0, -EAGAIN if the recorder does not answer in time, or another -errno. */
static int wait_for_answer(int fd, const char *name, pid_t recorder)
{
	struct patience p = start_patience(recorder);
	struct pollfd wait = { fd, POLLIN, 0 };
	int ret, nr_slices = 0;

	do {
		nr_slices += !recorder_was_seen_stopped(&p);
		ret = sys_poll(&wait, 1, recorder_was_seen_stopped(&p) ? 0 : SLICE_MS);
	} while (ret == -EINTR || (ret == 0 && !recorder_was_seen_stopped(&p) && may_wait_longer(&p)));
	if (ret == 0 && nr_slices) {
		guest_debug("the recorder did not answer in %d ms", nr_slices * SLICE_MS);
		if (state_of_process(recorder) != 'R' || now_ms() - p.begin_ms >= CHANNEL_WAIT_MS)
			make_known_to_be_stopped(fd, name);
	}
	return ret > 0 ? 0 : ret < 0 ? ret : -EAGAIN;
}

static int connect_to_recorder(const char *name, pid_t *recorder)
{
	struct sockaddr_un a;
	socklen_t bytes = fill_address(&a, name, "");
	struct patience p = start_patience(0);
	int fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK), ret, naps = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		ret = sys_connect(fd, &a, bytes);
		/* -EAGAIN means that the listen queue is full.  Without heartbeats there is no sign that a place becomes free soon. */
		if (ret != -EAGAIN || !p.heartbeats || recorder_was_seen_stopped(&p) ||
		    (++naps % SLICE_MS == 0 && !may_wait_longer(&p)))
			break;
		sys_sleep_ns(1000000);
	}
	if (ret == -EAGAIN)
		note_stopped_recorder(0);
	if (ret == 0 && !is_trusted_peer(fd, recorder))
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

/* Returns 0, or -errno, which may be the answer's.  *passed is the descriptor that came with the answer, which the caller closes, or -1.
 * -EPIPE means that the connection was closed without an answer. */
static int receive_answer(int fd, const char *name, pid_t recorder, struct wire_answer *a, int *passed)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { a, sizeof(*a) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	long n;
	int ret;

	*passed = -1;
	memset(a, 0, sizeof(*a));
	ret = wait_for_answer(fd, name, recorder);
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

/* The recorder waits only briefly for a message. A process that is not scheduled meanwhile finds the connection closed, and tries again, up
 * to TRIES times in all. -EHOSTDOWN means that another process has waited without success. A hello is not even sent then, but other
 * messages are, because the recorder reads them when it goes on. */
static int exchange_with_recorder(const char *socket_name, struct wire_message *m, const int *fds, int nr, struct wire_answer *a,
				  int *passed)
{
	bool is_stopped = is_known_to_be_stopped(socket_name);
	int ret = -EPIPE;

	if (is_stopped)
		note_stopped_recorder(0);
	if (is_stopped && m->request == WIRE_HELLO)
		return -EHOSTDOWN;
	for (int i = 0; i < TRIES && ret == -EPIPE; i++) {
		pid_t recorder = 0;
		int fd = connect_to_recorder(socket_name, &recorder);

		if (fd < 0)
			return fd;
		ret = send_wire_message(fd, m, fds, nr);
		if (ret == 0 || ret == -EPIPE) /* -EPIPE: the recorder may have answered before the message was sent */
			ret = receive_answer(fd, socket_name, recorder, a, passed);
		sys_close(fd);
	}
	return ret == -EAGAIN && is_stopped ? -EHOSTDOWN : ret;
}

/* The first number of /proc/self/statm is the size of the address space in pages. */
uint64_t guest_used_address_space(void)
{
	int fd = sys_open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t pages = 0;
	char text[64];
	long n = 0;

	if (fd >= 0) {
		n = sys_call(SYS_read, fd, (long)text, sizeof(text), 0, 0, 0);
		sys_close(fd);
	}
	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = 10 * pages + (uint64_t)(text[i] - '0');
	return pages * SYS_PAGE_BYTES;
}

/* Returns the size of the log to ask for, or 0 for the recorder's default. A process with an address space limit asks for 1/64 of what is
 * left below the limit, but at least LOG_RING_BYTES_MIN. */
static uint64_t wanted_log_bytes(void)
{
	uint64_t used, left;
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY)
		return 0;
	used = guest_used_address_space();
	left = r.rlim_cur > used ? r.rlim_cur - used : 0;
	return left / 64 > LOG_RING_BYTES_MIN ? left / 64 : LOG_RING_BYTES_MIN;
}

/* A shared file that another process could truncate would kill the host by SIGBUS, so only one that is sealed against shrinking is
 * mapped. */
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
