/* SPDX-License-Identifier: MIT */
/* This file serves the guests (connected agents). It answers their handshakes, reads the records of their logs and their execution counts,
 * and takes over the perf events of threads. */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/time_namespace.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define AT_A_TIME 64 /* maximum number of connections that one call of session_serve_guests() accepts */
#define AT_A_TIME_NS 20000000ull /* longest time of a DRAIN_SOME of all logs, because rings fill and the file is not written meanwhile */
#define BUSY_BYTES (1u << 20) /* if one drain reads more than this from a log, the next drain follows at once */
#define LOOK_NS 50000000ull /* usual interval of checks whether a guest lives */

#define COUNTERS_NS 1000000000ull /* time until the first periodic write of execution counts; each next one comes after twice as long */

struct log_context {
	struct session *session;
	uint32_t pid;
	struct registration_cache *store; /* cache that is given the records, too; NULL: there is none */
	struct guest *guest; /* NULL: the records come from the cache and not from the log */
};

static struct guest *find_guest(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head && s->guests.at[i].pid == (uint32_t)pid)
			return &s->guests.at[i];
	return NULL;
}

const struct guest *session_find_guest(const struct session *s, pid_t pid)
{
	return find_guest(s, pid);
}

/* ------------------------------------------------------------------------------------------------- execution counts */

struct counts_context {
	struct session *session;
	uint32_t pid, flags;
};

static void write_guest_counts(void *context, uint64_t block, const uint64_t *values, uint32_t nr)
{
	const struct counts_context *c = context;

	recording_write_counter_values(c->session->recording, c->pid, c->flags, block, values, nr);
}

/* Writes the guest's execution counts, if there is a recording.  all: also blocks that have not changed since they were last read. */
static void write_guest_counters(struct session *s, struct guest *g, uint32_t flags, bool all)
{
	struct counts_context c = { s, g->pid, flags };

	if (s->recording)
		counter_memory_read(g->counters, all, write_guest_counts, &c);
}

/* In a recording, writes the counts 1 s after the first counter memory, 2 s after that, then 4 s, and so on, because a killed recorder
 * writes no counts at the end. */
static void write_counters_if_due(struct session *s, struct guest *g, uint64_t now_ns)
{
	if (!g->counters || !s->recording || now_ns - g->counters_ns < g->counters_interval_ns)
		return;
	write_guest_counters(s, g, 0, false);
	g->counters_ns = now_ns;
	g->counters_interval_ns *= 2;
}

void session_write_counters(struct session *s, uint32_t flags)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head)
			write_guest_counters(s, &s->guests.at[i], flags, true);
}

static void give_counter_memory(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	struct guest *g = find_guest(s, h->pid);
	int fd = -1;

	answer->status = g ? counter_memory_add_arena(&g->counters, h->message.log_bytes, &answer->reserved, &fd) : -ESRCH;
	answer->ring_bytes = h->message.log_bytes;
	if (g && !g->counters_interval_ns) {
		g->counters_ns = clock_now_ns();
		g->counters_interval_ns = COUNTERS_NS;
	}
	handshake_answer(h, answer, answer->status ? -1 : fd);
	if (answer->status == 0)
		close(fd);
}

/* ------------------------------------------------------------------------------------------------------------- the log */

/* Applies a host's request to pause or resume counting, or to begin a new epoch. */
static void apply_control_action(struct session *s, uint64_t action)
{
	if (action == JITREG_CONTROL_START || action == JITREG_CONTROL_STOP)
		counting_pause(s->counting, action == JITREG_CONTROL_STOP);
	else if (action == JITREG_CONTROL_CUT)
		session_epochs_ask(s);
}

static void handle_log_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	struct schema_value values[SCHEMA_FIELDS_MAX];
	struct log_context *c = context;
	struct session *s = c->session;
	struct jitreg_prefix prefix;
	int nr = 0;

	memcpy(&prefix, bytes, sizeof(prefix)); /* neither logs nor the cache pass shorter records */
	if (prefix.id == LOG_SAMPLE) {
		if (s->recording)
			counting_take_log_sample(s->counting, c->pid, tid, bytes, size);
		return;
	}
	switch (schema_parse(bytes, size, values, &nr)) {
	case 0:
		break;
	case -ENOENT:
		session_count_loss(s, LOSS_LOG_UNKNOWN, 0, 0, 1);
		return;
	default:
		session_count_loss(s, LOSS_LOG_BAD, 0, 0, 1);
		return;
	}
	if (prefix.id == JITREG_COUNTER_BLOCK && c->guest && counter_memory_add_block(c->guest->counters, values)) {
		session_count_loss(s, LOSS_LOG_BAD, 0, 0, 1);
		return;
	}
	if (prefix.id == JITREG_COUNTER_VALUES && c->guest && values[F(counter_values, flags)].u & JITREG_VALUES_LAST)
		counter_memory_end_block(c->guest->counters, values[F(counter_values, block)].u);
	if (c->store)
		registration_cache_add(c->store, tid, bytes, size, values);
	if (!s->recording)
		return;
	if (prefix.id == JITREG_CONTROL)
		apply_control_action(s, values[F(control, action)].u);
	recording_add_registration(s->recording, c->pid, tid, prefix.id, prefix.timestamp, values, nr);
}

