/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/jit_files/host_options.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPU_RING_BYTES (4u << 20)
#define THREAD_RING_BYTES (256u << 10)
#define RINGS_BYTES (256u << 20) /* of all of them together, down to RING_BYTES_MIN each */
#define RING_BYTES_MIN (16u << 10)
#define THREADS_SHARE 32 /* a thread's ring takes at most one of so many parts of what is left */
#define MLOCK_FILE "/proc/sys/kernel/perf_event_mlock_kb"

int session_learn_id(struct session *s, int fd, uint32_t event)
{
	uint64_t id;

	if (s->events.nr < 2)
		return 0;
	return ioctl(fd, PERF_EVENT_IOC_ID, &id) ? -errno : event_ids_add(&s->ids, id, event);
}

static int add_ring(struct session *s, int fd, int cpu, size_t bytes)
{
	int ret = session_learn_id(s, fd, 0);

	if (ret)
		return ret;

	if (!GROW(s->rings.ring, s->rings.nr, s->rings.capacity))
		return -ENOMEM;
	ret = ring_open(&s->rings.ring[s->rings.nr], fd, bytes, RING_BYTES_MIN);
	if (ret)
		return ret;
	if (s->rings.spill || ring_spill_create(RING_SPILL_BYTES, &s->rings.spill) == 0) /* without it, more may be lost */
		ring_spill_add(s->rings.spill, &s->rings.ring[s->rings.nr]);
	s->rings.ring[s->rings.nr++].cpu = cpu;
	return 0;
}

/* What the kernel lets us lock for rings: perf_event_mlock_kb per CPU, and RLIMIT_MEMLOCK; root has no limit. */
static size_t rings_budget(void)
{
	size_t budget = RINGS_BYTES;
	long long of_cpu = 516; /* the kernel's default */
	unsigned long long kib;
	struct rlimit r;

	if (geteuid() == 0)
		return budget;
	proc_number(MLOCK_FILE, &of_cpu);
	kib = (unsigned long long)of_cpu * (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN);
	if (getrlimit(RLIMIT_MEMLOCK, &r) == 0)
		kib += r.rlim_cur / 1024;
	return kib < budget / 1024 ? (size_t)kib * 1024 : budget;
}

static size_t at_most(size_t bytes, size_t limit)
{
	while (bytes > RING_BYTES_MIN && bytes > limit)
		bytes /= 2;
	return bytes;
}

static size_t cpu_ring_bytes(size_t budget)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	return at_most(CPU_RING_BYTES, budget / (size_t)(nr_cpus > 0 ? nr_cpus : 1));
}

size_t session_ring_bytes(bool of_thread)
{
	return of_thread ? at_most(THREAD_RING_BYTES, rings_budget() / THREADS_SHARE) : cpu_ring_bytes(rings_budget());
}

