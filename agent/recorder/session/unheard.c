/* SPDX-License-Identifier: MIT */
/*
 * This file reports programs that processes of the tree executed, and whose agent did not connect, for example because LD_PRELOAD was lost
 * or the library could not be loaded. The reason is found in /proc while they run, and at the end there is one notice for each reason.
 * Processes that ran on after the kernel had ended their counters are reported as well.
 *
 * The kernel's records of execs come from several rings, and the agents' first messages (WIRE_HELLO) by a socket, so the message of an
 * agent may be read before the record of the exec that started it.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/program.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/name_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRAINS_TO_LOOK 5      /* drains in which a program is examined, as long as /proc has shown no reason */
#define DRAINS_AFTER_END 5    /* drains for which an ended program is kept, since its agent's hello may be read that late */
#define YOUNG_NS 200000000ull /* a program that has run for less than this at the end is not reported, as its agent may be starting */
#define LATE_NS 80000000ull /* if the record of an exec is read later than this, its agent may have given up waiting for the recorder */
#define CLOCKS_NS 2000000	      /* largest difference between the time of the kernel's record and the recorder's clock */

#define REASON_TEXT(NAME, text) text,
static const char *const reasons[] = { UNHEARD_REASONS(REASON_TEXT) };
#undef REASON_TEXT

static bool paths_are_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

enum in_environment { IS_NOT_THERE, IS_THERE, IS_NOT_KNOWN };

struct searched {
	const char *key, *text;
};

static int is_searched_variable(void *searched, const char *entry)
{
	const struct searched *s = searched;

	return strncmp(entry, s->key, strlen(s->key)) == 0 && strstr(entry, s->text);
}

/* Looks for a variable of a process's environment (/proc/PID/environ) that begins with key and contains the text. */
static enum in_environment find_in_environment(uint32_t pid, const char *key, const char *text)
{
	struct searched s = { key, text };
	int ret = proc_each_terminated_text((pid_t)pid, "environ", is_searched_variable, &s);

	return ret < 0 ? IS_NOT_KNOWN : ret ? IS_THERE : IS_NOT_THERE;
}

/* Finds out why the agent of a running program has not connected, and sets p->reason if it is known.  Returns false if the program's user
 * has turned the agent off (TAILOR_OFF), so that nothing is to be reported. */
static bool find_unheard_reason(struct unheard_program *p)
{
	char root[64], space[64], net[64], exe[64];
	struct program program;

	snprintf(root, sizeof(root), "/proc/%u/root/", p->pid);
	snprintf(space, sizeof(space), "/proc/%u/ns/mnt", p->pid);
	snprintf(net, sizeof(net), "/proc/%u/ns/net", p->pid);
	snprintf(exe, sizeof(exe), "/proc/%u/exe", p->pid);
	if (access(exe, F_OK))
		return true;
	if (find_in_environment(p->pid, "TAILOR_OFF=", "") == IS_THERE)
		return false;
	program_inspect(exe, &program);
	if (!program.error && program.why_not)
		p->reason = program.fit == PRELOAD_SANITIZER   ? UNHEARD_SANITIZER :
			    program.fit == PRELOAD_OTHER_LIBC  ? UNHEARD_OTHER_LIBC :
			    program.fit == PRELOAD_OTHER_CLASS ? UNHEARD_OTHER_CLASS :
			    program.fit == PRELOAD_FITS	       ? UNHEARD_PRIVILEGED :
								 UNHEARD_STATIC;
	else if (program_is_limited((pid_t)p->pid))
		p->reason = UNHEARD_LIMITED;
	else if (!paths_are_same_file(root, "/") || !paths_are_same_file(space, "/proc/self/ns/mnt"))
		p->reason = UNHEARD_ROOT;
	else if (!paths_are_same_file(net, "/proc/self/ns/net"))
		p->reason = UNHEARD_NET;
	else if (find_in_environment(p->pid, "LD_PRELOAD=", "libtailor.so") == IS_NOT_THERE)
		p->reason = UNHEARD_ENVIRONMENT;
	return true;
}