/* Adds the growth of one of the log's loss counts to the losses. The agent only increases them, but the host's own code can write anything
 * there. A growth above `possible` is counted as one invalid registration instead. */
static void count_loss_growth(struct session *s, enum loss_reason reason, uint64_t *before, uint64_t now, uint64_t possible)
{
	uint64_t growth = now > *before ? now - *before : 0;

	if (growth > possible)
		session_count_loss(s, LOSS_LOG_BAD, 0, 0, 1);
	else if (growth)
		session_count_loss(s, reason, 0, 0, growth);
	*before = now;
}

#define SAMPLES_A_PROCESSOR_NS 10000u /* a processor takes at most 100,000 samples a second */
#define SAMPLES_AT_ONCE 1000u /* further samples that may be lost at once, however little time has passed */

/* Adds what the log has lost since the last read to the losses.  Possible are one record per nanosecond, samples at the rate above, and
 * bytes of twice the log's size. */
static void count_losses_of_log(struct session *s, struct guest *g, uint64_t now_ns)
{
	const struct log_head *h = g->log.head;
	uint64_t passed_ns = now_ns - g->counted_ns;
	uint64_t samples = passed_ns / SAMPLES_A_PROCESSOR_NS * (uint64_t)get_nprocs() + SAMPLES_AT_ONCE;

	g->counted_ns = now_ns;
	count_loss_growth(s, LOSS_LOG_FULL, &g->dropped, __atomic_load_n(&h->dropped_records, __ATOMIC_RELAXED), passed_ns);
	count_loss_growth(s, LOSS_SAMPLE_LOG_FULL, &g->samples, __atomic_load_n(&h->dropped_samples, __ATOMIC_RELAXED), samples);
	count_loss_growth(s, LOSS_GUEST_FULL, &g->full, __atomic_load_n(&h->guest_full, __ATOMIC_RELAXED), passed_ns);
	count_loss_growth(s, LOSS_LOG_GAP, &g->gap, g->log.gap_bytes, 2 * g->log.ring_bytes);
	count_loss_growth(s, LOSS_LOG_BAD, &g->refused, __atomic_load_n(&h->refused_records, __ATOMIC_RELAXED), passed_ns);
}

static bool guest_has_ended(struct guest *g)
{
	struct pollfd ended = { g->pidfd, POLLIN, 0 };

	return g->pidfd >= 0 ? poll(&ended, 1, 0) == 1 : kill((pid_t)g->pid, 0) && errno == ESRCH;
}

/* last: no writer is left, or none may write.  until_ns: time at which the drain stops and leaves the rest for the next time; 0: it reads
 * everything. */
static void drain_guest_log(struct session *s, struct guest *g, bool last, uint64_t until_ns)
{
	struct log_context c = { s, g->pid, g->store, g };
	uint64_t before = g->log.nr_bytes;

	g->log.until_ns = until_ns;
	log_drain(&g->log, last, clock_now_ns(), handle_log_record, &c);
	s->guests.are_busy |= g->log.has_more;
	s->guests.are_busy |= g->log.nr_bytes - before > BUSY_BYTES;
	count_losses_of_log(s, g, clock_now_ns());
	if (g->store)
		session_count_loss(s, LOSS_STORE_FULL, 0, 0, registration_cache_take_forgotten(g->store));
}

static void close_guest(struct guest *g)
{
	log_drain_close(&g->log);
	if (g->pidfd >= 0)
		close(g->pidfd);
	g->pidfd = -1;
	registration_cache_destroy(g->store);
	g->store = NULL;
	counter_memory_destroy(g->counters);
	g->counters = NULL;
}