bool session_is_switches(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/* Where samples have addresses, or all that computes them, memory that is not code is worth knowing too. */
static bool has_addresses(const struct perf_event_attr *a)
{
	return (a->sample_type & PERF_SAMPLE_ADDR) || (a->sample_regs_user & EVENT_REGISTERS_ADDRESSES) == EVENT_REGISTERS_ADDRESSES;
}

void session_prepare_events(struct session *s)
{
	bool addresses = false;

	s->nr_columns = s->events.nr;
	for (int i = 0; i < s->events.nr && s->nr_columns == s->events.nr; i++)
		if (session_is_switches(&s->events.event[i].attr) && s->sampler < WIRE_SAMPLER_SIGNAL) {
			struct event *e = &s->events.event[s->nr_columns++];

			memset(e, 0, sizeof(*e));
			snprintf(e->name, sizeof(e->name), TRACE_EVENT_SWITCH);
			snprintf(e->unit, sizeof(e->unit), "switches");
			e->attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
			s->events.event[0].attr.context_switch = 1;
		}
	for (int i = 0; i < s->events.nr; i++) {
		struct perf_event_attr *a = &s->events.event[i].attr;

		a->remove_on_exec = s->sampler != WIRE_SAMPLER_NONE; /* the new image opens its own */
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		if (s->events.nr > 1)
			a->sample_type |= PERF_SAMPLE_IDENTIFIER;
		if (s->sampler == WIRE_SAMPLER_NONE) /* the opened counter's samples, among those of the ones inherited from it */
			a->sample_type |= PERF_SAMPLE_STREAM_ID;
		addresses |= has_addresses(a);
		if (i > 0) /* once is enough */
			a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->build_id = 0;
	}
	s->events.event[0].attr.mmap_data = addresses && s->events.event[0].attr.mmap;
}

/* Put one more event's samples into a ring.  0 or -errno; fd is the caller's unless 0. */
static int share_ring(struct session *s, struct ring *r, int fd)
{
	if (r->nr_more == RING_EVENTS_MAX - 1)
		return -E2BIG;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return -errno;
	if (session_learn_id(s, fd, (uint32_t)r->nr_more + 1))
		return -ENOMEM;
	r->more[r->nr_more++] = fd;
	return 0;
}

/*
 * An event of a task on one CPU is enabled while the task runs on any CPU: enabled and running tell counters that took turns only beside
 * how long the task ran on that CPU.  That is the running time of an event of the kernel's, which never takes turns.  None is needed where
 * no event is the processor's; without it (no descriptor is left) the analyzer makes do.
 */
static bool on_cpu_attr(const struct session *s, const struct perf_event_attr *like, struct perf_event_attr *a)
{
	bool needed = false;

	for (int i = 0; i < s->events.nr; i++)
		needed |= event_is_hardware(&s->events.event[i].attr) || s->events.event[i].attr.freq; /* or is braked */
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(*a), .config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = like->disabled, .inherit = like->inherit, .enable_on_exec = like->enable_on_exec,
		.exclude_kernel = like->exclude_kernel, .exclude_hv = like->exclude_hv, .remove_on_exec = like->remove_on_exec,
	};
	return needed;
}

int session_open_on_cpu(const struct session *s, const struct perf_event_attr *like, pid_t pid, int cpu)
{
	struct perf_event_attr a;

	return on_cpu_attr(s, like, &a) ? event_open(&a, pid, cpu, 0) : -1;
}

static uint64_t draw(struct session *s)
{
	uint64_t high;

	s->random = s->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX, whose high half is the random one */
	high = s->random >> 32 << 32;
	s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
	return high | s->random >> 32;
}

struct perf_event_attr session_randomize_period(struct session *s, const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr a = *attr;
	uint64_t side = (s->begin_ns / 8 + (uint64_t)cpu) & 1; /* neighbours differ; whose is shorter is chance */

	if (random_period_spread(attr))
		a.sample_period = random_period_draw(attr, draw(s) >> 1 | side << 63);
	return a;
}

static void set_period(struct ring *r, int event, uint64_t period)
{
	if (ioctl(event == 0 ? r->fd : r->more[event - 1], PERF_EVENT_IOC_PERIOD, &period) == 0)
		random_period_changed(&r->random_period[event], period);
}

/* Opens all events of a CPU; they share the ring of the first one. */
int session_count_on(struct session *s, const struct perf_event_attr *attr, pid_t pid, int cpu, size_t ring_bytes)
{
	for (int i = 0; i < s->events.nr; i++) {
		struct perf_event_attr a = session_randomize_period(s, &attr[i], cpu);
		int fd = event_open(&a, pid, cpu, 0), ret;
		struct random_period *v;

		if (fd < 0)
			return -errno;
		ret = i == 0 ? add_ring(s, fd, cpu, ring_bytes) : share_ring(s, &s->rings.ring[s->rings.nr - 1], fd);
		if (ret) {
			close(fd);
			return ret;
		}
		v = &s->rings.ring[s->rings.nr - 1].random_period[i];
		v->period = a.sample_period;
		if (ioctl(fd, PERF_EVENT_IOC_ID, &v->id))
			return -errno;
	}
	s->rings.ring[s->rings.nr - 1].on_cpu_fd = session_open_on_cpu(s, &attr[0], pid, cpu);
	return 0;
}

void session_cpu_attrs(struct session *s, struct perf_event_attr attr[EVENTS_MAX], size_t *ring_bytes)
{
	s->rings.budget = rings_budget();
	*ring_bytes = cpu_ring_bytes(s->rings.budget);
	for (int i = 0; i < s->events.nr; i++) {
		attr[i] = s->events.event[i].attr;
		attr[i].inherit = 1;
		attr[i].watermark = 1;
		attr[i].wakeup_watermark = (uint32_t)*ring_bytes / 2;
	}
}

