/* SPDX-License-Identifier: MIT */
#include "session.h"

#include "handshake.h"
#include "images.h"
#include "log_drain.h"
#include "ring.h"
#include "samples.h"
#include "trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_MS 10
#define FLUSH_NS 200000000ull /* a recorder that is killed loses at most this */
#define CPU_RING_BYTES (4u << 20)
#define THREAD_RING_BYTES (512u << 10)
#define THREAD_RINGS_BYTES (256u << 20) /* of all of them together, down to RING_BYTES_MIN each */
#define RING_BYTES_MIN (16u << 10)
#define NAME_BYTES 64

struct guest {
	struct log_drain log;
	uint32_t pid;
	int pidfd; /* -1: the kernel has none */
	bool ended;
};

#define LOSS_INDEX_(NAME, text, sentence) LOSS_##NAME,
enum loss { LOSS_REASONS(LOSS_INDEX_) NR_LOSSES };
#undef LOSS_INDEX_
#define LOSS_TEXT_(NAME, text, sentence) text,
static const char *const loss_texts[] = { LOSS_REASONS(LOSS_TEXT_) };
#undef LOSS_TEXT_

struct session {
	struct session_options options;
	struct event event;
	struct trace_writer *writer;
	struct samples *samples;
	struct images *images;
	struct ring *ring;
	size_t nr_rings, rings_capacity;
	struct guest *guest;
	size_t nr_guests, guests_capacity;
	struct pollfd *poll; /* socket, signals, then a ring each */
	size_t poll_capacity;
	int socket, signals;
	char socket_name[NAME_BYTES];
	uint64_t loss[NR_LOSSES];
	uint64_t nr_samples, nr_processes, begin_ns, last_flush_ns;
	pid_t root;
	bool was_counting; /* a ring was had at some time */
	bool root_ended;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_text(struct session *s, const char *text)
{
	trace_record_text(s->writer, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------- the first records */

static void write_header(struct session *s)
{
	struct trace_writer *w = s->writer;
	struct timespec real;
	struct utsname u = { 0 };
	char cwd[4096] = "";
	size_t nr = 0;

	uname(&u);
	clock_gettime(CLOCK_REALTIME, &real);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	while (s->options.command && s->options.command[nr])
		nr++;
	trace_record_begin(w, TRACE_CHUNK_RECORDS, TRACE_HEADER, now_ns(), 0, 0, F_COUNT(header));
	trace_record_u64(w, TRACE_FORMAT_VERSION);
	put_text(s, "tailor " TAILOR_VERSION);
	trace_record_u64(w, (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec);
	put_text(s, u.nodename);
	put_text(s, u.machine);
	put_text(s, u.release);
	trace_record_u64(w, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	put_text(s, cwd);
	trace_record_array(w, nr);
	for (size_t i = 0; i < nr; i++) {
		trace_record_array(w, 1);
		put_text(s, s->options.command[i]);
	}
	trace_record_end(w);
}

static void write_event(struct session *s)
{
	const struct perf_event_attr *a = &s->event.attr;
	struct trace_writer *w = s->writer;

	trace_record_begin(w, TRACE_CHUNK_RECORDS, TRACE_EVENT, now_ns(), 0, 0, F_COUNT(event));
	trace_record_u64(w, 0);
	put_text(s, s->event.name);
	put_text(s, s->event.unit);
	trace_record_u64(w, a->type);
	trace_record_u64(w, a->config);
	trace_record_u64(w, a->freq ? 0 : a->sample_period);
	trace_record_u64(w, a->freq ? a->sample_freq : 0);
	trace_record_u64(w, a->precise_ip);
	trace_record_u64(w, a->exclude_kernel);
	trace_record_u64(w, a->sample_regs_user);
	trace_record_u64(w, a->sample_stack_user);
	put_text(s, s->options.scope_thread ? "thread" : "cpu");
	trace_record_end(w);
}

void session_notice(struct session *s, const char *kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_NOTICE, now_ns(), 0, 0, F_COUNT(notice));
	put_text(s, kind);
	put_text(s, text);
	trace_record_end(s->writer);
	if (!s->options.quiet)
		fprintf(stderr, "%s: %s\n", program_invocation_name, text);
}

static void told_rung(void *context, const char *sentence)
{
	session_notice(context, "ladder", "%s", sentence);
}

/* A process that existed before we heard of it. */
static void write_process(struct session *s, pid_t pid, bool before_exec)
{
	char path[64], text[4096], comm[64] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, comm, sizeof(comm) - 1);
	comm[n > 0 ? n - 1 : 0] = 0;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = before_exec ? 0 : readlink(path, text, sizeof(text)); /* until its exec it is ourselves */
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_PROCESS, now_ns(), (uint32_t)pid, (uint32_t)pid,
			   F_COUNT(process));
	trace_record_u64(s->writer, 0);
	trace_record_text(s->writer, text, n > 0 ? (size_t)n : 0);
	put_text(s, comm);
	trace_record_end(s->writer);
	s->nr_processes++;
}

/* ---------------------------------------------------------------------------------------------------- open, close */

/* Limits that the user's shell set for the host hit us alike: as far as we may, lift them for ourselves. */
void session_lift_limits(void)
{
	static const int limits[] = { RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE };
	struct rlimit r;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (getrlimit(limits[i], &r) == 0 && r.rlim_cur != r.rlim_max) {
			r.rlim_cur = r.rlim_max;
			setrlimit(limits[i], &r);
		}
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is EFBIG, not death */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

int session_open(const struct session_options *o, struct session **out, struct diag *d)
{
	struct session *s = calloc(1, sizeof(*s));
	uint64_t random = 0;
	sigset_t mask;
	int ret;

	if (!s)
		return diag_fail(d, ENOMEM, "no memory for a session");
	s->options = *o;
	s->socket = s->signals = -1;
	s->begin_ns = s->last_flush_ns = now_ns();
	ret = trace_writer_open(o->output, &s->writer, d);
	if (ret) {
		free(s);
		return ret;
	}
	write_header(s);
	ret = event_choose(&o->event, &s->event, told_rung, s, d);
	if (ret)
		goto fail;
	write_event(s);
	trace_writer_flush_all(s->writer); /* who reads the file finds these first */
	ret = images_create(&s->images);
	if (ret == 0)
		ret = samples_create(0, &s->event.attr, &s->samples);
	if (ret) {
		diag_fail(d, -ret, "no memory for samples");
		goto fail;
	}
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = now_ns();
	snprintf(s->socket_name, sizeof(s->socket_name), "tailor-%d-%016llx", getpid(), (unsigned long long)random);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	*out = s;
	return 0;
fail:
	session_abandon(s);
	return ret;
}

const char *session_socket_name(const struct session *s)
{
	return s->socket_name;
}

int session_listen(struct session *s, const char *name, struct diag *d)
{
	if (name)
		snprintf(s->socket_name, sizeof(s->socket_name), "%s", name);
	s->socket = handshake_listen(s->socket_name, d);
	return s->socket < 0 ? s->socket : 0;
}

static void session_free(struct session *s)
{
	for (size_t i = 0; i < s->nr_rings; i++)
		ring_close(&s->ring[i]);
	for (size_t i = 0; i < s->nr_guests; i++) {
		log_drain_close(&s->guest[i].log);
		if (s->guest[i].pidfd >= 0)
			close(s->guest[i].pidfd);
	}
	if (s->socket >= 0)
		close(s->socket);
	if (s->signals >= 0)
		close(s->signals);
	if (s->images)
		images_destroy(s->images);
	samples_destroy(s->samples);
	free(s->ring);
	free(s->guest);
	free(s->poll);
	free(s);
}

void session_abandon(struct session *s)
{
	trace_writer_close(s->writer);
	unlink(s->options.output);
	session_free(s);
}

/* -------------------------------------------------------------------------------------------------------- counting */

static int add_ring(struct session *s, int fd, size_t bytes)
{
	int ret;

	if (s->nr_rings == s->rings_capacity) {
		size_t capacity = s->rings_capacity ? 2 * s->rings_capacity : 16;
		struct ring *bigger = realloc(s->ring, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		s->ring = bigger;
		s->rings_capacity = capacity;
	}
	ret = ring_open(&s->ring[s->nr_rings], fd, bytes, RING_BYTES_MIN);
	if (ret == 0) {
		s->nr_rings++;
		s->was_counting = true;
	}
	return ret;
}

/* Executable mappings that exist already. */
static void write_maps(struct session *s, pid_t pid)
{
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long start, end, offset;
		char prot[8];
		int at = 0;
		size_t bytes;

		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, prot, &offset, &at) < 4 || prot[2] != 'x')
			continue;
		bytes = strcspn(line + at, "\n");
		images_map(s->images, (uint32_t)pid, start, end - start, line + at, bytes);
		trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, now_ns(), (uint32_t)pid, (uint32_t)pid,
				   F_COUNT(mmap));
		trace_record_u64(s->writer, start);
		trace_record_u64(s->writer, end - start);
		trace_record_u64(s->writer, offset);
		trace_record_u64(s->writer, (prot[0] == 'r' ? 1 : 0) | (prot[1] == 'w' ? 2 : 0) | 4);
		trace_record_text(s->writer, line + at, bytes);
		trace_record_bytes(s->writer, "", 0);
		trace_record_end(s->writer);
	}
	if (f)
		fclose(f);
}

