/* SPDX-License-Identifier: MIT */
/*
 * This file opens counters for a process that runs already. Each thread has inherited events on each CPU, and the events of all threads
 * write into one ring per CPU. A thread inherits events from a creator that has them. The other threads have to be found.
 *
 * Threads come and go while their events are opened.  Nothing is counted twice or left out nevertheless (after ANEW_MAX tries it may be):
 *  - A thread is complete if all of its events are open.  A thread that was created by a complete one is complete, and the ring
 *    reports its creation (PERF_RECORD_FORK).
 *  - A thread that is listed and not complete gets events of its own.
 *  - A thread may be listed before the ring reports its creation.  If the ring reports that when events were opened for it, and
 *    its creator was complete, it has two of each.  Those that were just opened are closed again.
 *  - Threads inherit only some events if they are created while their creator's events are being opened.  Whenever an unknown
 *    thread has appeared by the time the events are open, they are closed again, which also takes them from the threads that
 *    inherited them, and opened anew.
 */
#include "agent/recorder/counting/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/kernel_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* maximum number of tries to open one thread's events while no other thread is created; after the last one they are kept in any case */
#define ANEW_MAX 50
#define ROUNDS_MAX 1000 /* maximum number of rounds over the list of threads */

struct attaching {
	struct counting *counting;
	pid_t pid;
	struct counted_tasks tasks;
	unsigned char listed[1u << (PID_BITS - 3)]; /* a bit per thread; all clear except while two lists are compared */
	struct perf_event_attr attr[EVENTS_MAX];
	int nr_cpus, nr_events, nr_columns; /* nr_columns: one for each event, and one for the time on the CPU */
	size_t ring_bytes;
	int *ring_fd; /* per CPU; -1: offline, or not opened yet */
	bool have_rings;
	ARRAY(uint32_t) threads; /* the process's threads, when they were last listed */
	int *opened; /* per CPU: events of the thread at hand and its time on the CPU; -1: none */
	uint64_t *period; /* periods with which the events in opened began; 0: the event has a frequency */
};

static int add_thread_to_list(void *context, pid_t tid)
{
	struct attaching *a = context;

	if (!ARRAY_PUSH(a->threads, (uint32_t)tid))
		return -ENOMEM;
	return 0;
}

static int list_process_threads(struct attaching *a)
{
	char path[64];
	int ret;

	a->threads.nr = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)a->pid);
	ret = proc_each_numbered_entry(path, add_thread_to_list, a);
	return ret == -ENOENT ? -ESRCH : ret;
}

/* Returns the number that was last given to a task of this PID namespace or of one inside it, or -1 if it cannot be read.  The same number
 * again means that no task was created. */
static long read_last_pid(void)
{
	char text[128];
	const char *last;

	kernel_file_read("/proc/loadavg", text, sizeof(text));
	last = strrchr(text, ' ');
	return last ? atol(last) : -1;
}

static void close_opened_events(struct attaching *a)
{
	for (int i = 0; i < a->nr_cpus * a->nr_columns; i++) {
		if (a->opened[i] >= 0)
			close(a->opened[i]);
		a->opened[i] = -1;
	}
}

/* Opens an event of one more thread, which writes into an existing ring.  The descriptor is in a->opened, also if a later step fails, for
 * close_opened_events(). */
static int open_event_into_ring(struct attaching *a, uint32_t tid, int cpu, int event)
{
	struct perf_event_attr attr = counting_randomize_period(a->counting, &a->attr[event], cpu);
	int fd = event_open(&attr, (pid_t)tid, cpu, 0), ret;

	if (fd < 0)
		return -errno;
	a->opened[cpu * a->nr_columns + event] = fd;
	a->period[cpu * a->nr_columns + event] = attr.freq ? 0 : attr.sample_period;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, a->ring_fd[cpu]))
		return -errno;
	ret = counting_add_event_id(a->counting, fd, (uint32_t)event);
	if (ret == 0 && !a->counting->paused)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return ret;
}

