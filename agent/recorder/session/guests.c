/* SPDX-License-Identifier: MIT */
/* The guests: who they are, what they say in their logs, and the threads that they hand over. */
#include "agent/recorder/session/internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/registers.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AT_A_TIME 64
#define AT_A_TIME_NS 20000000ull /* for all logs: rings fill meanwhile, and nothing is flushed to the trace */
#define BUSY_BYTES (1u << 20)
#define LOOK_NS 50000000ull /* how often a guest is asked whether it lives */

#define COUNTERS_NS 1000000000ull /* execution counts are written after this time, and then after twice the time before */

struct log_context {
	struct session *session;
	uint32_t pid;
	struct registration_cache *store; /* or NULL */
	struct guest *guest; /* NULL: its records are replayed */
};

static void learn_image(struct session *s, uint32_t pid, const struct schema_value *v)
{
	const struct schema_value *segments = &v[F(image, segments)], *path = &v[F(image, path)], *id = &v[F(image, build_id)];
	bool vdso = v[F(image, flags)].u & JITREG_IMAGE_VDSO;

	if (v[F(image, flags)].u & JITREG_IMAGE_MEMORY_ELF)
		return;
	for (uint64_t i = 0; i < segments->u; i++) {
		struct jitreg_segment g;

		memcpy(&g, (const char *)segments->p + i * sizeof(g), sizeof(g));
		if (g.prot & PROT_EXEC)
			images_map(s->images, &(struct mapping){ pid, pid, (uint32_t)g.prot, g.address, g.bytes, g.file_offset,
								 vdso ? "[vdso]" : path->p, vdso ? 6 : path->bytes, id->p,
								 vdso ? 0 : id->bytes, { 0 } });
	}
}

#define INSTRUCTION_POINTER (1ull << REGISTER_PERF_IP) /* of the caller, where the kernel was sampled */
#define TAG_REGISTERS (0xfull << 20 | 1ull << 1) /* r12-r15, rbx: where tags can live */

void session_keep_registers(struct session *s)
{
	uint64_t mask = INSTRUCTION_POINTER | 1ull << SAMPLE_TAG_WORD | (s->tag_registers ? s->tag_registers : TAG_REGISTERS);

	if (!s->options.event.registers) /* who asked for some gets them */
		for (int i = 0; i < s->nr_columns; i++)
			if (s->samples[i]) /* else nothing is recorded now */
				samples_keep(s->samples[i], mask);
}

static void learn_tag(struct session *s, const struct schema_value *v)
{
	uint64_t where = v[F(tag, where)].u;

	if (where == JITREG_TAG_MEMORY && s->sampler != WIRE_SAMPLER_SIGNAL && s->sampler != WIRE_SAMPLER_TIMER && !s->noticed.tag_word) {
		s->noticed.tag_word = true;
		session_notice(s, "tag", "not in these samples: a thread-local word needs --sampler signal");
	}
	if (where < REGISTERS_NR) {
		s->tag_registers |= 1ull << registers_perf[where];
		session_keep_registers(s);
	}
}

/* ------------------------------------------------------------------------------------------------- execution counts */

struct counts_context {
	struct session *session;
	uint32_t pid, flags;
};

static void write_counts(void *context, uint64_t block, const uint64_t *values, uint32_t nr)
{
	const struct counts_context *c = context;

	TRACE_PUT(c->session->writer, counter_values, session_now_ns(), c->pid, 0, .block = block, .flags = c->flags,
		  .values = { (const struct jitreg_count *)values, nr });
}

/* all: also of counters that have not changed. */
static void write_guest_counters(struct session *s, struct guest *g, uint32_t flags, bool all)
{
	struct counts_context c = { s, g->pid, flags };

	if (s->writer)
		counter_memory_read(g->counters, all, write_counts, &c);
}

/* Now and then, should this process be killed as well: after 1 s, 2 s, 4 s, ... */
static void write_counters_at_times(struct session *s, struct guest *g, uint64_t now_ns)
{
	if (!g->counters || !s->writer || now_ns - g->counters_ns < g->counters_interval_ns)
		return;
	write_guest_counters(s, g, 0, false);
	g->counters_ns = now_ns;
	g->counters_interval_ns *= 2;
}

void session_write_counters(struct session *s, uint32_t flags)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head)
			write_guest_counters(s, &s->guests.guest[i], flags, true);
}

static void give_counter_memory(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	struct guest *g = NULL;
	int fd = -1;

	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head && s->guests.guest[i].pid == (uint32_t)h->pid)
			g = &s->guests.guest[i];
	answer->status = g ? counter_memory_add(&g->counters, h->message.log_bytes, &answer->reserved, &fd) : -ESRCH;
	answer->ring_bytes = h->message.log_bytes;
	if (g && !g->counters_interval_ns) {
		g->counters_ns = session_now_ns();
		g->counters_interval_ns = COUNTERS_NS;
	}
	handshake_answer(h, answer, answer->status ? -1 : fd);
	if (answer->status == 0)
		close(fd);
}