int session_count(struct session *s, pid_t pid, bool on_exec, struct diag *d)
{
	struct perf_event_attr a = s->event.attr;
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF), opened = 0, error = ENODEV;

	s->root = pid;
	write_process(s, pid, on_exec);
	if (!on_exec)
		write_maps(s, pid);
	if (s->options.scope_thread)
		return 0; /* the guest's threads come with their own */
	a.inherit = 1;
	a.enable_on_exec = on_exec;
	a.watermark = 1;
	a.wakeup_watermark = CPU_RING_BYTES / 2;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = event_open(&a, pid, cpu, 0), ret;

		if (fd < 0) {
			if (errno != ENODEV) /* a CPU that is offline */
				error = errno;
			continue;
		}
		ret = add_ring(s, fd, CPU_RING_BYTES);
		if (ret) {
			error = -ret;
			close(fd);
			continue;
		}
		if (!on_exec)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		opened++;
	}
	if (!opened)
		return diag_fail(d, error, "%s cannot be counted for process %d: %s", s->event.name, (int)pid, strerror(error));
	return 0;
}

/* ------------------------------------------------------------------------------------------- records of the rings */

/* Behind the body of all records but SAMPLE: pid, tid, time, cpu (attr.sample_id_all). */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

static void flush_samples(struct session *s)
{
	uint32_t nr = samples_flush(s->samples, s->writer);

	if (trace_writer_error(s->writer))
		s->loss[LOSS_WRITE] += nr;
	else
		s->nr_samples += nr;
}