void session_drain_guests(struct session *s, enum drain how)
{
	uint64_t now = clock_now_ns();
	size_t first = s->guests.next < s->guests.nr ? s->guests.next : 0;

	s->guests.are_busy = false;
	for (size_t n = 0; n < s->guests.nr; n++) {
		struct guest *g = &s->guests.at[(first + n) % s->guests.nr];
		bool ended = false;

		if (!g->log.head)
			continue;
		if (s->root.ended || g->log.has_more || now - g->looked_ns >= LOOK_NS) {
			g->looked_ns = now;
			ended = guest_has_ended(g); /* this is before the drain, which then finds an ended guest's last records */
		}
		if (how == DRAIN_LAST) /* records that the guest would write from now on would be in no trace */
			log_drain_refuse_writers(&g->log);
		drain_guest_log(s, g, how == DRAIN_LAST || ended, how == DRAIN_SOME ? now + AT_A_TIME_NS : 0);
		if (how == DRAIN_LAST || (ended && !g->log.has_more))
			write_guest_counters(s, g, 0, true);
		else
			write_counters_if_due(s, g, now);
		if (ended && !g->log.has_more)
			close_guest(g);
		if (g->log.has_more) /* the next drain begins with the guest behind this one, so that none has to wait for long */
			s->guests.next = (first + n + 1) % s->guests.nr;
	}
}

void session_heartbeat(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head)
			__atomic_fetch_add(&s->guests.at[i].log.head->heartbeats, 1, __ATOMIC_RELAXED);
}

bool session_has_living_guest(const struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head)
			return true;
	return false;
}

void session_close_guests(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head)
			close_guest(&s->guests.at[i]);
	ARRAY_FREE(s->guests);
}

/* Returns an unused element of the array of guests, or NULL if memory runs out.  Elements of guests that have ended are used again, so that
 * a month of short-lived children does not take more and more memory. */
static struct guest *get_guest_slot(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (!s->guests.at[i].log.head)
			return &s->guests.at[i];
	if (!ARRAY_GROW(s->guests))
		return NULL;
	return &s->guests.at[s->guests.nr++];
}

static void write_guest_record(struct session *s, const struct guest *g)
{
	recording_add_guest(s->recording, g->pid, g->tid, g->version, g->log.ring_bytes);
}

static const char *text_of_log_error(int error)
{
	return error == EFBIG ? "limit of file sizes: ulimit -f" : strerror(error);
}

static void describe_guest_to_recording(struct session *s, const struct guest *g, struct wire_answer *answer)
{
	pid_t pid = (pid_t)g->pid;
	uint64_t now_ns;

	counting_describe_sampler(s->counting, answer);
	counting_time_process(s->counting, g->pid);
	if (answer->sampler != WIRE_SAMPLER_NONE) {
		/* counters are not inherited with these samplers, so the kernel has not reported this process */
		if (g->is_child)
			recording_write_process(s->recording, pid);
		else
			recording_write_exec(s->recording, pid);
		now_ns = clock_now_ns();
		recording_write_maps(s->recording, pid, now_ns, now_ns);
	}
	write_guest_record(s, g);
}

static void answer_hello(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	uint64_t bytes = h->message.log_bytes, most = s->options.dormant ? LOG_RING_BYTES_DORMANT : LOG_RING_BYTES_DEFAULT;
	struct guest *g;
	int fd = -1;

	/* the process has executed another program, or its PID was used again, so the log that was there has no writer any more */
	g = find_guest(s, h->pid);
	if (g) {
		drain_guest_log(s, g, true, 0);
		write_guest_counters(s, g, 0, true);
		close_guest(g);
	}
	g = get_guest_slot(s);
	if (!g) {
		answer->status = -ENOMEM;
		handshake_answer(h, answer, -1);
		return;
	}
	*g = (struct guest){ .pid = (uint32_t)h->pid, .pidfd = -1, .tid = h->message.tid, .counted_ns = clock_now_ns() };
	g->is_child = h->message.flags & WIRE_FLAG_CHILD;
	snprintf(g->version, sizeof(g->version), "%.*s", (int)sizeof(h->message.guest_version) - 1, h->message.guest_version);
	if (bytes == 0 || bytes > most)
		bytes = most;
	if (bytes < LOG_RING_BYTES_MIN)
		bytes = LOG_RING_BYTES_MIN;
	answer->status = log_drain_create(&g->log, g->pid, bytes, &fd);
	if (answer->status == 0 && (s->options.dormant || s->epochs.length_ns) &&
	    registration_cache_create(s->options.store_bytes, &g->store)) {
		log_drain_close(&g->log);
		close(fd);
		answer->status = -ENOMEM;
	}
	if (answer->status) {
		if (!s->notices.log)
			session_notice(s, NOTICE_HOST,
				       "registrations of process %d unavailable (cannot create its log: %s); sampling "
				       "without them; further processes with this error are not reported",
				       (int)h->pid, text_of_log_error(-answer->status));
		s->notices.log = true;
		handshake_answer(h, answer, -1);
		return;
	}
	g->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
	g->log.ahead_ns = time_namespace_ahead_ns(h->pid);
	answer->ring_bytes = g->log.ring_bytes;
	if (s->recording)
		describe_guest_to_recording(s, g, answer);
	if (!handshake_answer(h, answer, fd)) /* the guest does not wait for the answer any more */
		close_guest(g);
	else if (!g->is_child)
		session_unheard_note_hello(s, g->pid);
	close(fd);
}

