/* SPDX-License-Identifier: MIT */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

int counting_add_event_id(struct counting *c, int fd, uint32_t event)
{
	uint64_t id;

	if (c->events.nr < 2)
		return 0;
	return ioctl(fd, PERF_EVENT_IOC_ID, &id) ? -errno : event_ids_add(&c->ids, id, event);
}

/* Returns the layout that all samples in a ring have, or NULL if samples of several events share the rings, because their layouts may
 * differ. */
static const struct record_layout *find_only_layout(const struct counting *c)
{
	return c->events.nr == 1 ? &c->layout : NULL;
}

static int open_event_ring(struct counting *c, int fd, int cpu, size_t bytes)
{
	int ret = counting_add_event_id(c, fd, 0);

	if (ret)
		return ret;

	if (!ARRAY_GROW(c->rings))
		return -ENOMEM;
	ret = ring_open(&c->rings.at[c->rings.nr], fd, bytes, RING_BYTES_MIN);
	if (ret)
		return ret;
	/* if the spill cannot be created, rings may overflow more often */
	if (c->rings.spill || ring_spill_create(RING_SPILL_BYTES, &c->rings.spill) == 0)
		ring_spill_add_ring(c->rings.spill, &c->rings.at[c->rings.nr], find_only_layout(c));
	c->rings.at[c->rings.nr++].cpu = cpu;
	return 0;
}

/* Do samples have data addresses, or all registers by which addresses are computed?  If so, mappings that are not code are recorded too. */
static bool samples_have_addresses(const struct perf_event_attr *a)
{
	return (a->sample_type & PERF_SAMPLE_ADDR) || (a->sample_regs_user & EVENT_REGISTERS_ADDRESSES) == EVENT_REGISTERS_ADDRESSES;
}

void counting_prepare_events(struct counting *c)
{
	bool addresses = false, switches = false;

	for (int i = 0; i < c->events.nr; i++)
		switches |= event_is_switches(&c->events.event[i].attr) && c->sampler < WIRE_SAMPLER_SIGNAL;
	c->events.event[0].attr.context_switch = switches;
	for (int i = 0; i < c->events.nr; i++) {
		struct perf_event_attr *a = &c->events.event[i].attr;

		a->remove_on_exec = c->sampler != WIRE_SAMPLER_NONE; /* the threads of the new program open their own events */
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		if (c->events.nr > 1)
			a->sample_type |= PERF_SAMPLE_IDENTIFIER;
		/* this distinguishes the samples of an opened counter from those of counters inherited from it */
		if (c->sampler == WIRE_SAMPLER_NONE)
			a->sample_type |= PERF_SAMPLE_STREAM_ID;
		addresses |= samples_have_addresses(a);
		if (i > 0) /* mappings, names and tasks are recorded once, with the first event */
			a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = a->build_id = a->ksymbol = 0;
	}
	c->events.event[0].attr.mmap_data = addresses && c->events.event[0].attr.mmap;
}

/* Lets one more event write into a ring.  Returns 0 or -errno, and then fd is still the caller's. */
static int add_event_to_ring(struct counting *c, struct ring *r, int fd)
{
	if (r->nr_more == RING_EVENTS_MAX - 1)
		return -E2BIG;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return -errno;
	if (counting_add_event_id(c, fd, (uint32_t)r->nr_more + 1))
		return -ENOMEM;
	r->more[r->nr_more++] = fd;
	return 0;
}

/*
 * Fills in *a for an event whose running time is how long a task runs on one CPU.  The kernel counts the enabled time of the task's other
 * events on all CPUs, but their running time on this one only.  So a smaller running time shows multiplexing only if it is also smaller
 * than the time on this CPU, which a software event has exactly because it is never multiplexed.  Returns false if none of the chosen
 * events needs it, that is, if none is a hardware event or has a frequency.  If the event cannot be opened (no descriptor is left), the
 * analyzer does without it.
 */