static void on_sample(struct session *s, const struct perf_event_header *h)
{
	struct sample_seen seen;

	if (samples_full(s->samples))
		flush_samples(s);
	if (samples_add(s->samples, h, &seen))
		s->loss[LOSS_RING_BAD]++;
	else
		images_sample(s->images, &seen);
}

static void on_mmap2(struct session *s, const struct perf_event_header *h, const struct sample_id *id)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, bytes, offset;
		unsigned char who[24]; /* device and inode, or size and build id */
		uint32_t prot, flags;
	} m;
	const char *path = (const char *)h + sizeof(m);
	size_t path_bytes, build_id_bytes = 0;

	memcpy(&m, h, sizeof(m));
	if (!(m.prot & 4))
		return;
	path_bytes = strnlen(path, h->size - sizeof(m) - sizeof(*id));
	if (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		build_id_bytes = m.who[0] <= 20 ? m.who[0] : 0;
	images_map(s->images, m.pid, m.address, m.bytes, path, path_bytes);
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, id->time_ns, m.pid, m.tid, F_COUNT(mmap));
	trace_record_u64(s->writer, m.address);
	trace_record_u64(s->writer, m.bytes);
	trace_record_u64(s->writer, m.offset);
	trace_record_u64(s->writer, m.prot);
	trace_record_text(s->writer, path, path_bytes);
	trace_record_bytes(s->writer, m.who + 4, build_id_bytes);
	trace_record_end(s->writer);
}

