/* SPDX-License-Identifier: MIT */
/*
 * Tries every sampling method independently of the others. Also reports whether kernel functions have names, whether waiting for a
 * processor is told from other waits, and which events a recording has by default.
 */
#include "agent/recorder/doctor/doctor.h"

#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/perf/event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SETSIG
#define F_SETSIG 10
#endif

static struct perf_event_attr perf_attr_of_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = type, .config = config };

	a.sample_period = type == PERF_TYPE_HARDWARE ? 1000003 : 999001;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.disabled = a.exclude_hv = 1;
	return a;
}

/* Opens an event for user code, and for kernel code if that is allowed.  Returns a descriptor, or -errno. */
static int open_permitted_event(struct perf_event_attr *a)
{
	int fd = event_open(a, 0, -1, 0);

	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		a->exclude_kernel = 1;
		fd = event_open(a, 0, -1, 0);
	}
	return fd < 0 ? -errno : fd;
}

/* Does the counter count during a short loop?  (Some virtual machines open hardware events that stay 0.) */
static bool counter_advances(int fd)
{
	uint64_t value = 0;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (volatile int i = 0; i < 1000000; i++)
		;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read(fd, &value, sizeof(value)) == sizeof(value) && value > 0;
}

/*
 * Adds a finding with the reason why the kernel refused, and the remedy. no_such, no_such_remedy: the reason and the remedy if the machine
 * does not have the event.
 */
static void add_open_failure_finding(struct doctor *d, const char *name, int error, const char *no_such, const char *no_such_remedy)
{
	struct doctor_finding *f;

	if ((error == EACCES || error == EPERM || error == ENOSYS) && !d->root && !d->perfmon && d->paranoid > 2) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO,
				       "kernel.perf_event_paranoid is %d: perf events are "
				       "reserved to root",
				       d->paranoid);
		doctor_set_remedy(f, "sudo sysctl kernel.perf_event_paranoid=1");
	} else if ((error == EACCES || error == EPERM || error == ENOSYS) && d->container) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO,
				       "this container's seccomp profile or capabilities forbid "
				       "perf_event_open (%s)",
				       strerror(error));
		doctor_set_remedy(f,
				  d->container == DOCTOR_KUBERNETES ?
					  "securityContext: capabilities: add: [PERFMON, SYS_PTRACE]; seccompProfile: type: Unconfined" :
					  "%s run --cap-add PERFMON --cap-add SYS_PTRACE --security-opt seccomp=unconfined "
					  "...",
				  doctor_containers[d->container]);
	} else if (error == EACCES || error == EPERM || (error == ENOSYS && d->seccomp)) {
		f = doctor_add_finding(
			d, "sampling", name, DOCTOR_NO,
			d->seccomp ? "a seccomp filter forbids perf_event_open (%s)" : "a security module forbids perf_event_open (%s)",
			strerror(error));
		doctor_set_remedy(f, d->seccomp ? "allow perf_event_open in the filter (systemd: "
						  "SystemCallFilter=perf_event_open; containers: "
						  "--security-opt seccomp=unconfined)" :
						  "allow perf_event for this domain (SELinux, AppArmor: see the audit log)");
	} else if (error == ENOSYS) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
		doctor_set_remedy(f, "use a kernel with CONFIG_PERF_EVENTS, or `--sampler timer`");
	} else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == EINVAL) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO, "%s", no_such);
		doctor_set_remedy(f, "%s", no_such_remedy);
	} else if (error == EMFILE) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO, "too many open files");
		doctor_set_remedy(f, "ulimit -n 4096");
	} else {
		doctor_add_finding(d, "sampling", name, DOCTOR_NO, "%s", strerror(error));
	}
}

static const char *reason_for_no_counter(const struct doctor *d)
{
	return d->virtual_machine ? "this virtual machine has no such counter" : "this processor has no such counter";
}

static const char *remedy_for_no_counter(const struct doctor *d)
{
	return d->virtual_machine ? "enable a virtual PMU (KVM: -cpu host,pmu=on; clouds: bare-metal or large instances)" : "";
}