static int count_from_exec(struct session *s, pid_t pid)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	struct perf_event_attr attr[EVENTS_MAX];
	size_t bytes;

	session_cpu_attrs(s, attr, &bytes);
	for (int i = 0; i < s->events.nr; i++)
		attr[i].enable_on_exec = 1;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int ret = session_count_on(s, attr, pid, cpu, bytes);

		if (ret && ret != -ENODEV) /* a CPU that is offline */
			return ret; /* counting on some CPUs only would be a profile of those */
	}
	return s->rings.nr ? 0 : -ENODEV;
}

int session_count(struct session *s, pid_t pid, bool on_exec, struct diag *d)
{
	uint64_t begin_ns = session_now_ns();
	bool whole_tree;
	int ret = 0;

	s->root = pid;
	if (s->options.dormant)
		return 0; /* until a recording is requested */
	if (!on_exec)
		engines_add(s->engines, pid);
	whole_tree = !on_exec && s->sampler == WIRE_SAMPLER_NONE && engines_is_parent(s->engines, pid);
	if (!whole_tree) {
		session_write_process(s, pid, on_exec);
		s->nr_processes++; /* further ones as the kernel reports their fork */
		if (on_exec)
			host_options_write_of_command(s->writer, (uint32_t)pid, begin_ns, s->options.command);
	}
	if (s->sampler != WIRE_SAMPLER_NONE)
		s->rings.budget = rings_budget(); /* the guest's threads come with their own */
	else
		ret = on_exec ? count_from_exec(s, pid) : whole_tree ? session_attach_tree(s, pid) : session_attach(s, pid);
	if (ret)
		return diag_fail(d, -ret, "cannot count %s for process %d: %s%s", s->events.event[0].name, (int)pid, strerror(-ret),
				 ret == -EMFILE ? " (ulimit -n; one descriptor for each processor and event)" :
				 ret == -EPERM ? " (limit of locked memory: ulimit -l, kernel.perf_event_mlock_kb)" : "");
	/* after the counters, which tell of later mappings, and as of before them */
	if (!on_exec && !whole_tree) {
		session_write_maps(s, pid, begin_ns);
		session_write_threads(s, pid, begin_ns);
	}
	return 0;
}

int session_add_thread(struct session *s, const int *fds, int nr, uint32_t pid, uint32_t tid)
{
	size_t left = s->rings.budget;
	struct ring *r;
	int ret;

	if (s->sampler == WIRE_SAMPLER_SIGNAL)
		return session_add_signal_event(s, fds[0], pid, tid);
	if (nr != s->events.nr)
		return -EBADF;
	for (size_t i = 0; i < s->rings.nr; i++)
		left -= s->rings.ring[i].bytes < left ? s->rings.ring[i].bytes : left;
	ret = add_ring(s, fds[0], -1, at_most(THREAD_RING_BYTES, left / THREADS_SHARE));
	if (ret)
		return ret;
	r = &s->rings.ring[s->rings.nr - 1];
	r->foreign = true; /* opened by the host */
	r->pid = pid;
	r->tid = tid;
	for (int i = 1; i < nr; i++) {
		ret = share_ring(s, r, fds[i]);
		if (ret) { /* the caller's are the caller's again */
			ring_unmap(r);
			s->rings.nr--;
			return ret;
		}
	}
	for (int i = 0; i < nr; i++)
		if (random_period_spread(&s->events.event[i].attr))
			set_period(r, i, random_period_draw(&s->events.event[i].attr, draw(s)));
	/* only now: what it counts before there is a ring would be lost uncounted */
	if (!s->paused)
		ring_switch(r, true);
	return 0;
}

/*
 * The counter that was opened, and those that are inherited from it from now on: the kernel has no way to reach those that
 * were inherited before.
 */
void session_vary_periods(struct session *s)
{
	for (size_t i = 0; i < s->rings.nr; i++)
		for (int e = 0; e <= s->rings.ring[i].nr_more; e++) {
			struct ring *r = &s->rings.ring[i];

			if (!random_period_is_due(&r->random_period[e]) || !random_period_spread(&s->events.event[e].attr))
				continue;
			session_drain_ring(s, r); /* these had the period before */
			set_period(r, e, random_period_draw(&s->events.event[e].attr, draw(s)));
		}
}

