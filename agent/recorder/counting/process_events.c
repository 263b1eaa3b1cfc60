/* SPDX-License-Identifier: MIT */
#include "agent/recorder/counting/process_events.h"

#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/ring.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (64u << 10) /* room for a thousand names on each processor */
#define RING_BYTES_LEAST 4096u
#define SOCKET_BYTES (1 << 20)
#define ANSWER_MS 200 /* longest time to wait for a message if the answer has not come, which the kernel sends during send(2), or never */
#define COMM_BYTES 16

struct process_events {
	enum process_events_source source;
	struct record_layout layout;
	struct ring *ring; /* one per processor */
	size_t nr;
	int socket;
	uint32_t port; /* the socket's netlink port, which identifies it in its network namespace */
	/* process_events_drain() sets these members for its callbacks. */
	void (*each)(void *context, const struct process_event *p);
	void *context;
	bool lost;
};

/* ------------------------------------------------------------------------------------------------------ perf's records */

static int open_ring(struct process_events *e, const struct perf_event_attr *a, int cpu)
{
	int fd = event_open(a, -1, cpu, 0), ret;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno; /* ENODEV means that the processor is offline */
	ret = ring_open(&e->ring[e->nr], fd, RING_BYTES, RING_BYTES_LEAST);
	if (ret)
		close(fd);
	else
		e->nr++;
	return ret;
}

static void close_rings(struct process_events *e)
{
	for (size_t i = 0; i < e->nr; i++)
		ring_close(&e->ring[i]);
	free(e->ring);
	e->ring = NULL;
	e->nr = 0;
}

static int open_perf(struct process_events *e)
{
	const struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1, .exclude_hv = 1,
		.comm = 1, .comm_exec = 1, .sample_id_all = 1, .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC, .watermark = 1, .wakeup_watermark = 1,
	};
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF), ret = record_layout(&a, &e->layout);

	e->source = PROCESS_EVENTS_PERF;
	e->ring = calloc((size_t)nr_cpus, sizeof(*e->ring));
	if (!e->ring)
		return -ENOMEM;
	for (int cpu = 0; cpu < nr_cpus && ret == 0; cpu++)
		ret = open_ring(e, &a, cpu);
	if (ret == 0 && e->nr == 0)
		ret = -ENODEV;
	if (ret)
		close_rings(e); /* with some processors only, the caller would not know that it misses events of the others */
	return ret;
}

static void take_record(void *events, const struct perf_event_header *h)
{
	struct process_events *e = events;
	struct kernel_record r;
	char name[COMM_BYTES + 1];

	if (kernel_record(&e->layout, h, &r))
		return;
	if (h->type == PERF_RECORD_LOST)
		e->lost = true;
	/* Names of threads other than a process's first are left out, and so are processes outside of the recorder's PID namespace, whose
	 * number is 0 here. */
	if (h->type != PERF_RECORD_COMM || r.comm.pid != r.comm.tid || (pid_t)r.comm.pid <= 0 || r.comm.bytes > COMM_BYTES)
		return;
	memcpy(name, r.comm.name, r.comm.bytes);
	name[r.comm.bytes] = 0;
	e->each(e->context, &(struct process_event){ (pid_t)r.comm.pid, r.comm.exec, name, r.id.time_ns });
}

/* -------------------------------------------------------------------------------------------------- the proc connector */

/* This message asks for some kinds of events only, since Linux 6.6. Older kernels ignore the kinds. */
struct proc_input_filter {
	uint32_t operation, kinds;
};

/* Sends a question to the kernel, which sends its answer to all listeners.  The answer acknowledges the question's number plus one.  The
 * socket's port is that number, so that each listener knows its own answer. */
