/* SPDX-License-Identifier: MIT */
#include "event.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A clock's period must not divide the timer tick, or every sample falls behind the tick's own work.  A thousandth less than
 * asked for moves the samples through the whole of a 1 ms tick ten times a second.
 */
#define PERIOD_MIN 1000
#define CLOCK_PERIOD(ns) (((ns) - (ns) / 1024) | 1)

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4) /* Linux 6.0 */
#endif
#define RATE_LIMIT_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

static bool is_clock(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_TASK_CLOCK || a->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Only the identity: type, config, config1, config2, and the privilege bits that a name may carry. */
static int encode(const char *name, struct event *e, struct diag *d)
{
	static const struct {
		const char *name;
		uint64_t config;
	} clocks[] = { { "task-clock", PERF_COUNT_SW_TASK_CLOCK }, { "cpu-clock", PERF_COUNT_SW_CPU_CLOCK } };
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int ret;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (strcmp(name, clocks[i].name) == 0) {
			e->attr.type = PERF_TYPE_SOFTWARE;
			e->attr.config = clocks[i].config;
			snprintf(e->name, sizeof(e->name), "%s", name);
			snprintf(e->unit, sizeof(e->unit), "ns");
			return 0;
		}
	ret = pfm_initialize();
	if (ret == PFM_SUCCESS)
		ret = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (ret != PFM_SUCCESS)
		return diag_fail(d, EINVAL, "there is no event '%s' on this machine (libpfm4: %s); `auto` picks one", name,
				 pfm_strerror(ret));
	e->attr.type = attr.type;
	e->attr.config = attr.config;
	e->attr.config1 = attr.config1;
	e->attr.config2 = attr.config2;
	e->attr.exclude_user = attr.exclude_user;
	e->attr.exclude_kernel = attr.exclude_kernel;
	e->attr.precise_ip = attr.precise_ip;
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->unit, sizeof(e->unit), "%s", is_clock(&e->attr) ? "ns" : "events");
	if (strstr(name, "cycles") || strstr(name, "CYCLES"))
		snprintf(e->unit, sizeof(e->unit), "cycles");
	return 0;
}

static void describe_sampling(struct event *e, const struct event_options *o)
{
	struct perf_event_attr *a = &e->attr;

	a->size = sizeof(*a);
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
			 PERF_SAMPLE_PERIOD;
	if (o->registers != EVENT_REGISTERS_NONE) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = o->registers ? o->registers : EVENT_REGISTERS_DEFAULT;
	}
	if (o->stack_bytes) {
		a->sample_type |= PERF_SAMPLE_STACK_USER;
		a->sample_stack_user = o->stack_bytes;
	}
	if (o->frame_pointers) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->exclude_callchain_kernel = 1;
	}
	if (o->period) {
		a->sample_period = o->period;
	} else if (is_clock(a)) {
		a->sample_period = CLOCK_PERIOD(1000000000 / o->rate);
	} else {
		a->freq = 1;
		a->sample_freq = o->rate;
	}
	a->read_format = PERF_FORMAT_LOST;
	a->disabled = 1;
	a->exclude_hv = 1;
	a->sample_id_all = 1;
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
}

int event_encode(const char *name, struct perf_event_attr *attr, struct diag *d)
{
	struct event e;
	int ret = encode(name, &e, d);

	if (ret == 0)
		*attr = e.attr;
	return ret;
}

/*
 * How often the event happens in a second of a busy processor; 0: it does not count (some virtual machines open hardware
 * events that stay 0).
 */
static uint64_t events_per_second(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;
	struct timespec begin, now;
	uint64_t value = 0;
	int64_t spent_ns;
	int fd;

	a.freq = 0;
	a.sample_period = 0; /* count only: no samples, no ring */
	a.sample_type = 0;
	a.read_format = 0;
	a.sample_regs_user = 0;
	a.sample_stack_user = 0;
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0)
		return 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/* our own processor time: others may run meanwhile.  Reading it is a system call, which may not be counted. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		spent_ns = (now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec;
	} while (spent_ns < 2000000);
	if (read(fd, &value, sizeof(value)) != sizeof(value))
		value = 0;
	close(fd);
	return (uint64_t)((double)value * 1e9 / (double)spent_ns);
}

/*
 * Cycles come at a known pace, so a rate of them is a period.  The kernel's own way to hold a rate (attr.freq) starts each
 * counter with a period of 1 and samples a new thread thousands of times before it has found its pace.
 */
