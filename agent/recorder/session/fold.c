/* SPDX-License-Identifier: MIT */
/*
 * This file looks after the child of the recorder that writes the end of an epoch and then executes the epoch's command (that of `tailor
 * watch` adds the epoch to a store). There is one child at a time until the recording ends (last_epoch.c). While it runs, the epoch after
 * it is not cut, and goes on beyond its planned end if need be.
 *
 * The child begins with a low priority, with which it might never end on a machine that is always busy. So it gets the usual share of the
 * processors when it has taken half the length of an epoch, and comes before others in the last quarter of that length, for FIRST_MOST_NS
 * at most. After that it has the usual share again, since a child that hangs must not take a processor from the programs. The children
 * after one that has delayed a cut begin with the usual share, and fewer samples are taken if the options have a cost, until as many
 * children (HALVINGS_MOST at most) were in time. A child that has not ended after PUT_OFF_MOST more epochs, and has had KILL_LEAST_NS, is
 * taken to hang and is killed, so that epochs do not become longer and longer. If the recorder itself is killed, an alarm ends the child.
 */
#include "agent/recorder/session/internal.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/confine/steward.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICE_OF_END 5 /* niceness for writing the end; not 19, since processes may end before their memory and files are read */
#define NICE_OF_COMMAND 19
#define NICE_USUAL 0
#define NICE_FIRST (-20)
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_WHO_GROUP 2
#define IOPRIO_USUAL (2 << 13 | 4)
#define IOPRIO_IDLE (3 << 13)
#define PUT_OFF_MOST 3
#define KILL_LEAST_NS 10000000000ull /* least time of a child, as one that does not hang may need it on a busy machine */
#define FIRST_MOST_NS 30000000000ull
#define ALONE_S 60 /* seconds after which the alarm ends a child, beyond the epochs after which the recorder would kill it */
#define HALVINGS_MOST 6 /* maximum number of times that the rate is halved */

/* Closes the recorder's sockets, since their names would stay taken as long as the child runs, and a new recorder needs them if this one
 * ends. */
static void leave_sockets(struct session *s)
{
	int *own[] = { &s->connections.socket, &s->asking.socket, &s->asking.fd };

	visitors_close(&s->connections.silent);
	visitors_close(&s->asking.silent);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (*own[i] >= 0)
			close(*own[i]);
		*own[i] = -1;
	}
}

void session_fold_begin_child(struct session *s)
{
	setpgid(0, 0); /* without this, Ctrl-C, which ends the recording, would also end the child before it has written its trace */
	leave_sockets(s);
	alarm((unsigned)((1 + PUT_OFF_MOST) * s->epochs.length_ns / 1000000000) + ALONE_S); /* the alarm outlasts execve(2) */
	session_lower_priority();
	setpriority(PRIO_PROCESS, 0, s->epochs.behind ? NICE_USUAL : NICE_OF_END);
}

/* Has the steward execute the command, since this child has no right to do so, and ends as the command did: with its exit status, or by the
 * same signal. Exits with CMD_FAILED if the steward cannot execute it. */
static void end_as_stewards_command(const char *path)
{
	int status;

	malloc_trim(0); /* while this child waits for the command, it would keep pages that the recorder has replaced by copies */
	status = steward_run(SESSION_EPOCH_COMMAND, path); /* this waits, and the recorder ends the child if the wait takes too long */
	if (status >= 0 && WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED);
}

