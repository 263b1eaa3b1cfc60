/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/internal.h"

#include "jitreg/base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_MS 20 /* a ring that is half full comes earlier */
#define LISTS_MS 10 /* code that is freed between two looks is never seen */
#define SILENT_MS 1 /* a guest that has connected is about to speak */
#define DORMANT_MS 5 /* a small log fills sooner */
#define FIRST_RING 3 /* among what is polled */
#define VARY_NS 50000000ull /* each change interrupts the processor that counts */
#define EARLY_NS 2000000000ull /* files of images are not read beside a host that runs for shorter than this */
#define FLUSH_NS 200000000ull /* a recorder that is killed loses at most this */
#define NICE (-20) /* a seventh of a processor, beside 500 busy threads on it */
#define SLICE_NS 100000 /* the least that the kernel takes */
#define LAST_TASKS_NS 100000000ull /* how long tasks may outlive the command before they count as left behind */

uint64_t session_now_ns(void)
{
	return clock_now_ns();
}

/* ---------------------------------------------------------------------------------------------------- open, close */

/* Limits that the user's shell set for the host hit us alike: as far as we may, lift them for ourselves. */
void session_raise_limits(void)
{
	static const int limits[] = { RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_MEMLOCK };
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

/*
 * The host may keep every processor busy with more threads than there are, and a ring overflows in a tenth of a second: come
 * first, for the one hundredth of a processor that we need.  Without the privilege for it, at least a short time slice,
 * which Linux 6.12 and later schedule the sooner.
 */
static void come_first(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} a = { .size = sizeof(a), .nice = NICE, .runtime_ns = SLICE_NS };

	if (syscall(SYS_sched_setattr, 0, &a, 0)) {
		a.nice = getpriority(PRIO_PROCESS, 0);
		syscall(SYS_sched_setattr, 0, &a, 0);
	}
}

void session_add_fallback(void *context, const char *sentence)
{
	struct session *s = context;

	if (s->fallbacks.nr < FALLBACKS_MAX)
		snprintf(s->fallbacks.sentence[s->fallbacks.nr++], sizeof(s->fallbacks.sentence[0]), "%s", sentence);
}

