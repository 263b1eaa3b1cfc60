/* SPDX-License-Identifier: MIT */
/*
 * This file finds newcomers. These are processes that are to be recorded for their name, program or service, start while the recording goes
 * on, and were not started by a counted process. For example, a service is restarted, a rolling update replaces its processes, or another
 * process enters its container. Processes that counted processes fork inherit counters, and are not looked for.
 *
 * The kernel reports each program that is executed, on the whole machine, and wakes the recorder (process_events.h).  The name that comes
 * with the event, or the program or control group, which are read, decide within some tens of microseconds whether the process is to be
 * recorded.  The first word of its command line may decide a moment later, when the kernel has set it up.  Where the kernel reports no
 * processes to this user, all processes are looked at each second.  For a service, they are looked at each second in any case, since a
 * process may enter a control group without executing a program.
 *
 * The time that newcomers ran before their counters were opened, and newcomers that had ended by then, are counted as losses.
 *
 * If the whole machine is recorded (--all), no process has to be looked for.  The kernel's events then only wake the recorder, so that it
 * reads the command line and the service of a program that lives for 10 ms in time.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/process_names.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 1000000000ull
#define SEEN_MOST 3u	 /* looks (look_at_all()) in which a process is new, since it may execute a program between two of them */
#define ANEW_LOOKS 10u	 /* each look judges one in so many older processes again, since a process may take another name */
#define LATER_NS 1000000ull /* time after which a process without a command line is judged again */
#define LATER_MOST 4096u /* if more processes are put off, all processes of the machine are judged instead */
/* These are limits of the pauses of rest().  On a machine that starts a thousand processes a second, waking up for them takes about a
 * hundredth of a processor. */
#define REST_TIMES 100u
#define REST_NS_MOST 20000000ull

/* ------------------------------------------------------------------------------------------------------ its beginning and its end */

static void format_wanted(const struct session_options *o, char *text, size_t bytes)
{
	if (session_wants_service(o))
		snprintf(text, bytes, "of %s '%s'", o->service.unit ? "the unit" : "the container",
			 o->service.unit ? o->service.unit : o->service.container);
	else if (o->name)
		snprintf(text, bytes, "whose name has a match of '%s'%s%s%s", o->name, o->program ? ", or that execute '" : "",
			 o->program ? o->program : "", o->program ? "'" : "");
	else
		snprintf(text, bytes, "that execute '%s'", o->program);
}

/* Tells the user how newcomers are found, and, if the kernel does not report them to this user, notes it for the trace. */
static void say_how(struct session *s)
{
	const struct process_events *e = s->joining.events;
	char wanted[512], sentence[1024];

	format_wanted(&s->options, wanted, sizeof(wanted));
	if (e)
		snprintf(sentence, sizeof(sentence), "new processes %s are recorded as they start (the kernel reports them by %s)", wanted,
			 process_events_source(e) == PROCESS_EVENTS_PERF ? "perf events" : "the proc connector");
	else
		snprintf(sentence, sizeof(sentence), "new processes %s are looked for each second, and the beginning of each is not "
			 "recorded: the kernel does not tell this user of them (as root it does, with CAP_PERFMON, or, outside of "
			 "containers, since Linux 6.6)", wanted);
	if (e)
		session_print_notice(s, sentence);
	if (session_wants_service(&s->options) && !proc_is_first_namespace(PROC_NAMESPACE_CGROUP))
		session_add_fallback(s, NOTICE_HOST, SERVICE_GROUPS_HIDDEN);
	if (!e)
		session_add_fallback(s, NOTICE_HOST, sentence); /* this also writes it into the trace, as reports should show it */
}

int session_joining_begin(struct session *s)
{
	struct joining *j = &s->joining;
	const struct names_wanted wanted = { s->options.name, s->options.program };
	int ret;

	if (s->options.all)
		process_events_open(&j->events); /* on failure, programs that end soon have no command line or service in the trace */
	if (!session_takes_newcomers(&s->options))
		return 0;
	ret = session_wants_names(&s->options) ? process_names_open(&wanted, &j->names) : 0;
	if (ret)
		return ret;
	process_events_open(&j->events);
	j->begin_ns = j->looked_ns = clock_now_ns();
	j->look = true; /* processes may have started since the caller listed those that it attaches to */
	say_how(s);
	return 0;
}