/* ------------------------------------------------------------------------------------------------------------- the log */

/*
 * A sentence of an agent.  That a host is newer than the agent knows is what its user should see: once, whatever the processes, and as
 * text, since it is theirs.
 */
static void take_note(struct session *s, const struct schema_value *text)
{
	char sentence[SESSION_NEWER_BYTES];
	size_t bytes = text->bytes < sizeof(sentence) - 1 ? text->bytes : sizeof(sentence) - 1;

	for (size_t i = 0; i < bytes; i++) {
		char c = ((const char *)text->p)[i];

		sentence[i] = c >= ' ' && c <= '~' ? c : '?';
	}
	sentence[bytes] = 0;
	for (int i = 0; strstr(sentence, JIT_HOST_IS_NEWER) && i < SESSION_NEWER_MAX; i++) {
		if (strcmp(s->newer[i], sentence) == 0)
			return;
		if (!s->newer[i][0]) {
			strcpy(s->newer[i], sentence);
			session_notice(s, "version", "%s", sentence);
			return;
		}
	}
	session_note(s, "host", text->p, text->bytes);
}

static void on_log_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	struct schema_value values[SCHEMA_FIELDS_MAX];
	struct log_context *c = context;
	struct session *s = c->session;
	struct jitreg_prefix prefix;
	int nr = 0;

	memcpy(&prefix, bytes, sizeof(prefix)); /* log_drain() yields no less */
	if (prefix.id == LOG_SAMPLE) {
		if (s->writer)
			session_take_log_sample(s, c->pid, tid, bytes, size);
		return;
	}
	switch (schema_parse(bytes, size, values, &nr)) {
	case 0:
		break;
	case -ENOENT:
		s->losses.total[LOSS_LOG_UNKNOWN]++;
		return;
	default:
		s->losses.total[LOSS_LOG_BAD]++;
		return;
	}
	if (prefix.id == JITREG_COUNTER_BLOCK && c->guest && counter_memory_announce(c->guest->counters, values)) {
		s->losses.total[LOSS_LOG_BAD]++;
		return;
	}
	if (prefix.id == JITREG_COUNTER_VALUES && c->guest && values[F(counter_values, flags)].u & JITREG_VALUES_LAST)
		counter_memory_forget(c->guest->counters, values[F(counter_values, block)].u);
	if (c->store)
		registration_cache_add(c->store, tid, bytes, size, values);
	if (!s->writer)
		return;
	if (prefix.id == JITREG_IMAGE)
		learn_image(s, c->pid, values);
	else if (prefix.id == JITREG_LOAD)
		jit_files_announced(s->jit_files, c->pid, values[F(load, code_addr)].u, values[F(load, code_size)].u);
	else if (prefix.id == JITREG_TAG)
		learn_tag(s, values);
	else if (prefix.id == JITREG_CONTROL)
		session_control(s, values[F(control, action)].u);
	if (prefix.id == JITREG_CONTROL && values[F(control, action)].u == JITREG_CONTROL_NOTE)
		take_note(s, &values[F(control, name)]);
	else if (trace_record_values(s->writer, prefix.id, prefix.timestamp, c->pid, tid, values, nr) == -E2BIG)
		s->losses.total[LOSS_LOG_BAD]++;
}

/* The counts only grow, but the guest can write anything there. */
static void add_growth(uint64_t *loss, uint64_t *before, uint64_t now)
{
	if (now > *before)
		*loss += now - *before;
	*before = now;
}

static bool has_ended(struct guest *g)
{
	struct pollfd ended = { g->pidfd, POLLIN, 0 };

	return g->pidfd >= 0 ? poll(&ended, 1, 0) == 1 : kill((pid_t)g->pid, 0) && errno == ESRCH;
}

