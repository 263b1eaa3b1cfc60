/* SPDX-License-Identifier: MIT */
/*
 * This file implements HotSpot's attach protocol (attachListener_linux.cpp). A file .attach_pidN in /tmp and SIGQUIT make the JVM listen on
 * the socket .java_pidN there. A request is a version and four texts, each ended by 0. The answer begins with a number, 0 for success.
 *
 * SIGQUIT has another meaning where the mechanism is disabled (a thread dump on the host's output) and where the JVM does not handle it
 * (the end of the process).  So it is sent only if the JVM's own memory and /proc show that neither is so, and not if the JVM listens
 * already.
 */
#include "agent/recorder/hotspot/hotspot.h"

#include "agent/recorder/hotspot/internal.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/confine/steward.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAJOR_LEAST 17
#define ANSWER_MS 10000 /* jcmd waits as long */
#define NAP_MS 10
#define ANSWER_BYTES 256
#define NAME_BYTES 64

static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0"; /* the literal's own 0 ends the last text */

struct patience {
	bool (*meanwhile)(void *context); /* returns false if the wait is to end */
	void *context;
	int64_t until_ms;
	bool is_cut;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits a moment for events.  Returns false if the deadline has passed, or if meanwhile() ends the wait. */
static bool poll_until_deadline(struct patience *p, int fd, short events)
{
	struct pollfd wait = { fd, events, 0 };

	poll(&wait, fd >= 0, NAP_MS);
	p->is_cut = !p->meanwhile(p->context);
	return !p->is_cut && now_ms() < p->until_ms;
}

static int fail_unanswered(const struct patience *p, const char *what, struct diag *d)
{
	return p->is_cut ? diag_fail(d, EINTR, "%s before a signal came", what) :
			   diag_fail(d, ETIMEDOUT, "%s within %d s", what, ANSWER_MS / 1000);
}

static int find_libjvm_mapping(void *context, const struct proc_mapping *m)
{
	struct hotspot *h = context;
	const char *name = strrchr(m->path, '/');

	if (!name || strcmp(name, "/libjvm.so") != 0 || m->offset)
		return 0;
	h->library = m->start;
	return 1;
}

bool hotspot_find(struct hotspot *h, const struct attach_target *t)
{
	char path[64];
	struct stat st;
	int root;

	*h = (struct hotspot){ .pid = t->pid, .living = t->living, .own_pid = t->own_pid, .pidfd = -1, .tmp_fd = -1 };
	if (proc_each_mapping(t->living, find_libjvm_mapping, h) != 1)
		return false;
	h->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d", (int)t->living);
	if (stat(path, &st) == 0) {
		h->uid = st.st_uid;
		h->gid = st.st_gid;
	}
	snprintf(path, sizeof(path), "/proc/%d/root", (int)t->living);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) { /* a link is not followed, because it could lead out of this root */
		h->tmp_fd = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(root);
	}
	return true;
}

bool hotspot_has_names_of_its_own(const struct hotspot *h)
{
	struct hotspot_variables v;

	return hotspot_read_variables(h->living, h->library, &v) == 0 && v.has_jvmci;
}

static void format_pid_file_name(const struct hotspot *h, const char *format, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, format, (int)h->own_pid);
}

/* Returns 0 if /tmp has a file of this name and kind, of the JVM's user or of root, and else -errno (-EPERM: the file is of another kind or
 * user). */
