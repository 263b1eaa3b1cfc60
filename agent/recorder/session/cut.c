/* SPDX-License-Identifier: MIT */
/*
 * This file cuts a recording into files (epochs), while its counters go on. Each file is a whole trace. It begins with the processes,
 * threads and mappings that exist, as a recording that attaches to running processes does, and with the live registrations of all agents.
 *
 * cut_recording() drains the rings and the logs into the old file, writes the counts since the last cut into it, and creates the new one.
 * The cut loses no sample and writes none twice. Reading symbols and maps of JITs for the end of the old file takes longer, so a forked
 * child does that, and then executes the epoch's command, if there is one, with the file's path as last word (fold.c).
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/process_tree.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t recorder_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Prints that a trace could not be written, and what it lost, on stderr, since that trace may take no notice any more. */
static void print_failure(const struct recording_state *state, const struct diag *d)
{
	message_print("%s; lost: %llu samples, %llu other records", d->text, (unsigned long long)state->lost[LOSS_WRITE],
		      (unsigned long long)state->lost[LOSS_WRITE_RECORDS]);
}

/* Runs in the child. Writes the end of the old file, executes the epoch's command unless the writing failed, and exits. */
static void end_old_epoch(struct session *s, struct recording *r, const char *path)
{
	struct recording_state state;
	struct diag d = { "" };
	int ret;

	session_fold_begin_child(s);
	s->recording = NULL; /* it was the next epoch's recording, into which only the recorder may write */
	recording_inherit(r);
	ret = recording_end(r, -1, &state, &d);
	if (ret)
		print_failure(&state, &d);
	if (ret == 0)
		session_fold_execute_command(s, path);
	_exit(ret ? CMD_FAILED : CMD_DONE);
}

/* Forks a child that writes the end of the old trace, while the recorder goes on with the new one.  If fork() fails for want of memory or
 * processes, the recorder writes that end itself, and the spill thread empties the rings meanwhile.  The epoch's command is not executed
 * then.  r is destroyed. */
static void leave_old_epoch(struct session *s, struct recording *r, const char *path)
{
	int64_t cpu_ns = recorder_cpu_ns();
	struct recording_state state = recording_state(r);
	struct diag d = { "" };
	pid_t child;

	recording_note_recorder_usage(r, cpu_ns - s->epochs.told_cpu_ns);
	s->epochs.samples += state.samples;
	child = fork();
	if (child == 0)
		end_old_epoch(s, r, path);
	if (child > 0) {
		session_fold_note_child(&s->epochs, child, s->epochs.number - 1);
		recording_leave(r);
	} else {
		session_fold_say_not_started(s, s->epochs.number - 1, errno);
		recording_note_recorder_usage(r, -s->epochs.told_cpu_ns);
		if (recording_end(r, -1, &state, &d))
			print_failure(&state, &d);
	}
	s->epochs.told_cpu_ns = cpu_ns;
}

/* Writes everything that was counted and registered until now into the old epoch's file, before the new one becomes the sink. */
static void tell_old_epoch(struct session *s)
{
	session_drain(s, false);
	counting_cut(s->counting);
	session_drain_guests(s, DRAIN_ALL); /* the rings come first, so code that was registered before their samples is in the file */
	recording_poll_jit_lists(s->recording);
	session_write_counters(s, 0);
	session_unheard_write_notices(s);
	recording_flush(s->recording);
}

static int begin_new_epoch(struct session *s, char *path, struct diag *d)
{
	struct recording *old = s->recording;
	char *old_path = s->epochs.path;
	int ret;

	s->epochs.path = path;
	s->epochs.number++;
	ret = session_create_recording(s, d);
	if (ret == 0)
		return 0;
	s->recording = old;
	s->epochs.path = old_path;
	s->epochs.number--;
	return ret;
}

/* Puts the cut off to the next multiple of the epochs' length, as it cannot be made now.  The first time in an epoch, a notice says why. */
static void put_off_cut(struct session *s, const char *why)
{
	struct epochs *e = &s->epochs;

	if (!e->nr_put_off++)
		session_notice(s, NOTICE_HOST, "epoch %u goes on beyond its end: %s", e->number, why);
	session_epochs_plan(e);
	e->asked = e->step_ns && e->child > 0; /* the epoch has times from before and after the clock's step, so it ends once it can */
}

/* Writes a notice if CLOCK_REALTIME has stepped by a second or more.  A suspended machine counts as a step ahead, since CLOCK_MONOTONIC,
 * which samples have, stands still meanwhile. */
static void say_step(struct session *s)
{
	int64_t step_ns = s->epochs.step_ns;

	if (step_ns)
		session_notice(s, NOTICE_HOST, "the machine's clock went %.0f s %s", fabs((double)step_ns / 1e9),
			       step_ns > 0 ? "ahead" : "back");
}

static void cut_recording(struct session *s)
{
	char *path = session_epochs_format_path(s->options.output, s->epochs.number + 1), *old_path = s->epochs.path;
	struct recording *old = s->recording;
	struct process_tree tree = { 0 };
	uint64_t begin_ns = clock_now_ns();
	uint32_t behind = s->epochs.behind;
	struct diag d = { "" };

	if (!path || session_epochs_find_processes(s, &tree)) {
		put_off_cut(s, strerror(ENOMEM));
		free(path);
	} else {
		session_fold_choose_rate(s); /* this may drain the rings into the old file, so it comes before that file's last records */
		tell_old_epoch(s);
		if (begin_new_epoch(s, path, &d)) {
			put_off_cut(s, d.text);
			free(path);
		} else {
			leave_old_epoch(s, old, old_path);
			free(old_path);
			malloc_trim(0); /* this returns the old recording's memory to the system before more is allocated behind it */
			session_describe_counted(s, &tree, begin_ns);
			session_replay_guests(s);
			session_fold_say_rate(s, behind);
			s->epochs.nr_put_off = 0;
			session_epochs_note_begin(&s->epochs);
			session_epochs_plan(&s->epochs);
		}
	}
	process_tree_fini(&tree);
}

void session_cut_if_due(struct session *s)
{
	if (!session_epochs_are_due(s))
		return;
	if (session_fold_may_begin(s))
		cut_recording(s);
	else
		put_off_cut(s, "the one before is not written yet");
	say_step(s);
}