static void on_task(struct session *s, const struct perf_event_header *h)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
	} m;
	bool fork = h->type == PERF_RECORD_FORK;

	memcpy(&m, h, sizeof(m));
	if (fork && m.pid != m.ppid) {
		images_fork(s->images, m.ppid, m.pid);
		s->nr_processes++;
	}
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, fork ? TRACE_FORK : TRACE_EXIT, m.time_ns, m.pid, m.tid,
			   fork ? F_COUNT(fork) : F_COUNT(exit));
	trace_record_u64(s->writer, m.ppid);
	trace_record_u64(s->writer, m.ptid);
	trace_record_end(s->writer);
}

static void on_comm(struct session *s, const struct perf_event_header *h, const struct sample_id *id)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} m;
	const char *comm = (const char *)h + sizeof(m);
	bool exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;

	memcpy(&m, h, sizeof(m));
	if (exec)
		images_forget(s->images, m.pid);
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_COMM, id->time_ns, m.pid, m.tid, F_COUNT(comm));
	trace_record_u64(s->writer, exec);
	trace_record_text(s->writer, comm, strnlen(comm, h->size - sizeof(m) - sizeof(*id)));
	trace_record_end(s->writer);
}

static void on_ring_record(void *context, const struct perf_event_header *h)
{
	/* smallest size of what is read below, sample_id apart */
	static const uint16_t least[] = {
		[PERF_RECORD_MMAP2] = 72, [PERF_RECORD_COMM] = 16, [PERF_RECORD_FORK] = 32, [PERF_RECORD_EXIT] = 32,
		[PERF_RECORD_LOST] = 24,  [PERF_RECORD_LOST_SAMPLES] = 16, [PERF_RECORD_THROTTLE] = 32,
	};
	struct session *s = context;
	struct sample_id id;
	uint64_t lost;

	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(s, h);
		return;
	}
	if (h->type >= sizeof(least) / sizeof(least[0]) || !least[h->type])
		return;
	if (h->size < least[h->type] + sizeof(id)) {
		s->loss[LOSS_RING_BAD]++;
		return;
	}
	memcpy(&id, (const char *)h + h->size - sizeof(id), sizeof(id));
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mmap2(s, h, &id);
		break;
	case PERF_RECORD_COMM:
		on_comm(s, h, &id);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(s, h);
		break;
	case PERF_RECORD_LOST:
		memcpy(&lost, (const char *)h + 16, 8);
		s->loss[LOSS_RING_FULL] += lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		memcpy(&lost, (const char *)h + 8, 8);
		s->loss[LOSS_RING_FULL] += lost;
		break;
	case PERF_RECORD_THROTTLE:
		s->loss[LOSS_THROTTLED]++;
		break;
	}
}

/* ------------------------------------------------------------------------------------------- records of the guests */

struct log_context {
	struct session *session;
	uint32_t pid;
};

static void control(struct session *s, uint64_t action)
{
	unsigned long request = action == JITREG_CONTROL_START ? PERF_EVENT_IOC_ENABLE :
				action == JITREG_CONTROL_STOP  ? PERF_EVENT_IOC_DISABLE : 0;

	for (size_t i = 0; request && i < s->nr_rings; i++)
		ioctl(s->ring[i].fd, request, 0);
}

static void learn_image(struct session *s, uint32_t pid, const struct schema_value *v)
{
	const struct schema_value *segments = &v[F(image, segments)], *path = &v[F(image, path)];
	bool vdso = v[F(image, flags)].u & JITREG_IMAGE_VDSO;

	if (v[F(image, flags)].u & JITREG_IMAGE_MEMORY_ELF)
		return;
	for (uint64_t i = 0; i < segments->u; i++) {
		struct jitreg_segment g;

		memcpy(&g, (const char *)segments->p + i * sizeof(g), sizeof(g));
		if (g.prot & 4)
			images_map(s->images, pid, g.address, g.bytes, vdso ? "[vdso]" : path->p, vdso ? 6 : path->bytes);
	}
}