static int check_tmp_file(const struct hotspot *h, const char *name, mode_t kind)
{
	struct stat st;

	if (fstatat(h->tmp_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return (st.st_mode & S_IFMT) == kind && (st.st_uid == h->uid || st.st_uid == 0) ? 0 : -EPERM;
}

/* Returns 0, or -errno with a reason not to ask the JVM.  Nothing is changed by that. */
static int check_jvm_accepts_attach(struct hotspot *h, struct diag *d)
{
	char path[64], text[64], socket_name[NAME_BYTES];
	struct hotspot_variables v;

	format_pid_file_name(h, ".java_pid%d", socket_name);
	if (h->pidfd < 0 || h->tmp_fd < 0)
		return diag_fail(d, ENOENT, "its /tmp is not accessible");
	if (geteuid() != 0 && geteuid() != h->uid)
		return diag_fail(d, EPERM, "it belongs to another user");
	if (hotspot_read_variables(h->living, h->library, &v))
		return diag_fail(d, ENOTSUP, "its flags cannot be read");
	if (v.major < MAJOR_LEAST)
		return diag_fail(d, ENOTSUP, "Compiler.perfmap needs Java %d or later", MAJOR_LEAST);
	if (v.attach_disabled)
		return diag_fail(d, ENOTSUP, "-XX:+DisableAttachMechanism");
	if (v.signals_reduced && check_tmp_file(h, socket_name, S_IFSOCK)) /* a JVM with -Xrs can listen from its start */
		return diag_fail(d, ENOTSUP, "-Xrs");
	snprintf(path, sizeof(path), "/proc/%d/status", (int)h->living);
	proc_read_value(path, "State:", text, sizeof(text));
	if (*text == 'T' || *text == 't')
		return diag_fail(d, EBUSY, "it is stopped");
	return 0;
}

static bool jvm_handles_sigquit(const struct hotspot *h)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)h->living);
	proc_read_value(path, "SigCgt:", text, sizeof(text));
	return strtoull(text, NULL, 16) >> (SIGQUIT - 1) & 1;
}

/* Makes the JVM listen on its socket.  Returns 0, or -errno with the reason as a phrase.  If it does not listen in time, the trigger file
 * stays, since a JVM that handles the signal later and finds no such file would print a thread dump. */
static int make_jvm_listen(const struct hotspot *h, struct patience *p, struct diag *d)
{
	char trigger[NAME_BYTES], socket_name[NAME_BYTES];
	bool is_ours;
	int ret;

	format_pid_file_name(h, ".attach_pid%d", trigger);
	format_pid_file_name(h, ".java_pid%d", socket_name);
	if (!jvm_handles_sigquit(h))
		return diag_fail(d, ENOTSUP, "it does not handle SIGQUIT");
	is_ours = steward_create_trigger(h->tmp_fd, trigger, h->uid, h->gid) == 0;
	if (!is_ours && errno == EPERM)
		return diag_fail(d, EPERM, "/tmp/%s cannot be given to its user", trigger);
	if (!is_ours && (errno != EEXIST || check_tmp_file(h, trigger, S_IFREG)))
		return diag_fail(d, EACCES, "/tmp/%s cannot be created", trigger);
	if (syscall(SYS_pidfd_send_signal, h->pidfd, SIGQUIT, NULL, 0)) {
		ret = errno;
		if (is_ours)
			steward_remove(h->tmp_fd, trigger);
		return diag_fail(d, ret, "SIGQUIT cannot be sent: %s", strerror(ret));
	}
	do {
		ret = check_tmp_file(h, socket_name, S_IFSOCK);
	} while (ret == -ENOENT && poll_until_deadline(p, -1, 0));
	if (ret == -ENOENT)
		return fail_unanswered(p, "it did not listen", d);
	if (is_ours)
		steward_remove(h->tmp_fd, trigger);
	return ret ? diag_fail(d, EPERM, "its socket belongs to another user") : 0;
}

/* Connects to the JVM's socket.  Returns a descriptor, or -errno with the reason as a phrase. */
static int connect_to_jvm(const struct hotspot *h, struct diag *d)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);
	char name[NAME_BYTES];
	int fd;

	format_pid_file_name(h, ".java_pid%d", name);
	fd = steward_connect(h->tmp_fd, name);
	if (fd < 0)
		return diag_fail(d, errno, "its socket /tmp/%s: %s", name, strerror(errno));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) || peer.pid != h->pid) {
		close(fd);
		return diag_fail(d, EPERM, "another process listens on /tmp/%s", name);
	}
	return fd;
}