/* Signals arrive by descriptor; before this the child was forked, so it has the caller's mask. */
static int open_signals(void)
{
	static const int signals[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&mask, signals[i]);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void session_free(struct session *s)
{
	session_drop_recording(s);
	session_close_guests(s);
	visitors_close(&s->silent);
	visitors_close(&s->asking.silent);
	if (s->socket >= 0)
		close(s->socket);
	if (s->asking.socket >= 0)
		close(s->asking.socket);
	if (s->signals >= 0)
		close(s->signals);
	free(s->poll);
	free(s);
}

int session_open(const struct session_options *o, struct session **out, struct diag *d)
{
	struct session *s = calloc(1, sizeof(*s));
	uint64_t random = 0;
	int ret;

	if (!s)
		return diag_fail(d, ENOMEM, "out of memory for a session");
	s->options = s->dormant_options = *o;
	s->socket = s->signals = s->asking.socket = s->asking.fd = -1;
	/* a name that another has is a session that may not be, and whose trace may be there */
	ret = o->socket ? session_listen(s, o->socket, d) : 0;
	if (ret == 0 && !o->dormant)
		ret = session_begin_recording(s, d);
	if (ret) {
		session_free(s);
		return ret;
	}
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = session_now_ns();
	s->random = random;
	if (!o->socket)
		snprintf(s->socket_name, sizeof(s->socket_name), "tailor-%d-%016llx", getpid(), (unsigned long long)random);
	s->signals = open_signals();
	come_first();
	*out = s;
	return 0;
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
	if (s->socket < 0)
		return s->socket;
	s->asking.socket = control_listen(s->socket_name); /* without it, it cannot be asked */
	if (s->asking.socket == -EADDRINUSE) { /* then another name is to be tried */
		close(s->socket);
		s->socket = -1;
		return diag_fail(d, EADDRINUSE, "cannot create the socket for requests: %s", strerror(EADDRINUSE));
	}
	return 0;
}

void session_abandon(struct session *s)
{
	session_drop_recording(s);
	session_free(s);
}

void session_poll_jit_lists(struct session *s, pid_t pid)
{
	int ret = s->gdb_jit ? 0 : gdb_jit_poll_create(s->writer, &s->gdb_jit);

	if (ret == 0)
		ret = gdb_jit_poll_add(s->gdb_jit, pid);
	if (ret == -EPERM)
		session_notice(s, "refused", "GDB JIT interface of process %d unavailable (its memory cannot be read: "
			       "kernel.yama.ptrace_scope); run as root, or sysctl kernel.yama.ptrace_scope=0", (int)pid);
}

/* -------------------------------------------------------------------------------------------------------- the loop */

void session_drain(struct session *s, bool last)
{
	uint64_t now = session_now_ns();

	session_heartbeat(s);
	/* a dormant session's guests are heard after the recording, too */
	session_drain_guests(s, !last ? DRAIN_SOME : s->options.dormant ? DRAIN_ALL : DRAIN_LAST);
	if (!s->writer)
		return;
	if (s->gdb_jit)
		gdb_jit_poll_look(s->gdb_jit, now);
	if (s->gdb_jit && last)
		gdb_jit_poll_finish(s->gdb_jit);
	for (size_t i = 0; i < s->rings.nr; i++)
		session_drain_ring(s, &s->rings.ring[i]);
	engines_look(s->engines, now);
	session_heartbeat(s);
	jit_files_drain(s->jit_files, s->writer, last, &s->losses.total[LOSS_FILES_BAD]);
	images_settle(s->images);
	session_unheard_look(s);
	if (!last)
		session_limit_rates(s, now);
	if (!last && now - s->varied_ns >= VARY_NS) {
		s->varied_ns = now;
		session_vary_periods(s);
	}
	if (last || now - s->last_flush_ns >= FLUSH_NS) {
		s->last_flush_ns = now;
		session_flush_samples(s);
		session_write_losses(s);
		trace_writer_flush_all(s->writer);
		session_look_at_signal_events(s, now);
		s->signalled = true; /* look once more, whatever poll(2) said */
		if (!last && now - s->begin_ns >= EARLY_NS)
			images_write_early(s->images, s->writer, now);
	}
}

/* A ring whose tasks have all ended has nothing more to say once it is drained.  Rings that were added since the poll stand
 * behind those that it looked at. */
static void drop_ended_rings(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->rings.nr; i++) {
		struct ring *r = &s->rings.ring[i];

		r->hung_up |= i < s->rings.nr_polled && s->poll[FIRST_RING + i].revents & (POLLHUP | POLLERR);
		if (r->hung_up && !session_ring_is_written(s, r->fd))
			session_end_ring(s, r);
		else
			s->rings.ring[kept++] = *r;
	}
	s->rings.nr = kept;
	s->rings.nr_polled = 0;
}

static int wait_ms(const struct session *s)
{
	int ms = DRAIN_MS, engines_ms;

	if (s->guests.are_busy)
		return 0;
	if (s->silent.nr || s->asking.silent.nr)
		return SILENT_MS;
	if (!s->writer)
		return DORMANT_MS;
	if (s->gdb_jit && gdb_jit_poll_is_polling(s->gdb_jit))
		ms = LISTS_MS;
	engines_ms = engines_look_ms(s->engines);
	return engines_ms && engines_ms < ms ? engines_ms : ms;
}