static void fix_period(struct event *e, uint64_t per_second)
{
	uint64_t period = per_second / e->attr.sample_freq;

	e->attr.freq = 0;
	e->attr.sample_period = (period > PERIOD_MIN ? period : PERIOD_MIN) | 1;
}

/* Open it once on ourselves, giving up one wish after the other.  0 or -errno. */
static int try_open(struct event *e, event_told told, void *context)
{
	struct perf_event_attr *a = &e->attr;
	char text[256];
	int fd, error;

	a->build_id = 1;
	for (;;) {
		fd = event_open(a, 0, 0, 0);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		error = errno;
		if (error == EINVAL && a->read_format) {
			a->read_format = 0;
		} else if (error == EINVAL && a->build_id) {
			a->build_id = 0; /* Linux 5.12 */
		} else if ((error == EACCES || error == EPERM) && !a->exclude_kernel) {
			a->exclude_kernel = 1;
			snprintf(text, sizeof(text), "%s: kernel code is left out, because this user may not sample it "
				 "(kernel.perf_event_paranoid); time in system calls is missing", e->name);
			told(context, text);
		} else {
			return -error;
		}
	}
}

/* More than the kernel allows is EINVAL for everything: ask for what it allows, and say so. */
static void keep_to_rate_limit(struct event *e, event_told told, void *context)
{
	FILE *f = e->attr.freq ? fopen(RATE_LIMIT_FILE, "re") : NULL;
	unsigned long long limit = 0;
	char text[256];

	if (f && fscanf(f, "%llu", &limit) == 1 && limit && e->attr.sample_freq > limit) {
		snprintf(text, sizeof(text), "%llu samples per second instead of %llu: the kernel allows no more "
			 "(kernel.perf_event_max_sample_rate)", limit, (unsigned long long)e->attr.sample_freq);
		told(context, text);
		e->attr.sample_freq = limit;
	}
	if (f)
		fclose(f);
}

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such counter";
	case EACCES:
	case EPERM:
		return "not permitted (kernel.perf_event_paranoid, or a container's rules)";
	case EINVAL:
		return "the kernel refuses it with this period, stack size or these registers";
	case ENOSYS:
		return "this kernel has no perf events";
	case EMFILE:
		return "too many open files";
	default:
		return strerror(error);
	}
}

int event_choose(const struct event_options *o, struct event *out, event_told told, void *context, struct diag *d)
{
	static const char *const rungs[] = { "cycles", "task-clock" };
	int nr = sizeof(rungs) / sizeof(rungs[0]), ret = -ENOENT;
	bool automatic = strcmp(o->name, "auto") == 0;
	char text[256];

	for (int i = 0; i < (automatic ? nr : 1); i++) {
		const char *name = automatic ? rungs[i] : o->name;

		ret = encode(name, out, d);
		if (ret == 0) {
			describe_sampling(out, o);
			keep_to_rate_limit(out, told, context);
			ret = try_open(out, told, context);
			if (ret == 0) {
				bool cycles = out->attr.freq && strcmp(out->unit, "cycles") == 0;
				uint64_t per_second = automatic || cycles ? events_per_second(&out->attr) : 0;

				if (cycles && per_second)
					fix_period(out, per_second);
				if (!automatic || is_clock(&out->attr) || per_second)
					return 0;
			}
			diag_fail(d, -ret, "%s cannot be sampled: %s", name, reason(-ret));
			if (ret == -EINVAL && !automatic)
				ret = -EOPNOTSUPP; /* the name is good */
		}
		if (automatic && i + 1 < nr) {
			snprintf(text, sizeof(text), "%s was not had: %s; %s instead", name,
				 ret ? reason(-ret) : "it opens but does not count", rungs[i + 1]);
			told(context, text);
		}
	}
	return ret ? ret : -ENOENT;
}