/* Sends the request, and waits for the end of the answer.  Returns 0, or -errno with the reason as a phrase. */
static int request_perf_map(int fd, struct patience *p, struct diag *d)
{
	char answer[ANSWER_BYTES], scratch[ANSWER_BYTES], *line;
	size_t nr = 0;
	ssize_t n;

	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return diag_fail(d, EPIPE, "it does not take the request");
	for (;;) {
		bool is_full = nr == sizeof(answer) - 1;

		n = recv(fd, is_full ? scratch : answer + nr, is_full ? sizeof(scratch) : sizeof(answer) - 1 - nr, 0);
		if (n == 0)
			break;
		if (n > 0 && !is_full)
			nr += (size_t)n;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return diag_fail(d, errno, "its answer: %s", strerror(errno));
		if (!poll_until_deadline(p, fd, POLLIN))
			return fail_unanswered(p, "it did not answer", d);
	}
	answer[nr] = 0;
	if (nr >= 2 && answer[0] == '0' && answer[1] == '\n')
		return 0;
	line = strchr(answer, '\n');
	line = line ? line + 1 : answer;
	line[strcspn(line, "\n")] = 0;
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return diag_fail(d, EPROTO, "it refused%s%s", *line ? ": " : "", line);
}

/* Fails if the file of the perf map is not a regular one of the JVM's user, or if the process itself may have written it, because the JVM
 * would overwrite it.  The map of an earlier process with that number is no loss. */
static int check_existing_perf_map(const struct hotspot *h, const char *map, struct diag *d)
{
	struct proc_mem_identity identity = proc_mem_identify(h->pid);
	struct stat st;

	if (fstatat(h->tmp_fd, map, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : diag_fail(d, errno, "/tmp/%s: %s", map, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != h->uid)
		return diag_fail(d, EPERM, "/tmp/%s is not a file of its user", map);
	if (proc_mem_may_have_written(&identity, &st))
		return diag_fail(d, EEXIST, "/tmp/%s exists, and is used as it is; remove it to get a new one", map);
	return 0;
}

int hotspot_write_perf_map(struct hotspot *h, bool (*meanwhile)(void *context), void *context, struct diag *d)
{
	struct patience p = { meanwhile, context, now_ms() + ANSWER_MS, false };
	char map[NAME_BYTES], name[NAME_BYTES];
	int fd, ret = check_jvm_accepts_attach(h, d);

	if (ret)
		return ret;
	format_pid_file_name(h, "perf-%d.map", map);
	if (h->has_map) /* without it, the new map is another file, which the recorder reads from its beginning */
		steward_remove(h->tmp_fd, map);
	h->has_map = false;
	ret = check_existing_perf_map(h, map, d);
	if (ret)
		return ret;
	format_pid_file_name(h, ".java_pid%d", name);
	ret = check_tmp_file(h, name, S_IFSOCK);
	if (ret && ret != -ENOENT)
		return diag_fail(d, -ret, "/tmp/%s is not a socket of its user", name);
	if (ret)
		ret = make_jvm_listen(h, &p, d);
	if (ret)
		return ret;
	fd = connect_to_jvm(h, d);
	if (fd < 0)
		return fd;
	ret = request_perf_map(fd, &p, d);
	close(fd);
	if (ret)
		return ret;
	h->has_map = check_tmp_file(h, map, S_IFREG) == 0;
	return h->has_map ? 0 : diag_fail(d, ENOENT, "it wrote no /tmp/%s", map);
}

void hotspot_close(struct hotspot *h)
{
	char map[NAME_BYTES];

	format_pid_file_name(h, "perf-%d.map", map);
	if (h->has_map && check_tmp_file(h, map, S_IFREG) == 0)
		steward_remove(h->tmp_fd, map);
	if (h->pidfd >= 0)
		close(h->pidfd);
	if (h->tmp_fd >= 0)
		close(h->tmp_fd);
	h->pidfd = h->tmp_fd = -1;
	h->has_map = false;
}