void session_replay_guests(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++) {
		const struct guest *g = &s->guests.at[i];
		struct log_context c = { s, g->pid, NULL, NULL };

		if (!g->log.head)
			continue;
		write_guest_record(s, g);
		registration_cache_each_record(g->store, handle_log_record, &c);
	}
	session_write_counters(s, JITREG_VALUES_BASE);
}

/* Is it the descriptor of a perf event?  Others are refused, since an untrusted process could truncate a file that the recorder has mapped
 * as a ring, and SIGBUS would kill the recorder. */
static bool is_perf_event_descriptor(int fd)
{
	static const char is[] = "anon_inode:[perf_event]";
	char path[32], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target));
	return n == (ssize_t)sizeof(is) - 1 && memcmp(target, is, sizeof(is) - 1) == 0;
}

static const char *text_of_counter_error(int error)
{
	switch (error) {
	case EPERM:
		return "limit of locked memory: ulimit -l, kernel.perf_event_mlock_kb";
	case EBUSY:
		return "signal SIGSTKFLT is used by the host";
	case EAGAIN:
		return "limit of timers: ulimit -i";
	default:
		return strerror(error);
	}
}

static void take_thread_counters(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	const char *what = "no counter";
	int error = h->message.error;

	if (!s->counting) {
		answer->status = -EINVAL;
	} else if (h->nr_fds) {
		answer->status = 0;
		for (int i = 0; i < h->nr_fds; i++)
			if (!is_perf_event_descriptor(h->fds[i]))
				answer->status = -EBADF;
		if (answer->status == 0)
			answer->status = counting_add_thread(s->counting, h->fds, h->nr_fds, (uint32_t)h->pid, h->message.tid);
		error = -answer->status;
		what = "no ring buffer";
	} else {
		answer->status = -EINVAL;
	}
	if (answer->status == 0) {
		for (int i = 0; i < h->nr_fds; i++)
			h->fds[i] = -1; /* counting_add_thread() has taken them over, so they are not closed with h */
	} else {
		session_count_loss(s, LOSS_UNCOUNTED, 0, 0, 1);
		if (!s->notices.uncounted)
			session_notice(s, NOTICE_REFUSED,
				       "cannot sample thread %u of process %d: %s (%s); further threads with this error "
				       "are not reported",
				       h->message.tid, (int)h->pid, what, text_of_counter_error(error));
		s->notices.uncounted = true;
	}
	/* a thread waits for milliseconds only; if it does not any more, it has run the host's code before its counters were enabled */
	if (!handshake_answer(h, answer, -1) && answer->status == 0)
		session_count_loss(s, LOSS_LATE, (uint32_t)h->pid, h->message.tid, 1);
}

static void report_no_descriptors(struct session *s)
{
	session_count_loss(s, LOSS_UNCOUNTED, 0, 0, 1);
	if (!s->notices.descriptors)
		session_notice(s, NOTICE_REFUSED, "cannot record a process or thread: limit of open files (ulimit -n; --scope cpu needs "
			       "fewer); further ones with this error are not reported");
	s->notices.descriptors = true;
}

void session_serve_guests(struct session *s)
{
	struct wire_answer answer;
	struct handshake h;
	int ret, nr = 0;

	/* the number is limited, so that many new threads do not delay the draining of rings */
	while (nr++ < AT_A_TIME && (ret = handshake_accept(s->connections.socket, s->root.named.at, s->root.named.nr,
							   &s->connections.silent, &h)) != -EAGAIN) {
		if (ret == -EMFILE)
			report_no_descriptors(s);
		if (ret == -EPROTONOSUPPORT && !s->notices.version) {
			s->notices.version = true;
			session_notice(s, NOTICE_REFUSED, "registrations of process %d unavailable (its agent is not of version %s, as "
				       "this command); preload the libtailor.so beside this command", (int)h.pid, TAILOR_VERSION);
		}
		if (ret)
			continue;
		session_heartbeat(s);
		memset(&answer, 0, sizeof(answer));
		switch (h.message.request) {
		case WIRE_HELLO:
			answer_hello(s, &h, &answer);
			break;
		case WIRE_COUNTER:
			take_thread_counters(s, &h, &answer);
			break;
		case WIRE_COUNTER_MEMORY:
			give_counter_memory(s, &h, &answer);
			break;
		case WIRE_STOP:
			session_notice(s, NOTICE_HOST, "agent in process %d disabled: %s", (int)h.pid,
				       strerror(h.message.error));
			handshake_answer(&h, &answer, -1);
			break;
		default:
			answer.status = -EPROTO;
			handshake_answer(&h, &answer, -1);
		}
	}
}