void session_joining_end(struct session *s)
{
	struct joining *j = &s->joining;

	process_names_close(j->names);
	process_events_close(j->events);
	hash_map_fini(&j->seen);
	free(j->found.at);
	free(j->later.at);
	free(j->joined.at);
	*j = (struct joining){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ waiting */

size_t session_joining_nr(const struct session *s)
{
	return s->joining.events ? process_events_nr(s->joining.events) : 0;
}

size_t session_joining_fill_poll(const struct session *s, struct pollfd *to)
{
	if (!s->joining.events || clock_now_ns() < s->joining.rest_until_ns)
		return 0;
	process_events_fill_poll(s->joining.events, to);
	return session_joining_nr(s);
}

static int ms_until(uint64_t ns, int most)
{
	uint64_t now_ns = clock_now_ns(), ms = ns > now_ns ? (ns - now_ns + 999999) / 1000000 : 0;

	return ms < (uint64_t)most ? (int)ms : most;
}

int session_joining_wait_ms(const struct session *s, int most)
{
	const struct joining *j = &s->joining;

	if (j->events && j->later.nr)
		most = ms_until(j->later.at[0].heard_ns + LATER_NS, most);
	if (j->events && clock_now_ns() < j->rest_until_ns)
		most = ms_until(j->rest_until_ns, most ? most : 1);
	return most;
}

void session_joining_note_wake(struct session *s)
{
	if (s->joining.events)
		s->joining.woke_ns = clock_now_ns();
}

/* Sets the time until which reports of new processes are left waiting.  Called after a round that found no process to record, or, with
 * --all, after each round with reports.  The pause is REST_TIMES as long as the round, at most REST_NS_MOST, so a machine that starts many
 * processes does not keep the recorder busy. */
static void rest(struct joining *j)
{
	uint64_t now_ns = clock_now_ns(), rest_ns = (now_ns - j->woke_ns) * REST_TIMES;

	j->rest_until_ns = now_ns + (rest_ns < REST_NS_MOST ? rest_ns : REST_NS_MOST);
}

/* ------------------------------------------------------------------------------------------------------------ judging */

static void count_missed(struct session *s, pid_t pid)
{
	if (!session_epochs_has_process(s, pid, true))
		session_count_loss(s, LOSS_PROCESS_MISSED, (uint32_t)pid, 0, 1);
}

static void add_found(struct session *s, const struct newcomer *n)
{
	struct joining *j = &s->joining;
	struct newcomer *found;

	if (ARRAY_GROW(j->found)) {
		found = &j->found.at[j->found.nr++];
		*found = *n;
		if (!found->comm[0])
			recording_read_comm(n->pid, found->comm); /* the process may end while its counters are opened */
	} else {
		count_missed(s, n->pid);
	}
}

static void put_off(struct joining *j, const struct newcomer *n)
{
	if (j->later.nr < LATER_MOST && ARRAY_GROW(j->later))
		j->later.at[j->later.nr++] = *n;
	else
		j->look = true;
}

static enum names_verdict judge(struct session *s, pid_t pid, const char *comm)
{
	if (s->joining.names)
		return process_names_judge(s->joining.names, pid, comm);
	return service_has_process(&s->options.service, pid) ? NAMES_WANTED : NAMES_UNWANTED;
}

/* Adds a process that is not counted yet to `found` if it is to be recorded, or to `later` if that is not known yet and its event is less
 * than LOOK_NS old. Ended processes with the wanted name or program are added to `found` as well, since it is known only when rings have
 * been drained whether they were counted or missed. */
static void judge_newcomer(struct session *s, const struct newcomer *n, const char *comm)
{
	enum names_verdict verdict;

	if (session_epochs_has_process(s, n->pid, false))
		return;
	verdict = judge(s, n->pid, comm);
	if (verdict == NAMES_WANTED || verdict == NAMES_ENDED)
		add_found(s, n);
	else if (verdict == NAMES_LATER && clock_now_ns() - n->heard_ns < LOOK_NS)
		put_off(&s->joining, n);
}

static void hear_process(void *session, const struct process_event *p)
{
	struct newcomer n = { p->pid, p->exec, p->time_ns, "" };
	struct session *s = session;

	if (p->comm)
		snprintf(n.comm, sizeof(n.comm), "%s", p->comm);

	s->joining.nr_heard++;
	judge_newcomer(s, &n, p->comm);
}

/* Judges the processes that were put off, once, when their event is LATER_NS old. Most of them have a command line by then. */
static void judge_later_ones(struct session *s)
{
	struct joining *j = &s->joining;
	uint32_t nr = j->later.nr, kept = 0;
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 0; i < nr; i++) {
		struct newcomer n = j->later.at[i];

		if (now_ns - n.heard_ns < LATER_NS)
			j->later.at[kept++] = n;
		else if (judge(s, n.pid, NULL) == NAMES_WANTED && !session_epochs_has_process(s, n.pid, false))
			add_found(s, &n);
	}
	j->later.nr = kept;
}

struct look {
	struct session *session;
	struct hash_map seen;
	bool all;
};

/* Is the process to be judged in this look?  before: number of earlier looks that saw it, at most SEEN_MOST.  Unless all are to be judged,
 * a process is judged once for a service, when a look sees it for the second time.  By names, if the kernel reports no events, it is judged
 * in its first SEEN_MOST looks, and in one of ANEW_LOOKS later ones. */
static bool is_due(const struct look *l, pid_t pid, uint32_t before)
{
	const struct joining *j = &l->session->joining;

	if (l->all)
		return true;
	if (!j->names)
		return before == 1;
	return !j->events && (before < SEEN_MOST || (j->nr_looks + (uint32_t)pid) % ANEW_LOOKS == 0);
}

static int look_at_process(void *look, pid_t pid)
{
	struct look *l = look;
	struct session *s = l->session;
	uint32_t before = hash_map_find(&s->joining.seen, (uint64_t)pid, 0);

	hash_map_set(&l->seen, (uint64_t)pid, 0, before < SEEN_MOST ? before + 1 : SEEN_MOST);
	if (is_due(l, pid, before) && !session_epochs_has_process(s, pid, false) && judge(s, pid, NULL) == NAMES_WANTED)
		add_found(s, &(struct newcomer){ .pid = pid });
	return 0;
}

static void look_at_all(struct session *s)
{
	struct joining *j = &s->joining;
	struct look l = { .session = s, .all = j->look };

	j->look = false;
	j->looked_ns = clock_now_ns();
	j->nr_looks++;
	proc_each_numbered_entry("/proc", look_at_process, &l);
	hash_map_fini(&j->seen);
	j->seen = l.seen;
}

/* ------------------------------------------------------------------------------------------------------------ counting them */

static bool has_started_since(pid_t pid, uint64_t since_ns)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK), now_ns = clock_now_ns();
	struct proc_stat stat;
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	if (!proc_stat(pid, 0, &stat))
		return false;
	return (uint64_t)boot.tv_sec * 1000000000u + (uint64_t)boot.tv_nsec - stat.start_ticks * tick_ns <= now_ns - since_ns;
}