static void on_log_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	struct schema_value values[SCHEMA_FIELDS_MAX];
	struct log_context *c = context;
	struct session *s = c->session;
	struct jitreg_prefix prefix;
	int nr = 0;

	memcpy(&prefix, bytes, sizeof(prefix)); /* log_drain() yields no less */
	if (schema_parse(bytes, size, values, &nr)) {
		s->loss[LOSS_LOG_BAD]++;
		return;
	}
	if (prefix.id == JITREG_IMAGE)
		learn_image(s, c->pid, values);
	else if (prefix.id == JITREG_CONTROL)
		control(s, values[F(control, action)].u);
	trace_record_values(s->writer, prefix.id, prefix.timestamp, c->pid, tid, values, nr);
}

static void drain_guest(struct session *s, struct guest *g)
{
	struct log_context c = { s, g->pid };
	struct pollfd ended = { g->pidfd, POLLIN, 0 };

	if (!g->log.head)
		return;
	g->ended = g->pidfd >= 0 ? poll(&ended, 1, 0) == 1 : kill((pid_t)g->pid, 0) && errno == ESRCH;
	log_drain(&g->log, g->ended, now_ns(), on_log_record, &c);
	if (g->ended) {
		s->loss[LOSS_LOG_FULL] += g->log.head->dropped_records;
		s->loss[LOSS_GUEST_FULL] += g->log.head->guest_full;
		s->loss[LOSS_LOG_GAP] += g->log.gap_bytes;
		log_drain_close(&g->log);
	}
}

/* Slots of guests that have ended are used again: a month of short children must not grow us. */
static struct guest *new_guest(struct session *s)
{
	for (size_t i = 0; i < s->nr_guests; i++)
		if (s->guest[i].ended) {
			if (s->guest[i].pidfd >= 0)
				close(s->guest[i].pidfd);
			return &s->guest[i];
		}
	if (s->nr_guests == s->guests_capacity) {
		size_t capacity = s->guests_capacity ? 2 * s->guests_capacity : 16;
		struct guest *bigger = realloc(s->guest, capacity * sizeof(*bigger));

		if (!bigger)
			return NULL;
		s->guest = bigger;
		s->guests_capacity = capacity;
	}
	return &s->guest[s->nr_guests++];
}

static void say_hello(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	uint64_t bytes = h->message.log_bytes;
	struct guest *g = new_guest(s);
	int fd = -1;

	if (!g) {
		answer->status = -ENOMEM;
		handshake_answer(h, answer, -1);
		return;
	}
	/* exec in the same process: the old image's log has no writer any more */
	for (size_t i = 0; i < s->nr_guests; i++)
		if (&s->guest[i] != g && s->guest[i].pid == (uint32_t)h->pid && s->guest[i].log.head) {
			struct log_context c = { s, s->guest[i].pid };

			log_drain(&s->guest[i].log, true, now_ns(), on_log_record, &c);
		}
	*g = (struct guest){ .pid = (uint32_t)h->pid, .pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0) };
	if (bytes == 0 || bytes > LOG_RING_BYTES_DEFAULT)
		bytes = LOG_RING_BYTES_DEFAULT;
	if (bytes < LOG_RING_BYTES_MIN)
		bytes = LOG_RING_BYTES_MIN;
	answer->status = log_drain_create(&g->log, g->pid, bytes, &fd);
	answer->ring_bytes = g->log.ring_bytes;
	if (answer->status)
		g->ended = true;
	answer->count_yourself = s->options.scope_thread;
	answer->nr_events = 1;
	memcpy(answer->attr[0], &s->event.attr, sizeof(s->event.attr) < WIRE_ATTR_BYTES ? sizeof(s->event.attr) : WIRE_ATTR_BYTES);
	if (h->message.flags & WIRE_FLAG_CHILD && s->options.scope_thread)
		write_process(s, h->pid, false);
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_GUEST, now_ns(), g->pid, h->message.tid, F_COUNT(guest));
	trace_record_text(s->writer, h->message.guest_version, strnlen(h->message.guest_version, sizeof(h->message.guest_version)));
	trace_record_u64(s->writer, g->log.ring_bytes);
	trace_record_end(s->writer);
	handshake_answer(h, answer, fd);
	if (fd >= 0)
		close(fd);
}