/* Opens an event that measures how long the thread runs on this CPU.  Without it weights are less exact, which is no failure. */
static void open_on_cpu_time_event(struct attaching *a, uint32_t tid, int cpu)
{
	int fd = counting_open_on_cpu_time(a->counting, &a->attr[0], (pid_t)tid, cpu);

	a->opened[cpu * a->nr_columns + a->nr_events] = fd;
	if (fd >= 0 && !a->counting->paused)
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Opens and enables events on all CPUs for one thread. If there are no rings yet, these events own them. Else they are not enabled while
 * counting is paused. Returns 0 or -errno (-ESRCH: the thread has ended). */
static int open_thread_events(struct attaching *a, uint32_t tid)
{
	struct counting *c = a->counting;
	int ret = 0;

	for (int cpu = 0; cpu < a->nr_cpus && ret == 0; cpu++) {
		if (a->have_rings) {
			for (int i = 0; i < a->nr_events && ret == 0 && a->ring_fd[cpu] >= 0; i++)
				ret = open_event_into_ring(a, tid, cpu, i);
			if (ret == 0 && a->ring_fd[cpu] >= 0)
				open_on_cpu_time_event(a, tid, cpu);
			continue;
		}
		ret = counting_open_cpu_events(c, a->attr, (pid_t)tid, cpu, a->ring_bytes);
		if (ret == 0) {
			a->ring_fd[cpu] = c->rings.at[c->rings.nr - 1].fd;
			ring_set_enabled(&c->rings.at[c->rings.nr - 1], true);
		} else if (ret == -ENODEV) {
			ret = 0; /* the CPU is offline */
		}
	}
	return ret;
}

static void mark_threads_listed(struct attaching *a, const uint32_t *threads, size_t nr, bool listed)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned char bit = (unsigned char)(1u << threads[i] % 8), *of = &a->listed[threads[i] / 8];

		if (!(threads[i] >> PID_BITS))
			*of = listed ? *of | bit : *of & (unsigned char)~bit;
	}
}

/* Has a task appeared that is neither complete nor was listed before? The rings are drained and the list is read again, unless the number
 * of the last task shows that no task was created. Without memory to compare the lists, the answer is true. */
static bool has_new_thread_appeared(struct attaching *a, long before_pid)
{
	size_t nr_before = a->threads.nr;
	uint32_t *before;
	bool new = false;

	if (before_pid >= 0 && read_last_pid() == before_pid)
		return false;
	before = malloc((nr_before + 1) * sizeof(*before));
	if (!before)
		return true;
	memcpy(before, a->threads.at, nr_before * sizeof(*before));
	counting_drain_rings(a->counting);
	mark_threads_listed(a, before, nr_before, true);
	if (list_process_threads(a) == 0)
		for (size_t i = 0; i < a->threads.nr && !new; i++)
			new = !counting_task_is_complete(&a->tasks, a->threads.at[i]) &&
			      !(a->listed[a->threads.at[i] / 8] & 1u << a->threads.at[i] % 8);
	mark_threads_listed(a, before, nr_before, false);
	free(before);
	return new;
}

static void close_first_rings(struct attaching *a)
{
	struct counting *c = a->counting;

	for (size_t i = 0; i < c->rings.nr; i++)
		ring_close(&c->rings.at[i]);
	c->rings.nr = 0;
	for (int cpu = 0; cpu < a->nr_cpus; cpu++)
		a->ring_fd[cpu] = -1;
}

static int attach_thread(struct attaching *a, uint32_t tid)
{
	int ret = 0;

	a->tasks.at_hand = tid;
	a->tasks.has_inherited = false;
	for (int n = 0; n < ANEW_MAX; n++) {
		long pid = read_last_pid();

		ret = open_thread_events(a, tid);
		if (ret == 0 && (n == ANEW_MAX - 1 || !has_new_thread_appeared(a, pid)))
			break;
		if (a->have_rings)
			close_opened_events(a);
		else
			close_first_rings(a);
		if (ret)
			return ret;
	}
	/* the rings that are drained next may report threads that it created, which are complete then */
	counting_set_task_complete(&a->tasks, tid);
	if (a->have_rings)
		counting_drain_rings(a->counting);
	if (a->tasks.has_inherited)
		close_opened_events(a);
	a->have_rings = true;
	for (int i = 0; i < a->nr_cpus * a->nr_columns && ret == 0; i++)
		if (a->opened[i] >= 0) {
			int column = i % a->nr_columns;

			ret = counting_keep_attached_event(a->counting, a->opened[i], a->ring_fd[i / a->nr_columns],
							   column == a->nr_events ? ATTACHED_ON_CPU : (uint32_t)column, a->period[i]);
			if (ret == 0)
				a->opened[i] = -1;
		}
	close_opened_events(a);
	return ret;
}