static void wait_for_something(struct session *s)
{
	size_t nr = s->rings.nr + FIRST_RING;

	s->rings.nr_polled = 0;
	s->asking.now = false;
	if (nr > s->poll_capacity) {
		struct pollfd *bigger = realloc(s->poll, 2 * nr * sizeof(*bigger));

		if (!bigger) {
			s->signalled = true; /* unknown */
			usleep(DRAIN_MS * 1000);
			return;
		}
		s->poll = bigger;
		s->poll_capacity = 2 * nr;
	}
	s->poll[0] = (struct pollfd){ s->socket, POLLIN, 0 };
	s->poll[1] = (struct pollfd){ s->signals, POLLIN, 0 };
	s->poll[2] = (struct pollfd){ s->asking.socket, POLLIN, 0 };
	for (size_t i = 0; i < s->rings.nr; i++)
		s->poll[FIRST_RING + i] = (struct pollfd){ s->rings.ring[i].hung_up ? -1 : s->rings.ring[i].fd, POLLIN, 0 };
	s->asking.now = s->asking.silent.nr;
	if (poll(s->poll, nr, wait_ms(s)) > 0) {
		s->rings.nr_polled = s->rings.nr;
		s->signalled |= s->poll[1].revents != 0;
		s->asking.now |= s->poll[2].revents != 0;
	} else {
		s->poll[0].revents = 0;
	}
	if (s->poll[0].revents || s->silent.nr)
		session_serve_guests(s);
}

/*
 * The terminal's signals reach the host by themselves; those that were sent to us alone are passed on to a child.  A host
 * that the recorder did not start runs on: there they mean the end of the recording.
 */
static void take_signals(struct session *s, pid_t pid, bool our_child, int *wait_status)
{
	struct signalfd_siginfo i;

	if (!s->signalled)
		return;
	s->signalled = false;
	while (read(s->signals, &i, sizeof(i)) == sizeof(i)) {
		if (i.ssi_signo == SIGCHLD)
			continue;
		if (!our_child)
			s->stop = true;
		else if (i.ssi_code <= 0 && !s->root_ended)
			kill(pid, (int)i.ssi_signo);
		else if (s->root_ended)
			s->stop = true; /* only those that it left behind are still there */
	}
	if (our_child && !s->root_ended && waitpid(pid, wait_status, WNOHANG) == pid)
		s->root_ended = true;
}

static bool tree_has_ended(const struct session *s)
{
	return s->rings.nr == 0 && !session_guest_lives(s);
}

void session_meanwhile(struct session *s)
{
	session_serve_guests(s);
	session_drain(s, false);
}

void session_run(struct session *s, pid_t pid, bool our_child, bool follow, int *wait_status)
{
	int pidfd = our_child ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	uint64_t ended_ns = 0, until_ns = s->options.duration_ns ? session_now_ns() + s->options.duration_ns : UINT64_MAX;

	session_progress_start(s, our_child);
	while (!s->stop && session_now_ns() < until_ns) {
		wait_for_something(s);
		session_drain(s, false);
		session_progress_show(s, session_now_ns());
		drop_ended_rings(s);
		take_signals(s, pid, our_child, wait_status);
		if (s->asking.now) /* rings come and go with it: not before they are drained */
			session_serve_control(s, our_child);
		if (!our_child && !s->root_ended) {
			struct pollfd ended = { pidfd, POLLIN, 0 };

			s->root_ended = pidfd >= 0 ? poll(&ended, 1, 0) == 1 : kill(pid, 0) && errno == ESRCH;
		}
		if (!s->root_ended)
			continue;
		if (tree_has_ended(s))
			break;
		/* the last tasks of a pipeline end together with the command */
		if (!ended_ns)
			ended_ns = session_now_ns();
		if (!s->writer)
			break; /* dormant: no registrations to wait for */
		if (!follow && session_now_ns() - ended_ns >= LAST_TASKS_NS) {
			session_drain_guests(s, DRAIN_ALL); /* what the ended ones have said keeps nobody here */
			if (tree_has_ended(s))
				break;
			session_notice(s, "host", "recording ended with the %s, but processes that it started are still running; "
				       "use --follow to record them, too", our_child ? "command" : "process");
			break;
		}
	}
	session_progress_clear(s);
	if (pidfd >= 0)
		close(pidfd);
}

int session_close(struct session *s, int wait_status, struct diag *d)
{
	int ret = 0;

	if (s->writer) {
		ret = session_end_recording(s, wait_status, d);
		session_progress_clear(s);
		if (!s->options.quiet)
			fprintf(stderr, "%s: %s\n", program_invocation_name, s->result);
	}
	session_answer_asker(s);
	session_free(s);
	return ret;
}