static void drop_unheard_program(struct unheard *u, uint32_t i)
{
	u->program[i] = u->program[--u->nr];
}

static void add_name(char *names, size_t room, const char *name)
{
	size_t used = strlen(names);

	if (name_list_has(names, name, ", "))
		return;
	if (used + strlen(name) + sizeof(", …") < room)
		snprintf(names + used, room - used, "%s%s", used ? ", " : "", name);
	else if (!strstr(names, "…"))
		snprintf(names + used, room - used, ", …");
}

static void count_unheard_program(struct unheard *u, const struct unheard_program *p)
{
	u->of_reason[p->reason]++;
	add_name(u->names[p->reason], sizeof(u->names[0]), p->comm);
}

/* Does the process run on although the kernel has reported its end?  The kernel does so if it ends a process's counters, at the exec of a
 * program that is setuid or that its user may not read.  A process that has really ended has no memory any more.  false for the command of
 * `tailor run` if that has reported it already. */
static bool runs_on(const struct session *s, uint32_t pid)
{
	struct proc_status now;

	return !(s->options.uncounted && pid == (uint32_t)s->root.pid) && proc_status((pid_t)pid, 0, &now) == 0 && now.has_memory;
}

/* May the kernel have ended the counters of the process when it executed its program?  It does so with one that gives privileges, or that
 * its user may not read. */
static bool may_be_uncounted(uint32_t pid)
{
	struct program program;
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/%u/exe", pid);
	program_inspect(exe, &program);
	return program.error || program.why_uncounted;
}

static void add_uncounted_process(struct unheard *u, uint32_t pid, uint64_t exit_ns)
{
	struct uncounted_process *p;
	char path[64];

	if (u->nr_uncounted == UNCOUNTED_MAX)
		return;
	p = &u->uncounted[u->nr_uncounted++];
	*p = (struct uncounted_process){ .pid = pid, .exit_ns = exit_ns };
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	proc_read_value(path, "Name", p->name, sizeof(p->name));
}

void session_unheard_note_sample(struct session *s, uint32_t pid, uint64_t time_ns)
{
	struct unheard *u = &s->unheard;

	for (uint32_t i = 0; i < u->nr_uncounted; i++)
		if (u->uncounted[i].pid == pid && time_ns > u->uncounted[i].exit_ns + CLOCKS_NS) {
			u->uncounted[i] = u->uncounted[--u->nr_uncounted];
			return;
		}
}

static void end_unheard_program(struct session *s, uint32_t pid)
{
	for (uint32_t i = 0; i < s->unheard.nr; i++)
		if (s->unheard.program[i].pid == pid)
			s->unheard.program[i].ended = true;
}

void session_unheard_note_exec(struct session *s, const struct kernel_comm *c, uint64_t time_ns)
{
	struct unheard *u = &s->unheard;
	struct unheard_program *p;

	/* `tailor run` itself reports a command that cannot load the agent (no_guest) */
	if (!s->options.preloads || (c->pid == (uint32_t)s->root.pid && s->options.counting.no_guest))
		return;
	end_unheard_program(s, c->pid);
	for (int i = 0; i < UNHEARD_HELLOS; i++)
		if (u->hello[i].pid == c->pid && u->hello[i].time_ns + CLOCKS_NS >= time_ns) {
			u->hello[i].pid = 0;
			return;
		}
	if (u->nr == UNHEARD_MAX)
		return;
	p = &u->program[u->nr++];
	*p = (struct unheard_program){ .pid = c->pid, .exec_ns = time_ns, .reason = UNHEARD_GONE };
	if (clock_now_ns() > time_ns + LATE_NS)
		p->reason = UNHEARD_LATE;
	snprintf(p->comm, sizeof(p->comm), "%.*s", (int)c->bytes, c->name);
}