static int attach_threads(struct attaching *a)
{
	bool more = true;
	int ret = list_process_threads(a);

	for (int round = 0; ret == 0 && more && round < ROUNDS_MAX; round++) {
		more = false;
		for (size_t i = 0; ret == 0 && i < a->threads.nr; i++) {
			uint32_t tid = a->threads.at[i]; /* kept here, because attach_thread() may read a new list */

			if (!counting_task_is_complete(&a->tasks, tid) && a->have_rings)
				counting_drain_rings(a->counting);
			if (counting_task_is_complete(&a->tasks, tid))
				continue;
			more = true;
			ret = attach_thread(a, tid);
			if (ret == -ESRCH) { /* the thread has ended, which is no failure */
				counting_set_task_complete(&a->tasks, tid);
				ret = 0;
			}
		}
		counting_drain_rings(a->counting);
		if (ret == 0)
			ret = list_process_threads(a);
		for (size_t i = 0; ret == 0 && i < a->threads.nr && !more; i++)
			more = !counting_task_is_complete(&a->tasks, a->threads.at[i]);
	}
	if (ret == 0 && !a->have_rings)
		ret = -ESRCH;
	return ret;
}

int counting_attach_begin(struct counting *c)
{
	struct attaching *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->counting = c;
	a->nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	a->nr_events = c->events.nr;
	a->nr_columns = a->nr_events + 1;
	counting_init_cpu_attrs(c, a->attr, &a->ring_bytes);
	a->ring_fd = malloc((size_t)a->nr_cpus * sizeof(*a->ring_fd));
	a->opened = malloc((size_t)a->nr_cpus * (size_t)a->nr_columns * sizeof(*a->opened));
	a->period = calloc((size_t)a->nr_cpus * (size_t)a->nr_columns, sizeof(*a->period));
	c->attaching = a;
	c->attached.tasks = &a->tasks;
	if (!a->ring_fd || !a->opened || !a->period) {
		counting_attach_end(c);
		return -ENOMEM;
	}
	for (int cpu = 0; cpu < a->nr_cpus; cpu++)
		a->ring_fd[cpu] = -1;
	for (int i = 0; i < a->nr_cpus * a->nr_columns; i++)
		a->opened[i] = -1;
	a->have_rings = c->rings.are_kept;
	for (uint32_t i = 0; i < c->rings.nr && a->have_rings; i++)
		if (c->rings.at[i].cpu >= 0 && c->rings.at[i].cpu < a->nr_cpus)
			a->ring_fd[c->rings.at[i].cpu] = c->rings.at[i].fd;
	return 0;
}

int counting_attach_process(struct counting *c, pid_t pid)
{
	c->attaching->pid = pid;
	return attach_threads(c->attaching);
}

bool counting_attach_has_process(const struct counting *c, pid_t pid)
{
	return counting_task_is_complete(c->attached.tasks, (uint32_t)pid);
}

void counting_attach_end(struct counting *c)
{
	struct attaching *a = c->attaching;

	c->attaching = NULL;
	c->attached.tasks = NULL;
	if (!a)
		return;
	free(a->ring_fd);
	free(a->opened);
	free(a->period);
	free(a->threads.at);
	free(a);
}

int counting_attach(struct counting *c, pid_t pid)
{
	int ret = counting_attach_begin(c);

	if (ret == 0)
		ret = counting_attach_process(c, pid);
	counting_attach_end(c);
	return ret;
}