static void take_counters(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	size_t share = THREAD_RINGS_BYTES / (s->nr_rings + 1), bytes = THREAD_RING_BYTES;

	while (bytes > share && bytes > RING_BYTES_MIN)
		bytes /= 2;
	if (h->nr_fds == 0) {
		session_notice(s, "refused", "thread %u of process %d could not open its counters: %s", h->message.tid,
			       (int)h->pid, strerror(h->message.error));
		answer->status = -EINVAL;
	}
	for (int i = 0; i < h->nr_fds; i++) {
		int ret = i < 1 ? add_ring(s, h->fds[i], bytes) : -EINVAL;

		if (ret) {
			answer->status = ret;
			continue;
		}
		ioctl(h->fds[i], PERF_EVENT_IOC_ENABLE, 0);
		h->fds[i] = -1; /* the ring's now */
	}
	handshake_answer(h, answer, -1);
}

static void serve_guests(struct session *s)
{
	struct wire_answer answer;
	struct handshake h;
	int ret;

	while ((ret = handshake_accept(s->socket, s->root, &h)) != -EAGAIN) {
		if (ret)
			continue;
		memset(&answer, 0, sizeof(answer));
		switch (h.message.request) {
		case WIRE_HELLO:
			say_hello(s, &h, &answer);
			break;
		case WIRE_COUNTER:
			take_counters(s, &h, &answer);
			break;
		case WIRE_STOP:
			session_notice(s, "host", "the agent in process %d switched itself off: %s", (int)h.pid,
				       strerror(h.message.error));
			handshake_answer(&h, &answer, -1);
			break;
		default:
			answer.status = -EPROTO;
			handshake_answer(&h, &answer, -1);
		}
	}
}

/* -------------------------------------------------------------------------------------------------------- the loop */

static void drain(struct session *s)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < s->nr_guests; i++)
		drain_guest(s, &s->guest[i]);
	for (size_t i = 0; i < s->nr_rings; i++)
		s->loss[LOSS_RING_BAD] += (uint64_t)ring_drain(&s->ring[i], on_ring_record, s);
	images_settle(s->images);
	if (now - s->last_flush_ns >= FLUSH_NS) {
		s->last_flush_ns = now;
		flush_samples(s);
		trace_writer_flush_all(s->writer);
	}
}

/* A ring whose tasks have all ended has nothing more to say once it is drained. */
static void drop_ended_rings(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_rings; i++) {
		if (s->poll[2 + i].revents & (POLLHUP | POLLERR)) {
			ring_drain(&s->ring[i], on_ring_record, s);
			ring_close(&s->ring[i]);
		} else {
			s->ring[kept++] = s->ring[i];
		}
	}
	s->nr_rings = kept;
}

static void wait_for_something(struct session *s)
{
	size_t nr = s->nr_rings + 2;

	if (nr > s->poll_capacity) {
		struct pollfd *bigger = realloc(s->poll, 2 * nr * sizeof(*bigger));

		if (!bigger) {
			usleep(DRAIN_MS * 1000);
			return;
		}
		s->poll = bigger;
		s->poll_capacity = 2 * nr;
	}
	s->poll[0] = (struct pollfd){ s->socket, POLLIN, 0 };
	s->poll[1] = (struct pollfd){ s->signals, POLLIN, 0 };
	for (size_t i = 0; i < s->nr_rings; i++)
		s->poll[2 + i] = (struct pollfd){ s->ring[i].fd, POLLIN, 0 };
	if (poll(s->poll, nr, DRAIN_MS) <= 0)
		return;
	if (s->poll[0].revents)
		serve_guests(s);
}

static bool guest_lives(const struct session *s)
{
	for (size_t i = 0; i < s->nr_guests; i++)
		if (s->guest[i].log.head)
			return true;
	return false;
}

/* The terminal's signals reach the host by themselves; those that were sent to us alone are passed on. */
static void take_signals(struct session *s, pid_t pid, bool our_child, int *wait_status)
{
	struct signalfd_siginfo i;

	while (read(s->signals, &i, sizeof(i)) == sizeof(i))
		if (i.ssi_signo != SIGCHLD && our_child && i.ssi_code <= 0)
			kill(pid, (int)i.ssi_signo);
	if (our_child && !s->root_ended && waitpid(pid, wait_status, WNOHANG) == pid)
		s->root_ended = true;
}