/* until_ns: it may leave the rest for the next time; 0: it may not. */
static void drain_guest(struct session *s, struct guest *g, bool last, uint64_t until_ns)
{
	struct log_context c = { s, g->pid, g->store, g };
	uint64_t before = g->log.nr_bytes;

	g->log.until_ns = until_ns;
	log_drain(&g->log, last, session_now_ns(), on_log_record, &c);
	s->guests.are_busy |= g->log.has_more;
	s->guests.are_busy |= g->log.nr_bytes - before > BUSY_BYTES;
	add_growth(&s->losses.total[LOSS_LOG_FULL], &g->dropped, __atomic_load_n(&g->log.head->dropped_records, __ATOMIC_RELAXED));
	add_growth(&s->losses.total[LOSS_SAMPLE_LOG_FULL], &g->samples,
		   __atomic_load_n(&g->log.head->dropped_samples, __ATOMIC_RELAXED));
	add_growth(&s->losses.total[LOSS_GUEST_FULL], &g->full, __atomic_load_n(&g->log.head->guest_full, __ATOMIC_RELAXED));
	add_growth(&s->losses.total[LOSS_LOG_GAP], &g->gap, g->log.gap_bytes);
	add_growth(&s->losses.total[LOSS_LOG_BAD], &g->refused, __atomic_load_n(&g->log.head->refused_records, __ATOMIC_RELAXED));
	if (g->store)
		s->losses.total[LOSS_STORE_FULL] += registration_cache_take_forgotten(g->store);
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
	uint64_t now = session_now_ns();
	size_t first = s->guests.next < s->guests.nr ? s->guests.next : 0;

	s->guests.are_busy = false;
	for (size_t n = 0; n < s->guests.nr; n++) {
		struct guest *g = &s->guests.guest[(first + n) % s->guests.nr];
		bool ended = false;

		if (!g->log.head)
			continue;
		if (s->root_ended || g->log.has_more || now - g->looked_ns >= LOOK_NS) {
			g->looked_ns = now;
			ended = has_ended(g); /* before the drain: what it wrote last is there then */
		}
		if (how == DRAIN_LAST) /* what it says from now on is in no trace */
			log_drain_refuse(&g->log);
		drain_guest(s, g, how == DRAIN_LAST || ended, how == DRAIN_SOME ? now + AT_A_TIME_NS : 0);
		if (how == DRAIN_LAST || (ended && !g->log.has_more))
			write_guest_counters(s, g, 0, true);
		else
			write_counters_at_times(s, g, now);
		if (ended && !g->log.has_more)
			close_guest(g);
		if (g->log.has_more) /* the others come first then */
			s->guests.next = (first + n + 1) % s->guests.nr;
	}
}

void session_heartbeat(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head)
			__atomic_fetch_add(&s->guests.guest[i].log.head->heartbeats, 1, __ATOMIC_RELAXED);
}

bool session_guest_lives(const struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head)
			return true;
	return false;
}

void session_close_guests(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head)
			close_guest(&s->guests.guest[i]);
	free(s->guests.guest);
	s->guests.guest = NULL;
	s->guests.nr = s->guests.capacity = 0;
}

/* Slots of guests that have ended are used again: a month of short children must not grow us. */
static struct guest *new_guest(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (!s->guests.guest[i].log.head)
			return &s->guests.guest[i];
	if (!GROW(s->guests.guest, s->guests.nr, s->guests.capacity))
		return NULL;
	return &s->guests.guest[s->guests.nr++];
}

static void write_guest(struct session *s, const struct guest *g)
{
	TRACE_PUT(s->writer, guest, session_now_ns(), g->pid, g->tid, .version = trace_string(g->version), .log_bytes = g->log.ring_bytes);
	if (s->gdb_jit || gdb_jit_poll_create(s->writer, &s->gdb_jit) == 0)
		gdb_jit_poll_add_with_agent(s->gdb_jit, (pid_t)g->pid);
}

static const char *why_no_log(int error)
{
	return error == EFBIG ? "limit of file sizes: ulimit -f" : strerror(error);
}

static void say_hello(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	uint64_t bytes = h->message.log_bytes, most = s->options.dormant ? LOG_RING_BYTES_DORMANT : LOG_RING_BYTES_DEFAULT;
	struct guest *g;
	int fd = -1;

	/* exec in the same process: the old image's log has no writer any more */
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head && s->guests.guest[i].pid == (uint32_t)h->pid) {
			drain_guest(s, &s->guests.guest[i], true, 0);
			write_guest_counters(s, &s->guests.guest[i], 0, true);
			close_guest(&s->guests.guest[i]);
		}
	g = new_guest(s);
	if (!g) {
		answer->status = -ENOMEM;
		handshake_answer(h, answer, -1);
		return;
	}
	*g = (struct guest){ .pid = (uint32_t)h->pid, .pidfd = -1, .tid = h->message.tid };
	g->is_child = h->message.flags & WIRE_FLAG_CHILD;
	if (!g->is_child)
		session_unheard_hello(s, g->pid);
	snprintf(g->version, sizeof(g->version), "%.*s", (int)sizeof(h->message.guest_version) - 1, h->message.guest_version);
	if (bytes == 0 || bytes > most)
		bytes = most;
	if (bytes < LOG_RING_BYTES_MIN)
		bytes = LOG_RING_BYTES_MIN;
	answer->status = log_drain_create(&g->log, g->pid, bytes, &fd);
	if (answer->status == 0 && s->options.dormant && registration_cache_create(s->options.store_bytes, &g->store)) {
		log_drain_close(&g->log);
		close(fd);
		answer->status = -ENOMEM;
	}
	if (answer->status) {
		if (!s->noticed.log)
			session_notice(s, "host", "registrations of process %d unavailable (cannot create its log: %s); sampling without "
				       "them; further processes with this error are not reported", (int)h->pid,
				       why_no_log(-answer->status));
		s->noticed.log = true;
		handshake_answer(h, answer, -1);
		return;
	}
	g->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
	answer->ring_bytes = g->log.ring_bytes;
	session_describe_sampler(s, answer);
	if (s->sampler != WIRE_SAMPLER_NONE) {
		/* no inherited counter tells of these */
		if (h->message.flags & WIRE_FLAG_CHILD)
			session_write_process(s, h->pid, false);
		else
			session_write_exec(s, h->pid);
		session_write_maps(s, h->pid, session_now_ns());
	}
	if (s->writer) {
		engines_has_agent(s->engines, h->pid);
		write_guest(s, g);
	}
	handshake_answer(h, answer, fd);
	close(fd);
}