static void try_precise_sampling(struct doctor *d, unsigned level, unsigned best)
{
	struct perf_event_attr a = perf_attr_of_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "precise %u", level);
	a.precise_ip = level;
	fd = open_permitted_event(&a);
	if (fd >= 0) {
		close(fd);
		doctor_add_finding(d, "sampling", name, DOCTOR_YES, "samples written by the processor: no skid%s",
				   level == 3 ? ", no bias" : "");
	} else if (errno == EOPNOTSUPP && best > 0 && level > best) {
		doctor_add_finding(d, "sampling", name, DOCTOR_NO, "the highest precise level of this processor is %u", best);
	} else {
		add_open_failure_finding(
			d, name, -fd,
			d->virtual_machine ? "this virtual machine has no precise sampling (PEBS, IBS)" :
					     "this processor has no precise sampling (PEBS, IBS)",
			d->virtual_machine ? "run on bare metal; few "
					     "hypervisors support it" :
					     "");
	}
}

/* Reports PEBS without an interrupt for each sample, as far as it can be checked without a recording. */
static void try_pebs_batches(struct doctor *d, const struct event_pmu *pmu)
{
	if (pmu->vendor != EVENT_VENDOR_INTEL)
		return;
	if (!pmu->max_precise)
		doctor_add_finding(d, "sampling", "samples in batches", DOCTOR_NO, "no PEBS");
	else if (!pmu->perf_clock)
		doctor_add_finding(d, "sampling", "samples in batches", DOCTOR_NO,
				   "the kernel does not publish its conversion of the "
				   "processor's clock (cap_user_time), so each sample needs an interrupt");
	else
		doctor_add_finding(d, "sampling", "samples in batches", DOCTOR_YES,
				   "for precise events of user code, with a period and without "
				   "stacks (NAME:u@PERIOD with --stack 0)");
}

static void try_counter(struct doctor *d, const char *name, uint32_t type, uint64_t config, const char *good)
{
	struct perf_event_attr a = perf_attr_of_event(type, config);
	struct doctor_finding *f;
	int fd = open_permitted_event(&a);

	if (fd < 0) {
		add_open_failure_finding(d, name, -fd, reason_for_no_counter(d), remedy_for_no_counter(d));
	} else if (!counter_advances(fd)) {
		f = doctor_add_finding(d, "sampling", name, DOCTOR_NO,
				       "the counter opens but does not count (a virtual machine without a PMU)");
		doctor_set_remedy(f, "%s", remedy_for_no_counter(d));
	} else if (a.exclude_kernel) {
		d->can_sample = true;
		f = doctor_add_finding(d, "sampling", name, DOCTOR_LESS,
				       "user code only (kernel.perf_event_paranoid is %d): time in "
				       "system calls and page faults is missing",
				       d->paranoid);
		doctor_set_remedy(f, "sudo sysctl kernel.perf_event_paranoid=1");
	} else {
		d->can_sample = true;
		doctor_add_finding(d, "sampling", name, DOCTOR_YES, "%s", good);
	}
	if (fd >= 0)
		close(fd);
}

/* Tries sampling by a signal handler in the host at each counter overflow. */
static void try_overflow_signals(struct doctor *d)
{
	struct perf_event_attr a = perf_attr_of_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	bool can_sample;
	int fd;

	a.exclude_kernel = 1;
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0) {
		add_open_failure_finding(d, "signal at overflow", errno, reason_for_no_counter(d), "");
		return;
	}
	can_sample = fcntl(fd, F_SETSIG, SIGSTKFLT) == 0 && fcntl(fd, F_SETOWN, getpid()) == 0 && fcntl(fd, F_SETFL, O_ASYNC) == 0;
	d->can_sample |= can_sample;
	if (!can_sample)
		doctor_add_finding(d, "sampling", "signal at overflow", DOCTOR_NO, "%s", strerror(errno));
	else
		doctor_add_finding(d, "sampling", "signal at overflow", DOCTOR_YES,
				   "--sampler signal; reads tags in thread-local storage, as --sampler timer does");
	close(fd);
}

