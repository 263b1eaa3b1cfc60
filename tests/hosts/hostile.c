/* SPDX-License-Identifier: MIT */
/*
 * A process that speaks the agent's protocol and means ill: hostile CASE.  It says hello to the recorder that TAILOR_SOCKET names, and
 * does to its log, and to the socket, what no agent would.  Works meanwhile, so that there are samples.  Says "ready" after ACTS of
 * that, goes on until its stdin ends, and then for as many more.
 */
#define _GNU_SOURCE
#include "protocol/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ACTS 100

static unsigned long random_state = 88172645463325252ul;

static unsigned long dice(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static int connect_to_it(void)
{
	const char *name = getenv("TAILOR_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (!name || strlen(name) > sizeof(a.sun_path) - 2)
		exit(3);
	memcpy(a.sun_path + 1, name, strlen(name));
	if (connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))))
		exit(4);
	return fd;
}

static int talk(struct wire_message *m, size_t bytes, const int *fds, int nr, struct wire_answer *answer)
{
	char control[CMSG_SPACE(64 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { m, bytes };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd = connect_to_it(), passed = -1;
	struct timeval limit = { 2, 0 };
	struct cmsghdr *c;

	if (nr) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE((size_t)nr * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nr * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)nr * sizeof(int));
	}
	if (sendmsg(fd, &h, MSG_NOSIGNAL) < 0) {
		close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	part = (struct iovec){ answer, sizeof(*answer) };
	h = (struct msghdr){ .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	if (recvmsg(fd, &h, MSG_CMSG_CLOEXEC) > 0 && (c = CMSG_FIRSTHDR(&h)) && c->cmsg_type == SCM_RIGHTS)
		memcpy(&passed, CMSG_DATA(c), sizeof(int));
	close(fd);
	return passed;
}

static struct log_head *hello(int *fd, uint64_t *bytes)
{
	struct wire_message m = { .magic = WIRE_MAGIC, .version = LOG_VERSION, .request = WIRE_HELLO, .pid = (uint32_t)getpid() };
	struct wire_answer a = { 0 };
	struct log_head *log;

	*fd = talk(&m, sizeof(m), NULL, 0, &a);
	*bytes = a.ring_bytes;
	log = *fd < 0 ? MAP_FAILED : mmap(NULL, LOG_HEAD_BYTES + a.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (log == MAP_FAILED)
		exit(5);
	return log;
}

static void forge_head(struct log_head *log)
{
	switch (dice() % 6) {
	case 0:
		log->reserved = dice();
		break;
	case 1:
		log->reserved = log->consumed + dice() % (1 << 20);
		break;
	case 2:
		log->consumed = dice();
		break;
	case 3:
		log->ring_bytes = dice();
		log->magic = 0;
		break;
	case 4:
		log->dropped_records = dice();
		log->guest_full = dice();
		break;
	default:
		log->reserved = log->consumed - 8;
	}
}

/* Frames that look published and lie about everything else. */
static void forge_frame(struct log_head *log, uint64_t ring_bytes)
{
	unsigned char *ring = (unsigned char *)log + LOG_HEAD_BYTES;
	uint64_t at = log->consumed & ~7ull, place = at % (ring_bytes - 4096);
	uint32_t size = (uint32_t)(dice() % 3 ? dice() % 4096 : dice()), id = (uint32_t)(dice() % 3 ? 64 + dice() % 26 : dice() % 5);

	for (unsigned i = 0; i < 512; i++)
		((uint64_t *)(void *)(ring + place))[i] = dice() % 3 ? dice() % 256 : dice();
	memcpy(ring + place + 8, &size, 4);
	memcpy(ring + place + 16, &id, 4);
	memcpy(ring + place + 20, &size, 4);
	memcpy(ring + place, &at, 8);
	log->reserved = at + ((size + 16 + 7) & ~7u);
}

/* Memory for execution counts, of any size, and blocks in it that lie about where they are, and how many. */
static void forge_counters(struct log_head *log, uint64_t ring_bytes)
{
	struct wire_message m = { .magic = WIRE_MAGIC, .version = LOG_VERSION, .request = WIRE_COUNTER_MEMORY, .pid = (uint32_t)getpid() };
	unsigned char *ring = (unsigned char *)log + LOG_HEAD_BYTES;
	const uint32_t entries = dice() % 4 ? dice() % 64 : (uint32_t)dice(), bytes = 16 + 32 + 32 * (entries % 64);
	uint64_t at = log->consumed & ~7ull, place = at % (ring_bytes - 4096);
	uint64_t block[6] = { dice() % 8, dice() % 4 ? dice() % 70000 : dice() };
	struct wire_answer a = { 0 };
	uint32_t head[4] = { bytes, 0, 86, bytes };
	int fd;

	m.log_bytes = dice() % 4 ? 4096 * (dice() % 20000) : dice();
	fd = dice() % 8 ? -1 : talk(&m, sizeof(m), NULL, 0, &a);
	if (fd >= 0) {
		uint64_t *counters = mmap(NULL, a.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (ftruncate(fd, 0) == 0)
			puts("counters can be cut");
		if (counters != MAP_FAILED) {
			for (int i = 0; i < 1000; i++)
				counters[dice() % (a.ring_bytes / 8)] = dice();
			munmap(counters, a.ring_bytes);
		}
		close(fd);
	}
	block[2] = dice() % 2 ? (dice() % 5) << 32 : dice(); /* flags, copies */
	block[3] = entries;
	memcpy(ring + place + 8, head, sizeof(head));
	memcpy(ring + place + 32, block, sizeof(block));
	memcpy(ring + place, &at, 8);
	log->reserved = at + ((bytes + 16 + 7) & ~7u);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "head";
	struct wire_message m = { .magic = WIRE_MAGIC, .version = LOG_VERSION };
	struct pollfd told = { STDIN_FILENO, POLLIN, 0 };
	struct wire_answer a;
	uint64_t bytes = 0;
	int acts = 0, more = ACTS, fd = -1, file = open("/proc/self/exe", O_RDONLY), pipes[2];
	struct log_head *log = hello(&fd, &bytes);

	if (pipe(pipes))
		return 6;
	if (strcmp(what, "shrink") == 0) /* sealed: it must not work */
		printf("shrunk %d grown %d\n", ftruncate(fd, 0) == 0, ftruncate(fd, 1 << 30) == 0);
	while (more > 0) {
		volatile unsigned long x = 0;

		if (++acts == ACTS) {
			puts("ready");
			fflush(stdout);
		}
		if (acts > ACTS && (more < ACTS || poll(&told, 1, 0)))
			more--;

		if (strcmp(what, "head") == 0)
			forge_head(log);
		else if (strcmp(what, "frames") == 0)
			forge_frame(log, bytes);
		else if (strcmp(what, "counters") == 0)
			forge_counters(log, bytes);
		else if (strcmp(what, "bytes") == 0)
			for (int i = 0; i < 4096; i++)
				((unsigned char *)log)[dice() % (LOG_HEAD_BYTES + bytes)] = (unsigned char)dice();
		else if (strcmp(what, "messages") == 0) {
			int fds[4] = { file, fd, pipes[0], pipes[1] };

			m.request = (uint32_t)dice() % 6;
			m.nr_fds = (uint32_t)dice() % 20;
			m.tid = (uint32_t)dice();
			m.error = (int32_t)dice();
			m.log_bytes = dice();
			m.version = dice() % 4 ? LOG_VERSION : (uint32_t)dice();
			memset(m.guest_version, 'x', sizeof(m.guest_version));
			fd = talk(&m, dice() % 4 ? sizeof(m) : 1 + dice() % sizeof(m), fds, (int)(dice() % 5), &a);
			if (fd >= 0)
				close(fd);
		}
		for (int i = 0; i < 200000; i++)
			x += (unsigned long)i;
	}
	puts("done");
	return 0;
}