static bool init_on_cpu_attr(const struct counting *c, const struct perf_event_attr *like, struct perf_event_attr *a)
{
	bool needed = false;

	for (int i = 0; i < c->events.nr; i++)
		/* counting_limit_rates() may pause an event with a frequency */
		needed |= event_is_hardware(&c->events.event[i].attr) || c->events.event[i].attr.freq;
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(*a), .config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = like->disabled, .inherit = like->inherit, .enable_on_exec = like->enable_on_exec,
		.exclude_kernel = like->exclude_kernel, .exclude_hv = like->exclude_hv, .remove_on_exec = like->remove_on_exec,
	};
	return needed;
}

int counting_open_on_cpu_time(const struct counting *c, const struct perf_event_attr *like, pid_t pid, int cpu)
{
	struct perf_event_attr a;

	return init_on_cpu_attr(c, like, &a) ? event_open(&a, pid, cpu, 0) : -1;
}

/* Opens all events on a CPU.  They share the ring of the first one. */
int counting_open_cpu_events(struct counting *c, const struct perf_event_attr *attr, pid_t pid, int cpu, size_t ring_bytes)
{
	for (int i = 0; i < c->events.nr; i++) {
		struct perf_event_attr a = counting_randomize_period(c, &attr[i], cpu);
		int fd = event_open(&a, pid, cpu, 0), ret;
		struct random_period *v;

		if (fd < 0)
			return -errno;
		ret = i == 0 ? open_event_ring(c, fd, cpu, ring_bytes) : add_event_to_ring(c, &c->rings.at[c->rings.nr - 1], fd);
		if (ret) {
			close(fd);
			return ret;
		}
		v = &c->rings.at[c->rings.nr - 1].random_period[i];
		v->period = a.sample_period;
		if (ioctl(fd, PERF_EVENT_IOC_ID, &v->id))
			return -errno;
	}
	c->rings.at[c->rings.nr - 1].on_cpu_fd = counting_open_on_cpu_time(c, &attr[0], pid, cpu);
	return 0;
}

void counting_init_cpu_attrs(struct counting *c, struct perf_event_attr attr[EVENTS_MAX], size_t *ring_bytes)
{
	c->rings.budget = counting_rings_budget();
	*ring_bytes = counting_cpu_ring_bytes(c->rings.budget, c->events.event[0].attr.sample_stack_user);
	for (int i = 0; i < c->events.nr; i++) {
		attr[i] = c->events.event[i].attr;
		attr[i].inherit = 1;
		attr[i].watermark = 1;
		attr[i].wakeup_watermark = (uint32_t)*ring_bytes / 2;
	}
}

/* Opens all events on all CPUs that are online, for pid, or for all processes if pid is -1. */
static int open_on_all_cpus(struct counting *c, const struct perf_event_attr attr[EVENTS_MAX], pid_t pid, size_t ring_bytes)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int ret = counting_open_cpu_events(c, attr, pid, cpu, ring_bytes);

		if (ret && ret != -ENODEV) /* -ENODEV means that the CPU is offline, so it is left out */
			return ret; /* with some CPUs only, the profile would lack what runs on the others */
	}
	return c->rings.nr ? 0 : -ENODEV;
}

int counting_begin_at_exec(struct counting *c, pid_t pid)
{
	struct perf_event_attr attr[EVENTS_MAX];
	size_t bytes;

	counting_init_cpu_attrs(c, attr, &bytes);
	for (int i = 0; i < c->events.nr; i++)
		attr[i].enable_on_exec = 1;
	return open_on_all_cpus(c, attr, pid, bytes);
}

int counting_begin_system(struct counting *c)
{
	struct perf_event_attr attr[EVENTS_MAX];
	size_t bytes;
	int ret;

	counting_init_cpu_attrs(c, attr, &bytes);
	for (int i = 0; i < c->events.nr; i++)
		attr[i].inherit = 0;
	ret = open_on_all_cpus(c, attr, -1, bytes);
	c->rings.of_processors = true;
	if (ret == 0)
		counting_set_enabled(c, true);
	return ret;
}