static void try_thread_timer(struct doctor *d)
{
	struct sigevent e = { .sigev_notify = SIGEV_NONE };
	struct timespec tick = { 0, 0 };
	timer_t timer;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &e, &timer)) {
		doctor_add_finding(d, "sampling", "timer per thread", DOCTOR_NO, "%s", strerror(errno));
		return;
	}
	timer_delete(timer);
	d->can_sample = true;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	doctor_add_finding(d, "sampling", "timer per thread", DOCTOR_YES,
			   "--sampler timer; needs no perf events; at most %ld samples per "
			   "second and thread",
			   tick.tv_nsec ? 1000000000 / tick.tv_nsec : 100);
}

static void try_branch_stacks(struct doctor *d)
{
	struct perf_event_attr a = perf_attr_of_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int fd;

	a.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	a.exclude_kernel = 1;
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0) {
		add_open_failure_finding(
			d, "last branches (LBR)", errno,
			d->virtual_machine ? "this virtual machine has no branch records" : "this processor has no branch records",
			d->virtual_machine ? "run on bare metal; few hypervisors "
					     "support them" :
					     "");
		return;
	}
	close(fd);
	doctor_add_finding(d, "sampling", "last branches (LBR)", DOCTOR_YES, "supported by the processor");
}

struct notices {
	char text[320];
	int nr;
};

static void keep_event_notice(void *context, enum notice_kind kind, const char *sentence)
{
	struct notices *t = context;

	(void)kind;
	snprintf(t->text, sizeof(t->text), "%s%s", sentence, ++t->nr > 1 ? " (`tailor run` prints further notices)" : "");
}

/* Reports the events that a recording with default options samples. */
static void try_default_events(struct doctor *d)
{
	struct event_options o = { .name = "auto", .rate = EVENT_RATE_DEFAULT, .stack_bytes = 16384 };
	struct notices notices = { "", 0 };
	struct events events;
	struct diag diag = { "" };
	char names[256] = "";

	if (events_choose(&o, &events, keep_event_notice, &notices, &diag)) {
		doctor_add_finding(d, "sampling", "auto", DOCTOR_LESS, "a timer in each thread (programs with the agent only): %s",
				   diag.text);
		return;
	}
	for (int i = 0; i < events.nr; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? " and " : "", events.event[i].name);
	doctor_add_finding(d, "sampling", "auto", notices.nr ? DOCTOR_LESS : DOCTOR_YES, "%s%s%s", names, notices.nr ? "; " : "",
			   notices.text);
}

/* Reports whether the names of kernel functions are readable. */
static void try_kernel_names(struct doctor *d)
{
	const char *remedy, *why = kernel_names_why_unavailable(&remedy);

	if (why)
		doctor_set_remedy(doctor_add_finding(d, "sampling", "kernel functions", DOCTOR_LESS, "no names: %s", why), "%s", remedy);
	else
		doctor_add_finding(d, "sampling", "kernel functions", DOCTOR_YES, "named, including modules and BPF programs");
}

/* Reports whether waiting for a processor can be distinguished from other waits. */
static void try_wakeups(struct doctor *d)
{
	FILE *f = event_open_tracepoint_file(EVENT_WAKING, "id");

	if (f)
		doctor_add_finding(d, "sampling", "run queue", DOCTOR_YES, "told from what a thread waited for before");
	else
		doctor_set_remedy(doctor_add_finding(d, "sampling", "run queue", DOCTOR_LESS, "a thread that is woken counts as waiting "
						     "until it runs: the tracepoint sched_waking cannot be read"), "%s",
				  d->root ? "mount -t tracefs tracefs /sys/kernel/tracing" : "record as root");
	if (f)
		fclose(f);
}

void doctor_check_sampling(struct doctor *d)
{
	struct event_pmu pmu;

	event_pmu_read(&pmu);
	for (unsigned level = 3; level >= 1; level--)
		try_precise_sampling(d, level, pmu.max_precise);
	try_pebs_batches(d, &pmu);
	try_counter(d, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "user and kernel code");
	try_counter(d, "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "user and kernel code");
	try_overflow_signals(d);
	try_thread_timer(d);
	try_branch_stacks(d);
	try_kernel_names(d);
	try_wakeups(d);
	try_default_events(d);
}