/* The first event stays on: mappings, tasks and names come with it. */
void session_limit_rates(struct session *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->rings.nr && !s->paused; i++)
		for (int e = 1; e <= s->rings.ring[i].nr_more; e++) {
			const struct perf_event_attr *a = &s->events.event[e].attr;
			struct ring *r = &s->rings.ring[i];
			enum rate_limiter_action verdict;

			if (!a->freq)
				continue;
			verdict = rate_limiter_check(&r->rate_limiter[e], r->nr_samples[e], a->sample_freq, now_ns);
			if (verdict == RATE_LIMITER_KEEP)
				continue;
			ioctl(r->more[e - 1], verdict == RATE_LIMITER_ENABLE ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
			session_switch_attached_event(s, r->fd, (uint32_t)e, verdict == RATE_LIMITER_ENABLE);
			if (verdict == RATE_LIMITER_DISABLE && !s->noticed.rate)
				session_notice(s, "ladder", "%s exceeded its rate of %llu samples per second by far; pausing the event "
					       "to keep the rate on average (--period sets a fixed period)", s->events.event[e].name,
					       (unsigned long long)a->sample_freq);
			s->noticed.rate |= verdict == RATE_LIMITER_DISABLE;
		}
}

void session_control(struct session *s, uint64_t action)
{
	if (action != JITREG_CONTROL_START && action != JITREG_CONTROL_STOP)
		return;
	s->paused = action == JITREG_CONTROL_STOP;
	session_switch_counters(s, !s->paused);
}

void session_switch_counters(struct session *s, bool on)
{
	/* with all that is inherited from them */
	for (size_t i = 0; i < s->rings.nr; i++)
		ring_switch(&s->rings.ring[i], on);
	for (size_t i = 0; i < s->signal_events.nr; i++)
		ioctl(s->signal_events.event[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	session_switch_attached(s, on);
}

/* The kernel's clocks count its own time in any case; samples of user code alone are a part of that, and stand for no more. */
static bool counts_what_it_samples(const struct perf_event_attr *a)
{
	return !event_is_clock(a) || (!a->exclude_kernel && !a->exclude_user);
}

/*
 * What a counter itself says at its end: its value beside the samples that it gave, and what it lost.  The kernel tells in the
 * ring what it dropped when the next record finds room, so the last losses are never said there; the count of the event (and of
 * those inherited from it) has them all.
 */
static void read_counter(struct session *s, struct ring *r, int event, uint64_t on_cpu_ns, uint64_t *lost)
{
	uint64_t count[4] = { 0 }; /* value, enabled, running, lost (Linux 6.0) */
	ssize_t n = read(event == 0 ? r->fd : r->more[event - 1], count, sizeof(count));

	if (n < (ssize_t)(3 * sizeof(count[0])))
		return;
	session_add_attached_counts(s, r->fd, (uint32_t)event, count);
	*lost += count[3];
	if (!count[0] && !r->nr_samples[event])
		return; /* an idle processor */
	TRACE_PUT(s->writer, count, session_now_ns(), r->pid, r->tid, .event = (uint32_t)event, .cpu = (uint32_t)r->cpu,
		  .value = count[0], .enabled_ns = count[1], .running_ns = count[2], .samples = r->nr_samples[event], .lost = count[3],
		  .on_cpu_ns = on_cpu_ns,
		  .weight = counts_what_it_samples(&s->events.event[event].attr) ? r->weight[event] : 0);
}

/* How long the tasks of a ring's events ran on its processor; 0: not known. */
static uint64_t read_on_cpu(const struct session *s, const struct ring *r)
{
	uint64_t count[4] = { 0 };

	if (r->on_cpu_fd < 0 || read(r->on_cpu_fd, count, sizeof(count)) < (ssize_t)(3 * sizeof(count[0])))
		return 0;
	session_add_attached_counts(s, r->fd, ATTACHED_ON_CPU, count);
	return count[2];
}

void session_end_ring(struct session *s, struct ring *r)
{
	uint64_t lost = 0, on_cpu_ns;

	session_drain_ring(s, r);
	on_cpu_ns = read_on_cpu(s, r);
	for (int i = 0; i <= r->nr_more; i++)
		read_counter(s, r, i, on_cpu_ns, &lost);
	if (lost > r->lost) {
		session_lose(s, LOSS_RING_FULL, r->pid, r->tid, lost - r->lost);
		r->lost = lost;
	}
	ring_close(r);
}