void session_fold_execute_command(const struct session *s, const char *path)
{
	char **command = s->options.epoch_command;
	char **words;
	sigset_t none;
	int nr = 0;

	while (command && command[nr])
		nr++;
	if (!nr)
		return;
	words = calloc((size_t)nr + 2, sizeof(*words));
	if (!words)
		_exit(CMD_FAILED);
	memcpy(words, command, (size_t)nr * sizeof(*words));
	words[nr] = strdup(path);
	if (getpriority(PRIO_PROCESS, 0) == NICE_OF_END) { /* late and last children have other priorities, which commands keep */
		setpriority(PRIO_PROCESS, 0, NICE_OF_COMMAND);
		syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (steward_is_there())
		end_as_stewards_command(path);
	execvp(words[0], words);
	message_print("%s: %s", words[0], strerror(errno));
	_exit(CMD_FAILED);
}

void session_fold_say_not_started(struct session *s, uint32_t number, int error)
{
	if (s->options.epoch_command)
		session_notice(s, NOTICE_HOST, "no process could be started for the command of epoch %u (%s): its trace stays", number,
			       strerror(error));
}

void session_fold_note_child(struct epochs *e, pid_t child, uint32_t number)
{
	setpgid(child, child); /* the child does the same, since either may come first, and a kill of the group needs it */
	e->child = child;
	e->child_number = number;
	e->child_ns = clock_now_ns();
	e->is_late = false;
	e->nice = INT_MAX;
}

/* Sets the niceness of the child and its command (NICE_USUAL, NICE_FIRST), and the usual priority for the disk.  Without the privilege the
 * niceness stays. */
static void hasten_child(struct epochs *e, int nice)
{
	if (e->child <= 0 || e->nice == nice)
		return;
	e->nice = nice;
	setpriority(PRIO_PGRP, (id_t)e->child, nice);
	syscall(SYS_ioprio_set, IOPRIO_WHO_GROUP, e->child, IOPRIO_USUAL);
}

/* Writes a notice if the child was killed, or failed.  The command has printed its own errors on stderr.  If a disk is full, each child
 * fails, so failures in succession are reported once, and the first success after them as well. */
static void say_how_child_ended(struct session *s, int status)
{
	bool has_failed = WIFEXITED(status) && WEXITSTATUS(status) != 0, was_killed = WIFSIGNALED(status);
	struct epochs *e = &s->epochs;

	if (was_killed)
		session_notice(s, NOTICE_HOST, "the end of epoch %u, or the command that is for it, was killed by signal %d%s: its trace "
			       "stays", e->child_number, WTERMSIG(status), WTERMSIG(status) == SIGKILL ? " (as for want of memory)" : "");
	else if (has_failed && !e->has_failed)
		session_notice(s, NOTICE_HOST, "the end of epoch %u, or the command that is for it, failed (exit status %d): its trace "
			       "stays", e->child_number, WEXITSTATUS(status));
	else if (!has_failed && e->has_failed)
		session_notice(s, NOTICE_HOST, "the command for epoch %u succeeded again", e->child_number);
	e->has_failed = has_failed;
}

bool session_fold_has_ended(struct session *s)
{
	struct epochs *e = &s->epochs;
	int status;

	if (e->killed > 0 && waitpid(e->killed, NULL, WNOHANG) != 0)
		e->killed = 0;
	if (e->child > 0 && waitpid(e->child, &status, WNOHANG) == e->child) {
		e->child = 0;
		say_how_child_ended(s, status);
	}
	return e->child <= 0;
}

void session_fold_look(struct session *s)
{
	struct epochs *e = &s->epochs;
	uint64_t first_ns = e->length_ns * 3 / 4, first_until_ns, age_ns;

	if (session_fold_has_ended(s))
		return;
	age_ns = clock_now_ns() - e->child_ns;
	first_until_ns = e->length_ns - first_ns < FIRST_MOST_NS ? e->length_ns : first_ns + FIRST_MOST_NS;
	e->is_late |= age_ns > e->length_ns / 2;
	if (e->is_late)
		hasten_child(e, age_ns > first_ns && age_ns < first_until_ns ? NICE_FIRST : NICE_USUAL);
}

void session_fold_hasten(struct session *s)
{
	hasten_child(&s->epochs, NICE_USUAL);
}

/* This does not wait for the child's end, since a killed process may stay in the kernel for long, reading a slow disk.
 * session_fold_has_ended() reaps it later. */
void session_fold_kill(struct epochs *e)
{
	if (e->child <= 0)
		return;
	kill(-e->child, SIGKILL);
	e->killed = e->child;
	e->child = 0;
}

bool session_fold_may_begin(struct session *s)
{
	struct epochs *e = &s->epochs;

	if (session_fold_has_ended(s))
		return true;
	hasten_child(e, NICE_USUAL); /* a child that still runs when a cut is due loses its precedence over other programs */
	if (e->nr_put_off < PUT_OFF_MOST || clock_now_ns() - e->child_ns < KILL_LEAST_NS)
		return false;
	session_fold_kill(e);
	session_notice(s, NOTICE_HOST, "the end of the epoch before this one, and the command that is for it, were killed: %u epochs did "
		       "not suffice", 1 + e->nr_put_off);
	return true;
}

void session_fold_choose_rate(struct session *s)
{
	struct epochs *e = &s->epochs;
	uint32_t before = e->behind;

	if (e->nr_put_off && e->behind < HALVINGS_MOST)
		e->behind++;
	else if (!e->is_late && e->behind)
		e->behind--;
	if (e->behind != before && s->options.counting.cost > 0)
		counting_lower_rate(s->counting, e->behind);
}

void session_fold_say_rate(struct session *s, uint32_t before)
{
	uint32_t behind = s->epochs.behind;

	if (behind == before || !(s->options.counting.cost > 0))
		return;
	if (behind == 0)
		session_notice(s, NOTICE_LADDER, "samples are taken at the full rate again");
	else
		session_notice(s, NOTICE_LADDER, "samples are taken at 1/%u of the rate from now on%s", 1u << behind, behind < before ? "" :
			       ": the end of an epoch, and its command, take longer than an epoch");
}

void session_fold_start_command(struct session *s)
{
	struct epochs *e = &s->epochs;
	pid_t child = fork();

	if (child == 0) {
		e->behind = 1; /* the user waits, so session_fold_begin_child() gives the child the usual share of the processors */
		session_fold_begin_child(s);
		session_fold_execute_command(s, e->path);
		_exit(CMD_FAILED);
	}
	if (child > 0)
		session_fold_note_child(e, child, e->number);
	else
		session_fold_say_not_started(s, e->number, errno);
}