void session_replay_guests(struct session *s)
{
	for (size_t i = 0; i < s->guests.nr; i++) {
		const struct guest *g = &s->guests.guest[i];
		struct log_context c = { s, g->pid, NULL, NULL };

		if (!g->log.head)
			continue;
		write_guest(s, g);
		registration_cache_each(g->store, on_log_record, &c);
	}
	session_write_counters(s, JITREG_VALUES_BASE);
}

/* A stranger's file must not become a ring: it could be cut under us. */
static bool is_perf_event(int fd)
{
	static const char is[] = "anon_inode:[perf_event]";
	char path[32], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target));
	return n == (ssize_t)sizeof(is) - 1 && memcmp(target, is, sizeof(is) - 1) == 0;
}

static const char *why_uncounted(int error)
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

static void take_counters(struct session *s, struct handshake *h, struct wire_answer *answer)
{
	const char *what = "no counter";
	int error = h->message.error;

	if (h->nr_fds) {
		answer->status = 0;
		for (int i = 0; i < h->nr_fds; i++)
			if (!is_perf_event(h->fds[i]))
				answer->status = -EBADF;
		if (answer->status == 0)
			answer->status = session_add_thread(s, h->fds, h->nr_fds, (uint32_t)h->pid, h->message.tid);
		error = -answer->status;
		what = "no ring buffer";
	} else {
		answer->status = -EINVAL;
	}
	if (answer->status == 0) {
		for (int i = 0; i < h->nr_fds; i++)
			h->fds[i] = -1; /* the ring's now */
	} else {
		s->losses.total[LOSS_UNCOUNTED]++;
		if (!s->noticed.uncounted)
			session_notice(s, "refused", "cannot sample thread %u of process %d: %s (%s); further threads with this error "
				       "are not reported", h->message.tid, (int)h->pid, what, why_uncounted(error));
		s->noticed.uncounted = true;
	}
	/* a thread waits for milliseconds only, and then runs the host's code */
	if (!handshake_answer(h, answer, -1) && answer->status == 0)
		session_lose(s, LOSS_LATE, (uint32_t)h->pid, h->message.tid, 1);
}

static void report_no_descriptors(struct session *s)
{
	s->losses.total[LOSS_UNCOUNTED]++;
	if (!s->noticed.descriptors)
		session_notice(s, "refused", "cannot record a process or thread: limit of open files (ulimit -n; --scope cpu needs "
			       "fewer); further ones with this error are not reported");
	s->noticed.descriptors = true;
}

void session_serve_guests(struct session *s)
{
	struct wire_answer answer;
	struct handshake h;
	int ret, nr = 0;

	/* many new threads must not delay the draining of rings */
	while (nr++ < AT_A_TIME && (ret = handshake_accept(s->socket, s->root, &s->silent, &h)) != -EAGAIN) {
		if (ret == -EMFILE)
			report_no_descriptors(s);
		if (ret == -EPROTONOSUPPORT && !s->noticed.version) {
			s->noticed.version = true;
			session_notice(s, "refused", "registrations of process %d unavailable (its agent is not of version %s, as this "
				       "command); preload the libtailor.so beside this command", (int)h.pid, TAILOR_VERSION);
		}
		if (ret)
			continue;
		session_heartbeat(s);
		memset(&answer, 0, sizeof(answer));
		switch (h.message.request) {
		case WIRE_HELLO:
			say_hello(s, &h, &answer);
			break;
		case WIRE_COUNTER:
			take_counters(s, &h, &answer);
			break;
		case WIRE_COUNTER_MEMORY:
			give_counter_memory(s, &h, &answer);
			break;
		case WIRE_STOP:
			session_notice(s, "host", "agent in process %d disabled: %s", (int)h.pid,
				       strerror(h.message.error));
			handshake_answer(&h, &answer, -1);
			break;
		default:
			answer.status = -EPROTO;
			handshake_answer(&h, &answer, -1);
		}
	}
}