/* Counts the time that a newcomer ran before its counters were open as a loss.  It is at most the processor time that it had used by then,
 * and the time since it executed its program, if that event came.  Without the event, a process that is older than the recording is not
 * new, and has lost nothing. */
static void count_late_time(struct session *s, const struct newcomer *n)
{
	const struct joining *j = &s->joining;
	uint64_t late_ns = j->counted_cpu_ns;

	if (n->exec && n->heard_ns < j->counted_ns && j->counted_ns - n->heard_ns < late_ns)
		late_ns = j->counted_ns - n->heard_ns;
	else if (!n->exec && !has_started_since(n->pid, j->begin_ns))
		late_ns = 0;
	if (late_ns >= 1000)
		session_count_loss(s, LOSS_PROCESS_LATE, (uint32_t)n->pid, 0, late_ns / 1000);
}

static void say_refused(struct session *s, pid_t pid, int error)
{
	session_count_loss(s, LOSS_UNCOUNTED, (uint32_t)pid, 0, 1);
	if (!s->joining.said_refused)
		session_notice(s, NOTICE_REFUSED, "cannot count process %d, which has started meanwhile: %s; further ones with an error "
			       "are not reported", (int)pid, session_counting_error(error));
	s->joining.said_refused = true;
}

static void take_newcomer(struct session *s, const struct newcomer *n)
{
	struct joining *j = &s->joining;
	int ret;

	if (session_epochs_has_process(s, n->pid, false))
		return; /* a counted process has started it, so it has inherited counters; the drain of the rings has noted it */
	ret = session_attach_newcomer(s, n->pid, n->comm);
	if (ret == -ESRCH) {
		count_missed(s, n->pid);
		return;
	}
	if (ret) {
		say_refused(s, n->pid, -ret);
		return;
	}
	count_late_time(s, n);
	if (ARRAY_GROW(j->joined))
		j->joined.at[j->joined.nr++] = n->pid;
}

bool session_has_newcomers(struct session *s)
{
	struct joining *j = &s->joining;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < j->joined.nr; i++)
		if (kill(j->joined.at[i], 0) == 0 || errno == EPERM)
			j->joined.at[kept++] = j->joined.at[i];
	j->joined.nr = kept;
	return kept > 0;
}

static void take_found_ones(struct session *s)
{
	struct joining *j = &s->joining;
	uint32_t nr = j->found.nr;

	if (nr == 0)
		return;
	counting_drain_rings(s->counting); /* this first notes the forks of counted processes (session_epochs_note_process()) */
	for (uint32_t i = 0; i < nr; i++) {
		const struct newcomer n = j->found.at[i];

		take_newcomer(s, &n);
	}
	j->found.nr = 0;
	session_has_newcomers(s); /* this forgets newcomers that have ended */
}

static void ignore_process(void *session, const struct process_event *p)
{
	struct session *s = session;

	(void)p;
	s->joining.nr_heard++;
}

void session_take_newcomers(struct session *s)
{
	struct joining *j = &s->joining;
	bool looks = !j->events || !j->names;

	j->nr_heard = j->later.nr;
	if (s->options.all && j->events) { /* the drain of the rings before this has written the new processes into the trace */
		process_events_drain(j->events, ignore_process, s);
		if (j->nr_heard)
			rest(j);
		return;
	}
	if (!session_takes_newcomers(&s->options) || !s->recording || counting_sampler(s->counting) != WIRE_SAMPLER_NONE)
		return;
	if (j->events) {
		j->look |= process_events_drain(j->events, hear_process, s);
		judge_later_ones(s);
	}
	if (j->look || (looks && clock_now_ns() - j->looked_ns >= LOOK_NS))
		look_at_all(s);
	if (j->nr_heard && j->found.nr == 0)
		rest(j);
	take_found_ones(s);
}