static int ask_connector(const struct process_events *e, const void *words, uint16_t bytes)
{
	union {
		struct nlmsghdr head;
		char text[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(struct proc_input_filter))];
	} m = { .head = { .nlmsg_type = NLMSG_DONE, .nlmsg_len = (uint32_t)NLMSG_LENGTH(sizeof(struct cn_msg) + bytes) } };
	struct cn_msg c = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .ack = e->port, .len = bytes };

	memcpy(NLMSG_DATA(&m.head), &c, sizeof(c));
	memcpy((char *)NLMSG_DATA(&m.head) + sizeof(c), words, bytes);
	return send(e->socket, &m, m.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Receives a message. Returns 1 for an event from the kernel, whose *ack is the number that it acknowledges, 0 if no message has come or
 * none can be received, and -1 if the caller should try again since the message was not an event from the kernel, a signal came, or
 * messages were lost. */
static int receive_event(struct process_events *e, struct proc_event *out, uint32_t *ack)
{
	union {
		struct nlmsghdr head;
		char text[4096];
	} m;
	struct sockaddr_nl from = { 0 };
	socklen_t from_bytes = sizeof(from);
	ssize_t n = recvfrom(e->socket, &m, sizeof(m), MSG_DONTWAIT, (struct sockaddr *)&from, &from_bytes);
	const size_t before = NLMSG_HDRLEN + sizeof(struct cn_msg);
	struct cn_msg c;

	if (n < 0 && errno == ENOBUFS)
		e->lost = true;
	if (n < 0)
		return errno == ENOBUFS || errno == EINTR ? -1 : 0;
	if (from.nl_pid != 0 || (size_t)n <= before)
		return -1;
	memcpy(&c, NLMSG_DATA(&m.head), sizeof(c));
	*ack = c.ack;
	memset(out, 0, sizeof(*out));
	memcpy(out, m.text + before, (size_t)n - before < sizeof(*out) ? (size_t)n - before : sizeof(*out));
	return 1;
}

/* Waits for the kernel's answer.  Returns 0 if events will come, else -errno (-ENOTSUP: there was no answer).  Outside of the first
 * namespaces the kernel does not answer.  Events come there too, but with numbers of other processes, so the connector is not used. */
static int wait_for_answer(struct process_events *e)
{
	struct pollfd wait = { e->socket, POLLIN, 0 };
	const uint64_t end_ns = clock_now_ns() + ANSWER_MS * 1000000ull;
	struct proc_event p;
	uint32_t ack;

	while (clock_now_ns() < end_ns && poll(&wait, 1, ANSWER_MS) == 1)
		for (int ret; (ret = receive_event(e, &p, &ack)) != 0;)
			if (ret > 0 && p.what == PROC_EVENT_NONE && ack == e->port + 1)
				return -(int)p.event_data.ack.err;
	return -ENOTSUP;
}

static int open_connector(struct process_events *e)
{
	const struct proc_input_filter filter = { PROC_CN_MCAST_LISTEN, PROC_EVENT_EXEC | PROC_EVENT_COMM };
	struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	socklen_t own_bytes = sizeof(own);
	const int bytes = SOCKET_BYTES;
	int ret;

	e->source = PROCESS_EVENTS_CONNECTOR;
	e->socket = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	if (e->socket < 0)
		return -errno;
	if (setsockopt(e->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(e->socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	ret = bind(e->socket, (struct sockaddr *)&own, sizeof(own)) ? -errno : 0;
	if (ret == 0)
		ret = getsockname(e->socket, (struct sockaddr *)&own, &own_bytes) ? -errno : 0;
	e->port = own.nl_pid;
	if (ret == 0)
		ret = ask_connector(e, &filter.operation, sizeof(filter.operation));
	if (ret == 0)
		ret = wait_for_answer(e);
	if (ret == 0)
		ask_connector(e, &filter, sizeof(filter));
	if (ret)
		close(e->socket);
	return ret;
}

static void drain_connector(struct process_events *e)
{
	struct proc_event p;
	char name[COMM_BYTES + 1];
	uint32_t ack;

	for (int ret; (ret = receive_event(e, &p, &ack)) != 0;) {
		bool comm = p.what == PROC_EVENT_COMM;

		if (ret < 0 || !(p.what == PROC_EVENT_EXEC || (comm && p.event_data.comm.process_pid == p.event_data.comm.process_tgid)))
			continue;
		memcpy(name, p.event_data.comm.comm, COMM_BYTES);
		name[COMM_BYTES] = 0;
		e->each(e->context, &(struct process_event){ comm ? p.event_data.comm.process_tgid : p.event_data.exec.process_tgid, !comm,
							     comm ? name : NULL, p.timestamp_ns });
	}
}

/* ---------------------------------------------------------------------------------------------------------------- both sources */

int process_events_open(struct process_events **out)
{
	struct process_events *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return -ENOMEM;
	e->socket = -1;
	ret = open_perf(e);
	if (ret && open_connector(e) == 0)
		ret = 0;
	if (ret)
		free(e);
	else
		*out = e;
	return ret;
}

void process_events_close(struct process_events *e)
{
	if (!e)
		return;
	close_rings(e);
	if (e->source == PROCESS_EVENTS_CONNECTOR)
		close(e->socket);
	free(e);
}

enum process_events_source process_events_source(const struct process_events *e)
{
	return e->source;
}

size_t process_events_nr(const struct process_events *e)
{
	return e->source == PROCESS_EVENTS_PERF ? e->nr : 1;
}

void process_events_fill_poll(const struct process_events *e, struct pollfd *to)
{
	if (e->source == PROCESS_EVENTS_CONNECTOR)
		to[0] = (struct pollfd){ e->socket, POLLIN, 0 };
	for (size_t i = 0; i < e->nr; i++)
		to[i] = (struct pollfd){ e->ring[i].fd, POLLIN, 0 };
}

bool process_events_drain(struct process_events *e, void (*each)(void *context, const struct process_event *p), void *context)
{
	e->each = each;
	e->context = context;
	e->lost = false;
	if (e->source == PROCESS_EVENTS_CONNECTOR)
		drain_connector(e);
	for (size_t i = 0; i < e->nr; i++)
		if (ring_drain(&e->ring[i], take_record, e))
			e->lost = true;
	return e->lost;
}