/* Opens a ring on this CPU for events that are attached later.  Its own events are of this thread and are never enabled.  They exist only
 * because a ring belongs to an event. */
static int open_kept_ring(struct counting *c, const struct perf_event_attr *like, int cpu, size_t ring_bytes)
{
	const struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY, .disabled = 1, .exclude_kernel = 1,
		.exclude_hv = 1, .read_format = like->read_format, .use_clockid = like->use_clockid, .clockid = like->clockid,
		.watermark = like->watermark, .wakeup_watermark = like->wakeup_watermark,
	};
	struct ring *r;
	int fd = event_open(&a, 0, cpu, 0), ret;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno; /* ENODEV means that the CPU is offline */
	ret = open_event_ring(c, fd, cpu, ring_bytes);
	if (ret) {
		close(fd);
		return ret;
	}
	r = &c->rings.at[c->rings.nr - 1];
	for (int i = 0; i < c->events.nr; i++)
		if (random_period_is_once(&c->events.event[i].attr)) /* all attached events have this period */
			r->random_period[i].period = c->events.event[i].attr.sample_period;
	for (int i = 1; i < c->events.nr; i++) {
		fd = event_open(&a, 0, cpu, 0);
		if (fd < 0)
			return -errno;
		r->more[r->nr_more++] = fd;
	}
	r->on_cpu_fd = event_open(&a, 0, cpu, 0); /* the event's own time is 0, to which the times of attached events are added */
	return 0;
}

int counting_keep_rings(struct counting *c)
{
	struct perf_event_attr attr[EVENTS_MAX];
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF), ret = 0;
	size_t bytes;

	counting_init_cpu_attrs(c, attr, &bytes);
	c->rings.are_kept = true;
	for (int cpu = 0; cpu < nr_cpus && ret == 0; cpu++)
		ret = open_kept_ring(c, &attr[0], cpu, bytes);
	return ret == 0 && c->rings.nr == 0 ? -ENODEV : ret;
}

void counting_begin_by_threads(struct counting *c)
{
	c->rings.budget = counting_rings_budget();
}

int counting_add_thread(struct counting *c, const int *fds, int nr, uint32_t pid, uint32_t tid)
{
	size_t left = c->rings.budget;
	struct ring *r;
	int ret;

	if (c->sampler == WIRE_SAMPLER_SIGNAL)
		return counting_add_signal_event(c, fds[0], pid, tid);
	if (nr != c->events.nr)
		return -EBADF;
	for (size_t i = 0; i < c->rings.nr; i++)
		left -= c->rings.at[i].bytes < left ? c->rings.at[i].bytes : left;
	ret = open_event_ring(c, fds[0], -1, counting_thread_ring_bytes(left));
	if (ret)
		return ret;
	r = &c->rings.at[c->rings.nr - 1];
	r->foreign = true; /* the host opened it, and may have it mapped as well */
	r->pid = pid;
	r->tid = tid;
	for (int i = 1; i < nr; i++) {
		ret = add_event_to_ring(c, r, fds[i]);
		if (ret) { /* the descriptors are the caller's again */
			ring_unmap(r);
			c->rings.nr--;
			return ret;
		}
	}
	counting_randomize_ring_periods(c, r);
	/* Counters are enabled only now, because samples from before there is a ring would be lost without being counted. */
	if (!c->paused)
		ring_set_enabled(r, true);
	return 0;
}

void counting_set_enabled(struct counting *c, bool on)
{
	/* Counters that are inherited from these are enabled or disabled with them. */
	for (size_t i = 0; i < c->rings.nr && !c->rings.are_kept; i++)
		ring_set_enabled(&c->rings.at[i], on);
	counting_look_at_idle_time(c, on);
	for (size_t i = 0; i < c->signal_events.nr; i++)
		ioctl(c->signal_events.at[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	counting_set_attached_enabled(c, on);
}