void session_run(struct session *s, pid_t pid, bool our_child, bool follow, int *wait_status)
{
	int pidfd = our_child ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);

	for (;;) {
		size_t rings_polled = s->nr_rings;

		wait_for_something(s);
		drain(s);
		if (rings_polled && rings_polled == s->nr_rings && s->poll)
			drop_ended_rings(s);
		take_signals(s, pid, our_child, wait_status);
		if (!our_child && !s->root_ended) {
			struct pollfd ended = { pidfd, POLLIN, 0 };

			s->root_ended = pidfd >= 0 ? poll(&ended, 1, 0) == 1 : kill(pid, 0) && errno == ESRCH;
		}
		if (s->root_ended && (!follow || (s->nr_rings == 0 && !guest_lives(s))))
			break;
	}
	if (pidfd >= 0)
		close(pidfd);
	if (s->nr_rings && !follow && !s->options.scope_thread) {
		/* one more look: the last tasks of a pipeline end together with the command */
		wait_for_something(s);
		drop_ended_rings(s);
		if (s->nr_rings)
			session_notice(s, "host", "the command has ended, processes that it started have not; they are no longer "
				       "recorded (--follow waits for them)");
	}
}

static void write_losses(struct session *s)
{
	for (int i = 0; i < NR_LOSSES; i++) {
		if (!s->loss[i])
			continue;
		trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_LOSS, now_ns(), 0, 0, F_COUNT(loss));
		put_text(s, loss_texts[i]);
		trace_record_u64(s->writer, s->loss[i]);
		trace_record_u64(s->writer, 0);
		trace_record_end(s->writer);
	}
}

static void say_result(const struct session *s, uint64_t bytes, int error)
{
	if (s->options.quiet && !error)
		return;
	fprintf(stderr, "%s: %llu samples of %llu process%s in %s (%.1f MiB)", program_invocation_name,
		(unsigned long long)s->nr_samples, (unsigned long long)s->nr_processes, s->nr_processes == 1 ? "" : "es",
		s->options.output, (double)bytes / (1 << 20));
	for (int i = 0; i < NR_LOSSES; i++)
		if (s->loss[i])
			fprintf(stderr, "; %s: %llu", loss_texts[i], (unsigned long long)s->loss[i]);
	fputc('\n', stderr);
}

int session_close(struct session *s, int wait_status, struct diag *d)
{
	struct rusage usage;
	uint64_t bytes;
	int error;

	for (size_t i = 0; i < s->nr_rings; i++)
		ioctl(s->ring[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	drain(s);
	for (size_t i = 0; i < s->nr_guests; i++)
		if (s->guest[i].log.head) {
			struct log_context c = { s, s->guest[i].pid };

			log_drain(&s->guest[i].log, true, now_ns(), on_log_record, &c);
			s->loss[LOSS_LOG_FULL] += s->guest[i].log.head->dropped_records;
			s->loss[LOSS_GUEST_FULL] += s->guest[i].log.head->guest_full;
			s->loss[LOSS_LOG_GAP] += s->guest[i].log.gap_bytes;
		}
	flush_samples(s);
	write_losses(s);
	images_write(s->images, s->writer, now_ns());
	trace_writer_flush_all(s->writer);
	getrusage(RUSAGE_SELF, &usage);
	trace_record_begin(s->writer, TRACE_CHUNK_END, TRACE_END, now_ns(), 0, 0, F_COUNT(end));
	trace_record_u64(s->writer, (uint32_t)wait_status);
	trace_record_u64(s->writer, s->nr_samples);
	trace_record_u64(s->writer, trace_writer_records(s->writer));
	trace_record_u64(s->writer, ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
				    ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u);
	trace_record_end(s->writer);
	trace_writer_flush_all(s->writer);
	bytes = trace_writer_bytes(s->writer);
	error = -trace_writer_close(s->writer);
	say_result(s, bytes, error);
	if (error)
		diag_fail(d, error, "%s: the trace is incomplete, because it could not be written to its end: %s; "
			  "what was written before can be read", s->options.output, strerror(error));
	session_free(s);
	return -error;
}
