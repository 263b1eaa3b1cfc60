/* SPDX-License-Identifier: MIT */
/*
 * This file ends a recording that is cut into epochs. A child writes the end of the last epoch, as of those before, and then another
 * executes the epoch's command, if there is one. Reads of files may hang with their file system, and a command may never end, so the
 * recorder waits for a limited time. When it is over, the children are killed, the trace stays as it is, and the next `tailor db add` takes
 * it. A signal that asks for the end shortens the time.
 */
#include "agent/recorder/session/internal.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define SIGNALLED_NS (4300 * MS) /* longest time after a signal, as systemd and people may kill the recorder after not much more */
#define PATIENCE_NS (50000 * MS) /* longest time without a signal, as `tailor stop` waits a minute for the result */
#define FOR_COMMAND_NS (1100 * MS) /* part of either time that is left for the command */
#define FOR_END_NS (700 * MS) /* part of the rest that is left for the trace's last records and for writing them to the disk */
#define LOOK_MS 20
/* If a recorder still records so long after a signal, its host, to which the signal was passed on, has not taken it as a request to end. */
#define END_SIGNAL_NS (60000 * MS)

/* The recorder shares this memory with the child that writes the end of the trace. */
struct written {
	_Atomic uint64_t names_until_ns; /* set by the recorder: time from which the child reads no more files for names */
	struct recording_state state;
	struct diag d;
	int ret;
	bool is_complete;
};

bool session_end_signal_waits(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	return sigismember(&waiting, SIGTERM) || sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGQUIT) ||
	       sigismember(&waiting, SIGHUP);
}

bool session_is_to_end(const struct session *s)
{
	uint64_t ns = s->waiting.end_signal_ns;

	return (ns && clock_now_ns() - ns < END_SIGNAL_NS) || session_end_signal_waits();
}

static bool is_over(void *written)
{
	return clock_now_ns() > ((struct written *)written)->names_until_ns;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t end_of_writing(uint64_t until_ns)
{
	return until_ns - FOR_COMMAND_NS;
}

static uint64_t begin_wait(const struct session *s)
{
	return clock_now_ns() + (session_is_to_end(s) ? SIGNALLED_NS : PATIENCE_NS);
}

/* Waits for a signal, for LOOK_MS at most, and reads those that have come.  One that requests the end brings *until_ns forward. */
static void wait_for_signal(struct session *s, uint64_t *until_ns)
{
	struct pollfd wait = { s->waiting.signals, POLLIN, 0 };
	struct signalfd_siginfo i;

	poll(&wait, 1, LOOK_MS);
	while (s->waiting.signals >= 0 && read(s->waiting.signals, &i, sizeof(i)) == sizeof(i))
		if (i.ssi_signo == SIGTERM || i.ssi_signo == SIGINT || i.ssi_signo == SIGQUIT || i.ssi_signo == SIGHUP)
			*until_ns = earlier(*until_ns, clock_now_ns() + SIGNALLED_NS);
}

/* Runs in the child.  Writes the end of the trace, stores the result in *w, and exits. */
static void write_end(struct session *s, struct recording *r, int wait_status, struct written *w)
{
	s->epochs.behind = 1; /* the user waits, so session_fold_begin_child() gives the child the usual share of the processors */
	session_fold_begin_child(s);
	recording_inherit(r);
	recording_limit_end(r, is_over, w);
	w->ret = recording_end(r, wait_status, &w->state, &w->d);
	w->is_complete = true;
	_exit(CMD_DONE);
}

/* Waits for the child that writes the trace's end, and kills it when the time is over.  Returns true if it has written the whole end.  The
 * child of the epoch before may run at the same time. */
static bool wait_for_writer(struct session *s, pid_t writer, struct written *w, uint64_t *until_ns)
{
	while (waitpid(writer, NULL, WNOHANG) == 0) {
		if (clock_now_ns() > end_of_writing(*until_ns)) {
			kill(-writer, SIGKILL);
			s->epochs.killed = writer;
			return false;
		}
		wait_for_signal(s, until_ns);
		w->names_until_ns = end_of_writing(*until_ns) - FOR_END_NS;
	}
	return w->is_complete;
}

/* Writes the end of the trace by a child, or in this process if fork(2) or mmap(2) fails, and destroys r. Returns 0, or -errno with a
 * sentence. A child that has not written the whole end in time is no error, but leads to a notice. */
static int end_trace(struct session *s, struct recording *r, int wait_status, uint64_t *until_ns, struct recording_state *state,
		     struct diag *d)
{
	struct written *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct written alone = { .names_until_ns = end_of_writing(*until_ns) - FOR_END_NS };
	pid_t writer = -1;
	int ret = 0;

	*state = recording_state(r);
	if (w != MAP_FAILED) {
		w->names_until_ns = alone.names_until_ns;
		writer = fork();
	}
	if (writer == 0)
		write_end(s, r, wait_status, w);
	if (writer < 0) { /* there is no memory or no process left for a child */
		recording_limit_end(r, is_over, &alone);
		ret = recording_end(r, wait_status, state, d);
	} else {
		setpgid(writer, writer);
		recording_leave(r);
		if (wait_for_writer(s, writer, w, until_ns)) {
			*state = w->state;
			*d = w->d;
			ret = w->ret;
		} else {
			session_notice(s, NOTICE_LOSS, "the end of epoch %u was not written in time: its trace stays, without names that "
				       "were not read by then", s->epochs.number);
		}
	}
	if (w != MAP_FAILED)
		munmap(w, sizeof(*w));
	return ret;
}

/* Waits for the child of fold.c, if there is one.  Returns false if it was killed, since the time was over. */
static bool wait_for_child(struct session *s, uint64_t *until_ns)
{
	session_fold_hasten(s);
	while (!session_fold_has_ended(s)) {
		if (clock_now_ns() > *until_ns) {
			session_fold_kill(&s->epochs);
			return false;
		}
		wait_for_signal(s, until_ns);
	}
	return true;
}

#define TRACE_STAYS "the trace stays, and the next `tailor watch` or `tailor db add` takes it"

static bool wait_for_command(struct session *s, uint64_t *until_ns)
{
	bool in_time = wait_for_child(s, until_ns);

	if (!in_time)
		session_notice(s, NOTICE_HOST, "the command for epoch %u had not ended in time, and was killed: " TRACE_STAYS,
			       s->epochs.child_number);
	return in_time;
}

int session_last_epoch_end(struct session *s, struct recording *r, int wait_status, struct recording_state *state, struct diag *d)
{
	uint64_t until_ns = begin_wait(s);
	int ret = end_trace(s, r, wait_status, &until_ns, state, d);
	bool in_time = wait_for_command(s, &until_ns);

	if (ret || !s->options.epoch_command)
		return ret;
	if (in_time) {
		session_fold_start_command(s);
		wait_for_command(s, &until_ns);
	} else {
		session_notice(s, NOTICE_HOST, "no time was left for the command of epoch %u: " TRACE_STAYS, s->epochs.number);
	}
	return 0;
}

void session_last_epoch_abandon(struct session *s)
{
	uint64_t until_ns = begin_wait(s);

	wait_for_child(s, &until_ns);
}