void session_unheard_note_exit(struct session *s, uint32_t pid, uint64_t time_ns)
{
	struct unheard *u = &s->unheard;

	if (runs_on(s, pid) && may_be_uncounted(pid)) {
		add_uncounted_process(u, pid, time_ns);
		for (uint32_t i = 0; i < u->nr; i++)
			if (u->program[i].pid == pid && u->program[i].reason == UNHEARD_GONE)
				u->program[i].reason = UNHEARD_PRIVILEGED;
	}
	end_unheard_program(s, pid);
}

/*
 * Finds the program whose agent has connected from pid, or returns NULL if the record of its exec has not been read yet.  It is the program
 * that runs.  But agents do not wait long for a late recorder, so if an earlier program of the process is known, and the running one has no
 * agent loaded, it is the earliest one.
 */
static struct unheard_program *find_program_of_hello(struct unheard *u, uint32_t pid)
{
	struct unheard_program *runs = NULL, *first = NULL;

	for (uint32_t i = 0; i < u->nr; i++) {
		struct unheard_program *p = &u->program[i];

		if (p->pid != pid)
			continue;
		if (!p->ended)
			runs = p;
		else if (!first || p->exec_ns < first->exec_ns)
			first = p;
	}
	return runs && (!first || attach_target_has_agent((pid_t)pid)) ? runs : first;
}

void session_unheard_note_hello(struct session *s, uint32_t pid)
{
	struct unheard *u = &s->unheard;
	struct unheard_program *p;

	if (!s->options.preloads)
		return;
	p = find_program_of_hello(u, pid);
	if (p) {
		drop_unheard_program(u, (uint32_t)(p - u->program));
		return;
	}
	u->hello[u->next_hello].pid = pid;
	u->hello[u->next_hello].time_ns = clock_now_ns();
	u->next_hello = (u->next_hello + 1) % UNHEARD_HELLOS;
}

void session_unheard_find_reasons(struct session *s)
{
	struct unheard *u = &s->unheard;

	for (uint32_t i = u->nr; i > 0; i--) {
		struct unheard_program *p = &u->program[i - 1];

		if (p->ended) {
			if (++p->drains_since_end > DRAINS_AFTER_END) {
				count_unheard_program(u, p);
				drop_unheard_program(u, i - 1);
			}
		} else if ((p->reason == UNHEARD_GONE || p->reason == UNHEARD_LATE) && p->looks < DRAINS_TO_LOOK) {
			p->looks++;
			if (!find_unheard_reason(p))
				drop_unheard_program(u, i - 1);
		}
	}
}

static void write_notice_of_uncounted(struct session *s)
{
	struct unheard *u = &s->unheard;
	char names[256] = "";

	for (uint32_t i = 0; i < u->nr_uncounted; i++)
		add_name(names, sizeof(names), u->uncounted[i].name);
	if (u->nr_uncounted)
		session_notice(s, NOTICE_NO_SAMPLES,
			       TRACE_NO_SAMPLES_OF "%u process%s (%s): the kernel ended their counters when they were executed, and "
			       "they ran on (setuid, with file capabilities, or not readable by this user); %s",
			       u->nr_uncounted, u->nr_uncounted > 1 ? "es" : "", names, program_uncounted_remedy());
	u->nr_uncounted = 0;
}

void session_unheard_write_notices(struct session *s)
{
	struct unheard *u = &s->unheard;
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < u->nr; i++)
		if (u->program[i].ended || now_ns - u->program[i].exec_ns > YOUNG_NS)
			count_unheard_program(u, &u->program[i]);
	u->nr = 0;
	write_notice_of_uncounted(s);
	for (int i = 0; i < NR_UNHEARD; i++)
		if (u->of_reason[i])
			session_notice(s, NOTICE_HOST,
				       "agent unavailable in %llu process%s (%s): %s; sampled without registrations of a JIT",
				       (unsigned long long)u->of_reason[i], u->of_reason[i] > 1 ? "es" : "", u->names[i], reasons[i]);
	memset(u->of_reason, 0, sizeof(u->of_reason));
	memset(u->names, 0, sizeof(u->names));
}
