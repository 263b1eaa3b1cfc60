/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/message.h"

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

#define DRAIN_MS 20 /* interval of drains; a ring that is half full wakes the loop earlier */
/* If rings were empty for a second (REST_ROUNDS) and no guest is connected, waking up is most of what a recording costs, so the interval is
 * longer. */
#define REST_MS 60
#define REST_ROUNDS 50
#define SILENT_MS 1 /* interval while a connection has sent nothing yet, as its guest waits and is about to */
#define DORMANT_MS 5 /* interval of a dormant session, shorter because its smaller logs fill sooner */
#define FIRST_RING 3 /* index of the first ring among the polled descriptors */
#define LAST_TASKS_NS 100000000ull /* how long tasks may outlive the command before they count as left behind */

/* ---------------------------------------------------------------------------------------------------- open, close */

/* Raises the hard limit of descriptors to the kernel's maximum, if the recorder has the privilege.  A process of thousands of threads needs
 * more descriptors than shells usually allow. */
static void raise_hard_descriptor_limit(void)
{
	long long most = 0;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && proc_read_number("/proc/sys/fs/nr_open", &most) && (rlim_t)most > r.rlim_max) {
		r.rlim_max = (rlim_t)most;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* Limits that the user's shell set for the host also apply to the recorder, which needs more than the host. */
void session_raise_limits(void)
{
	static const int limits[] = { RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_MEMLOCK };
	struct rlimit r;

	raise_hard_descriptor_limit();
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (getrlimit(limits[i], &r) == 0 && r.rlim_cur != r.rlim_max) {
			r.rlim_cur = r.rlim_max;
			setrlimit(limits[i], &r);
		}
	signal(SIGXFSZ, SIG_IGN); /* writes beyond the limit fail with EFBIG instead */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

/* Blocks the signals that session_run() reads by a descriptor.  The command of `tailor run` was forked before this, so it has the caller's
 * mask. */
static void block_signals(sigset_t *mask)
{
	static const int signals[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

	sigemptyset(mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(mask, signals[i]);
	sigprocmask(SIG_BLOCK, mask, NULL);
}

static bool is_end_signal(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
}

static void session_free(struct session *s)
{
	const int own[] = { s->connections.socket, s->asking.socket, s->waiting.signals };

	session_drop_recording(s);
	session_epochs_end(s);
	session_joining_end(s);
	session_close_guests(s);
	visitors_close(&s->connections.silent);
	visitors_close(&s->asking.silent);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] >= 0)
			close(own[i]);
	free(s->root.named.at);
	free(s->root.attached.at);
	free(s->waiting.fd);
	free(s);
}

int session_open(const struct session_options *o, struct session **out, struct diag *d)
{
	struct session *s = calloc(1, sizeof(*s));
	uint64_t random = 0;
	sigset_t signals;
	int ret;

	if (!s)
		return diag_fail(d, ENOMEM, "out of memory for a session");
	s->options = s->dormant.options = *o;
	s->connections.socket = s->waiting.signals = s->asking.socket = s->asking.fd = -1;
	block_signals(&signals); /* this comes first, so that a signal from now on ends the recording and not the recorder */
	s->waiting.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->waiting.signals < 0) { /* nothing could end the recording */
		ret = diag_fail(d, errno, "no descriptor for signals: %s", strerror(errno));
		session_free(s);
		return ret;
	}
	session_raise_priority(); /* this comes before the cost of a sample is measured, which other processes would disturb */
	/* if another recorder owns the socket's name, this fails before the trace of that recorder is replaced */
	ret = o->socket ? session_listen(s, o->socket, d) : 0;
	if (ret == 0 && !o->dormant)
		ret = session_begin_recording(s, d);
	if (ret) {
		session_free(s);
		return ret;
	}
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = clock_now_ns();
	if (!o->socket)
		snprintf(s->connections.name, sizeof(s->connections.name), "tailor-%d-%016llx", getpid(), (unsigned long long)random);
	*out = s;
	return 0;
}

const char *session_socket_name(const struct session *s)
{
	return s->connections.name;
}

int session_listen(struct session *s, const char *name, struct diag *d)
{
	if (name)
		snprintf(s->connections.name, sizeof(s->connections.name), "%s", name);
	s->connections.socket = handshake_listen(s->connections.name, d);
	if (s->connections.socket < 0)
		return s->connections.socket;
	s->asking.socket = control_listen(s->connections.name); /* if this fails otherwise than below, requests are not served */
	if (s->asking.socket == -EADDRINUSE) { /* this is an error, so that the caller can try another name */
		close(s->connections.socket);
		s->connections.socket = -1;
		return diag_fail(d, EADDRINUSE, "cannot create the socket for requests: %s", strerror(EADDRINUSE));
	}
	return 0;
}

static int count_running_process(struct session *s, pid_t pid)
{
	uint64_t begin_ns = clock_now_ns();
	bool by_threads = counting_sampler(s->counting) != WIRE_SAMPLER_NONE;
	int ret = 0;

	recording_add_engine_process(s->recording, pid);
	if (!by_threads && recording_is_postmaster(s->recording, pid))
		return session_attach_tree(s, pid);
	recording_add_process(s->recording, pid, "");
	session_epochs_note_process(s, (uint32_t)pid);
	if (by_threads)
		counting_begin_by_threads(s->counting);
	else
		ret = counting_attach(s->counting, pid);
	if (ret == 0) { /* the counters report later mappings; these have JITREG_TIME_BEFORE, so that they hide none of them */
		recording_write_maps(s->recording, pid, begin_ns, JITREG_TIME_BEFORE);
		recording_write_threads(s->recording, pid, begin_ns);
	}
	return ret;
}

static int count_forked_command(struct session *s, pid_t pid)
{
	recording_add_child(s->recording, pid, s->options.command);
	session_epochs_note_process(s, (uint32_t)pid);
	if (counting_sampler(s->counting) == WIRE_SAMPLER_NONE)
		return counting_begin_at_exec(s->counting, pid);
	counting_begin_by_threads(s->counting);
	return 0;
}

int session_start_counting(struct session *s, pid_t pid, bool on_exec, struct diag *d)
{
	int ret;

	ret = session_add_root(s, pid);
	if (ret)
		return diag_fail(d, -ret, "out of memory for a process");
	if (s->options.dormant)
		return 0; /* nothing is counted until a recording is requested */
	ret = on_exec ? count_forked_command(s, pid) : count_running_process(s, pid);
	return ret ? session_explain_counting(s, pid, ret, d) : 0;
}

void session_abandon(struct session *s)
{
	session_drop_recording(s);
	session_free(s);
}

void session_poll_jit_lists(struct session *s, pid_t pid)
{
	s->epochs.polls_lists = true;
	recording_watch_jit_lists(s->recording, pid);
}

bool session_can_read_jvm(struct session *s, pid_t pid)
{
	return s->recording && recording_can_read_jvm(s->recording, pid);
}

bool session_python_has_answered(const struct session *s, pid_t pid)
{
	return s->recording && recording_python_has_answered(s->recording, pid);
}

/* -------------------------------------------------------------------------------------------------------- the loop */

static int drain_interval_ms(struct session *s)
{
	uint64_t read = s->counting ? counting_read_bytes(s->counting) : 0;
	struct waiting *w = &s->waiting;

	w->rounds_at_rest = read == w->read_bytes && !session_has_living_guest(s) ? w->rounds_at_rest + 1 : 0;
	w->read_bytes = read;
	return w->rounds_at_rest > REST_ROUNDS ? REST_MS : DRAIN_MS;
}

static int poll_timeout_ms(struct session *s)
{
	if (s->guests.are_busy)
		return 0;
	if (s->connections.silent.nr || s->asking.silent.nr)
		return SILENT_MS;
	return s->recording ? recording_wait_ms(s->recording, drain_interval_ms(s)) : DORMANT_MS;
}

static bool make_pollfd_room(struct waiting *w, size_t nr)
{
	struct pollfd *bigger = nr <= w->capacity ? w->fd : realloc(w->fd, 2 * nr * sizeof(*bigger));

	if (!bigger)
		return false;
	w->capacity = nr <= w->capacity ? w->capacity : 2 * nr;
	w->fd = bigger;
	return true;
}

static void wait_for_events(struct session *s)
{
	size_t nr_rings = s->counting ? counting_nr_rings(s->counting) : 0;
	struct waiting *w = &s->waiting;
	size_t nr_joining;
	int nr_ready;

	w->rings = false;
	s->asking.now = false;
	if (!make_pollfd_room(w, FIRST_RING + nr_rings + session_joining_nr(s))) {
		w->signalled = true; /* whether a signal has come is unknown */
		usleep(DRAIN_MS * 1000);
		return;
	}
	w->fd[0] = (struct pollfd){ s->connections.socket, POLLIN, 0 };
	w->fd[1] = (struct pollfd){ w->signals, POLLIN, 0 };
	w->fd[2] = (struct pollfd){ s->asking.socket, POLLIN, 0 };
	if (s->counting)
		counting_fill_poll(s->counting, w->fd + FIRST_RING);
	nr_joining = session_joining_fill_poll(s, w->fd + FIRST_RING + nr_rings);
	s->asking.now = s->asking.silent.nr;
	nr_ready = poll(w->fd, FIRST_RING + nr_rings + nr_joining, session_joining_wait_ms(s, poll_timeout_ms(s)));
	session_joining_note_wake(s);
	if (nr_ready > 0) {
		w->rings = true;
		w->signalled |= w->fd[1].revents != 0;
		s->asking.now |= w->fd[2].revents != 0;
	} else {
		w->fd[0].revents = 0;
	}
	if (w->fd[0].revents || s->connections.silent.nr)
		session_serve_guests(s);
}

/* Has the child ended?  It is not reaped, so that its resources can still be read from /proc.  wait4() reaps it later. */
static bool child_has_ended(pid_t pid)
{
	siginfo_t ended = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid;
}

/* Pauses counting, or resumes it if it is paused.  c may be NULL, as it is while nothing is recorded. */
static void turn_counting(struct counting *c)
{
	if (c)
		counting_pause(c, !counting_is_paused(c));
}

/*
 * Reads the signals that have come, and reaps the command if it has ended.  With epochs, SIGUSR1 ends the epoch, and SIGUSR2 pauses or
 * resumes counting.  The other signals (SIGCHLD excepted) end the recording of a host that the recorder did not start.  Signals that a
 * process sent to the recorder are passed on to a command that it started.  Those of the terminal, which the command also gets, are not,
 * and the command's end ends the recording.  Signals after that end a recording that still waits for processes of the command.
 */
static void handle_pending_signals(struct session *s, pid_t pid, bool our_child, int *wait_status)
{
	struct signalfd_siginfo i;
	struct rusage usage;

	if (!s->waiting.signalled)
		return;
	s->waiting.signalled = false;
	while (read(s->waiting.signals, &i, sizeof(i)) == sizeof(i)) {
		if (i.ssi_signo == SIGCHLD)
			continue;
		if (is_end_signal((int)i.ssi_signo))
			s->waiting.end_signal_ns = clock_now_ns();
		if (i.ssi_signo == SIGUSR1 && s->epochs.length_ns)
			session_epochs_ask(s);
		else if (i.ssi_signo == SIGUSR2 && s->epochs.length_ns)
			turn_counting(s->counting);
		else if (!our_child)
			s->waiting.stop = true;
		else if (i.ssi_code <= 0 && !s->root.ended)
			kill(pid, (int)i.ssi_signo);
		else if (s->root.ended)
			s->waiting.stop = true; /* the command has ended, so only processes that it left behind are waited for */
	}
	if (our_child && !s->root.ended && s->recording && child_has_ended(pid))
		recording_write_resources(s->recording, (uint32_t)pid, "end", clock_now_ns());
	if (our_child && !s->root.ended && wait4(pid, wait_status, WNOHANG, &usage) == pid) {
		s->root.ended = true;
		if (s->recording && !s->options.dormant && s->epochs.number < 2) /* a later epoch has only a part of the command's time */
			recording_note_command_usage(s->recording, &usage);
	}
}

static bool tree_has_ended(const struct session *s)
{
	return (!s->counting || !counting_has_tasks(s->counting)) && !session_has_living_guest(s);
}

/* Fills fds with a pidfd of each named process, or -1 where pidfd_open(2) fails. */
static void open_pidfds(const struct root *root, int *fds)
{
	for (uint32_t i = 0; i < root->named.nr; i++)
		fds[i] = (int)syscall(SYS_pidfd_open, root->named.at[i], 0);
}

static bool have_all_ended(const struct root *root, const int *fds)
{
	for (uint32_t i = 0; i < root->named.nr; i++) {
		struct pollfd ended = { fds ? fds[i] : -1, POLLIN, 0 };

		if (ended.fd >= 0 ? poll(&ended, 1, 0) != 1 : !(kill(root->named.at[i], 0) && errno == ESRCH))
			return false;
	}
	return true;
}

/* Does the recording go on when all named processes have ended, until a signal, `tailor stop` or its duration ends it? */
static bool waits_for_newcomers(const struct session_options *o)
{
	return o->all || session_wants_service(o) || (session_wants_names(o) && o->follow);
}

void session_serve_and_drain(struct session *s)
{
	session_serve_guests(s);
	session_drain(s, false);
}

void session_call_each_round(struct session *s, void (*each_round)(void))
{
	s->each_round = each_round;
}

void session_run(struct session *s, pid_t pid, bool our_child, bool follow, int *wait_status)
{
	int *pidfds = our_child ? NULL : calloc(s->root.named.nr, sizeof(*pidfds));
	uint64_t ended_ns = 0, until_ns = s->options.duration_ns ? clock_now_ns() + s->options.duration_ns : UINT64_MAX;

	if (pidfds)
		open_pidfds(&s->root, pidfds);
	session_progress_start(s, our_child);
	while (!s->waiting.stop && clock_now_ns() < until_ns) {
		wait_for_events(s);
		session_drain(s, false);
		if (s->each_round)
			s->each_round();
		session_progress_show(s, clock_now_ns());
		if (s->counting)
			counting_drop_ended_rings(s->counting, s->waiting.rings ? s->waiting.fd + FIRST_RING : NULL);
		handle_pending_signals(s, pid, our_child, wait_status);
		session_cut_if_due(s);
		if (s->asking.now) /* requests create and destroy rings, so they come after the last use of the polled descriptors */
			session_serve_control(s, our_child);
		session_take_newcomers(s);
		if (!our_child && !s->root.ended && !waits_for_newcomers(&s->options))
			s->root.ended = have_all_ended(&s->root, pidfds) && !session_has_newcomers(s);
		if (!s->root.ended)
			continue;
		if (tree_has_ended(s))
			break;
		/* other tasks of a shell's pipeline end a moment after the command, so they have LAST_TASKS_NS */
		if (!ended_ns)
			ended_ns = clock_now_ns();
		if (!s->recording)
			break; /* a dormant session has no recording from which other processes could be missing */
		if (!follow && clock_now_ns() - ended_ns >= LAST_TASKS_NS) {
			session_drain_guests(s, DRAIN_ALL); /* this closes logs of ended guests, which would be taken for living */
			if (tree_has_ended(s))
				break;
			session_notice(s, NOTICE_HOST, "recording ended with the %s, but processes that it started are still running; "
				       "use --follow to record them, too", our_child ? "command" : "process");
			break;
		}
	}
	session_progress_clear(s);
	for (uint32_t i = 0; !our_child && s->recording && i < s->root.named.nr; i++)
		recording_write_resources(s->recording, (uint32_t)s->root.named.at[i], "end", clock_now_ns());
	for (uint32_t i = 0; pidfds && i < s->root.named.nr; i++)
		if (pidfds[i] >= 0)
			close(pidfds[i]);
	free(pidfds);
}

int session_close(struct session *s, int wait_status, struct diag *d)
{
	int ret = 0;

	if (s->recording) {
		ret = session_end_recording(s, wait_status, d);
		session_progress_clear(s);
		if (!s->options.quiet)
			message_print("%s", s->result);
	}
	session_answer_stop_request(s);
	session_free(s);
	return ret;
}
