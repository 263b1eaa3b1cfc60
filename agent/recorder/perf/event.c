/* SPDX-License-Identifier: MIT */
/* This file chooses, for each requested event, the best variant that this machine opens, with fallbacks. */
#include "agent/recorder/perf/event_internal.h"

#include "agent/recorder/process/proc_file.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MIN 1000
#define PACE_NS 2000000 /* longest processor time of a measurement of an event's frequency */
#define PACE_SLICE_NS 100000
#define PACE_AGREES 32 /* two slices agree if their results differ by less than 1/32 */
#define RATE_LIMIT_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

static int64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Measures, in one slice, how often the event happens in a second of this thread's processor time, in a loop that only computes. */
static double measure_slice_per_second(int fd, uint64_t *value, int64_t *spent_ns)
{
	int64_t begin_ns = thread_cpu_ns(), slice_ns;
	uint64_t before = *value;

	do {
		/* the loop is long because reading the clock is a system call, in which the event may not count */
		for (volatile int i = 0; i < 20000; i++)
			;
		slice_ns = thread_cpu_ns() - begin_ns;
	} while (slice_ns < PACE_SLICE_NS);
	if (read(fd, value, sizeof(*value)) != sizeof(*value))
		*value = before;
	*spent_ns += slice_ns;
	return (double)(*value - before) * 1e9 / (double)slice_ns;
}

/*
 * Measures how often the event happens in a second of a busy processor.  Returns 0 if it does not count, because it cannot be opened or, as
 * in some virtual machines, stays 0.  A host may be waiting, so the measurement ends as soon as two slices agree.
 */
static uint64_t measure_events_per_second(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;
	double before = 0, now = 0, pace = 0;
	int64_t spent_ns = 0;
	uint64_t value = 0;
	int fd;

	a.freq = 0;
	a.sample_period = 0; /* the event is only counted, without samples, which would need a ring */
	a.sample_type = 0;
	a.read_format = 0;
	a.sample_regs_user = a.sample_regs_intr = 0;
	a.sample_stack_user = 0;
	a.precise_ip = 0; /* the kernel has precise events for sampling only */
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0)
		return 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	while (spent_ns < PACE_NS && !(pace > 0)) {
		before = now;
		now = measure_slice_per_second(fd, &value, &spent_ns);
		if (before > 0 && now > before - before / PACE_AGREES && now < before + before / PACE_AGREES)
			pace = (before + now) / 2;
	}
	close(fd);
	return (uint64_t)(pace > 0 ? pace : (double)value * 1e9 / (double)spent_ns);
}

/*
 * Replaces the event's rate by the period that corresponds to it at this frequency, or by PERIOD_MIN if that is longer. The frequency is
 * nearly constant for cycles, instructions and loads. The kernel's own way to hold a rate (attr.freq) starts each counter with a period of
 * 1, and samples a new thread thousands of times before it has found the right period.
 */
static void replace_rate_by_period(struct event *e, const struct event_pmu *pmu, uint64_t per_second)
{
	uint64_t period = per_second / e->attr.sample_freq;

	if (period < PERIOD_MIN)
		period = PERIOD_MIN;
	e->attr.freq = 0;
	e->attr.sample_period = event_allowed_period(&e->attr, pmu, period | 1);
}

#define LOSSES_MAX 4

struct selection {
	const struct event_options *options;
	struct event_pmu pmu;
	event_notice_fn notice;
	void *context;
	struct {
		char text[320];
	} lost[LOSSES_MAX]; /* notices on what the event that is being tried lacks, which are passed on if it is chosen */
	int nr_lost;
	struct diag *d;
};

__attribute__((format(printf, 2, 3))) static void note_loss(struct selection *l, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (l->nr_lost < LOSSES_MAX)
		vsnprintf(l->lost[l->nr_lost++].text, sizeof(l->lost[0].text), format, list);
	va_end(list);
}

/* Is the event useless without samples in the kernel?  Context switches happen only there, and :k excludes user code. */
static bool event_needs_kernel(const struct perf_event_attr *a)
{
	return a->exclude_user || (event_is_rare(a) && !event_is_fault(a));
}

/* Opens the event on this thread and closes it again.  As long as that fails, gives up one part of the attr after the other, as the error
 * suggests.  Returns 0 or -errno.  If kernel samples are given up, *s is changed as well, so that attrs for other precise levels have
 * none. */
static int open_event_with_fallbacks(struct selection *l, struct event_spec *s, struct event *e)
{
	struct perf_event_attr *a = &e->attr;
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
			a->build_id = 0; /* kernels before 5.12 refuse it */
		} else if (error == EINVAL && a->ksymbol) {
			a->ksymbol = 0; /* kernels before 5.1 refuse it */
		} else if ((error == EACCES || error == EPERM) && !a->exclude_kernel && !event_needs_kernel(a)) {
			a->exclude_kernel = a->exclude_callchain_kernel = s->exclude_kernel = true;
			if (a->exclude_callchain_user)
				a->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
			note_loss(l, "%s: kernel samples unavailable (not permitted: kernel.perf_event_paranoid); sampling user code only",
				  e->name);
		} else if (error == ENODATA && a->sample_type & PERF_SAMPLE_DATA_SRC) {
			/* on Intel's processors since Sapphire Rapids and Alder Lake, data sources of loads need an auxiliary event */
			a->sample_type &= ~(uint64_t)PERF_SAMPLE_DATA_SRC;
			note_loss(l, "%s: data source unavailable (this processor needs a second counter for it); use "
				  "MEM_INST_RETIRED:ALL_LOADS to record it", e->name);
		} else {
			return -error;
		}
	}
}

static uint64_t read_kernel_rate_limit(void)
{
	long long limit = 0;

	return proc_read_number(RATE_LIMIT_FILE, &limit) && limit > 0 ? (uint64_t)limit : 0;
}

/*
 * Lowers a requested rate to the kernel's limit, and that of a clock to EVENT_CLOCK_RATE_MOST at most, with a notice. Above the kernel's
 * limit, opening an event with a frequency fails with EINVAL. A clock opens, since its period is computed here, but the kernel stops it for
 * the rest of a timer tick after as many samples as a tick may have. Code that runs at the tick (timers' handlers) would get too large a
 * share then.
 */
static void lower_rate_to_limit(struct selection *l, const struct event *e, struct event_spec *s)
{
	const bool is_clock = event_is_clock(&e->attr) && !s->period && (s->rate || !l->options->period);
	uint64_t rate = s->rate ? s->rate : l->options->rate, limit = e->attr.freq || is_clock ? read_kernel_rate_limit() : 0;
	const char *whose = "kernel.perf_event_max_sample_rate";

	if (is_clock && (!limit || limit > EVENT_CLOCK_RATE_MOST)) {
		limit = EVENT_CLOCK_RATE_MOST;
		whose = "the kernel's timers";
	}
	if (!limit || rate <= limit)
		return;
	note_loss(l, "%llu samples per second unavailable (limit of %s); using %llu", (unsigned long long)rate, whose,
		  (unsigned long long)limit);
	s->rate = limit;
}

#define SETTING "kernel.perf_event_paranoid"
#define PARANOID_ALL 2 /* with a higher value of the setting (Debian's kernels have it), users without privileges can open no event */

enum refusal { REFUSAL_NO_SETTING, REFUSAL_SETTING, REFUSAL_SECCOMP, REFUSAL_UNKNOWN };

/* Finds why the kernel has probably refused perf events. Sets *paranoid to the setting, or to 0 if that cannot be read. */
static enum refusal find_refusal(long long *paranoid)
{
	char seccomp[16] = "", capabilities[32] = "";
	bool privileged;

	*paranoid = 0;
	proc_read_value("/proc/self/status", "CapEff", capabilities, sizeof(capabilities));
	privileged = strtoull(capabilities, NULL, 16) & (1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN);
	proc_read_value("/proc/self/status", "Seccomp", seccomp, sizeof(seccomp));
	if (!proc_read_number("/proc/sys/kernel/perf_event_paranoid", paranoid))
		return REFUSAL_NO_SETTING;
	if (!privileged && *paranoid > PARANOID_ALL)
		return REFUSAL_SETTING;
	if (strcmp(seccomp, "2") == 0)
		return REFUSAL_SECCOMP;
	return privileged ? REFUSAL_UNKNOWN : REFUSAL_SETTING;
}

const char *event_why_not_permitted(void)
{
	static char text[160];
	long long paranoid;

	switch (find_refusal(&paranoid)) {
	case REFUSAL_NO_SETTING:
		return "not permitted; there is no " SETTING ", so this kernel may have no perf events";
	case REFUSAL_SETTING:
		snprintf(text, sizeof(text), "not permitted: " SETTING " is %lld", paranoid);
		return text;
	case REFUSAL_SECCOMP:
		return "not permitted: a seccomp filter is in force (a container's profile)";
	default:
		return "not permitted, for an unknown reason: there is the capability, and no seccomp filter";
	}
}

static const char *text_of_open_error(const struct event_pmu *pmu, int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return pmu->counters ? "not supported by this processor's PMU" : "no PMU";
	case EACCES:
	case EPERM:
		return event_why_not_permitted();
	case EINVAL:
		return "rejected by the kernel with this period, stack size or register set";
	case ENOSYS:
		return "no perf events in this kernel";
	case EMFILE:
		return "too many open files";
	case EBUSY:
		return "counter in use by another tool";
	default:
		return strerror(error);
	}
}

/* Returns what a user can do about an event that cannot be opened. `auto` is no remedy if the event needs samples in the kernel and these
 * are not permitted. */
static const char *remedy_of(const struct perf_event_attr *a, int error)
{
	enum refusal refusal;
	long long paranoid;

	if (error == EMFILE)
		return "raise the limit of open files (ulimit -n)";
	if ((error != EACCES && error != EPERM) || !event_needs_kernel(a))
		return "use `auto` for the best available event";
	refusal = find_refusal(&paranoid);
	return refusal == REFUSAL_SECCOMP ? "allow perf_event_open in that profile" :
	       refusal == REFUSAL_UNKNOWN ? "allow perf_event for this domain (SELinux, AppArmor: see the audit log)" :
					    "run as root, or with " SETTING " at most 1";
}

/*
 * Chooses the event of one item, at the highest precise level that can be opened, or at the requested one. automatic: an event other than a
 * clock has to count as well (some virtual machines open hardware events that stay 0). Returns 0, or -errno with a sentence.
 */
static int choose_event(struct selection *l, const struct event_spec *wanted, bool automatic, struct event *out)
{
	struct event_spec spec = *wanted, *s = &spec;
	bool any = s->precise == EVENT_PRECISE_BEST;
	unsigned best = l->pmu.vendor == EVENT_VENDOR_AMD ? (l->pmu.ibs ? 2 : 0) : l->pmu.max_precise;
	unsigned precise = any ? best : (unsigned)s->precise;
	uint64_t per_second;
	bool paced;
	int ret;

	l->nr_lost = 0;
	ret = event_make_attr(s, l->options, &l->pmu, any ? 0 : precise, out, l->d); /* the rest depends on its type */
	if (ret)
		return ret;
	lower_rate_to_limit(l, out, s);
	if (!event_is_hardware(&out->attr))
		precise = best = 0;
	if (precise > best)
		return diag_fail(l->d, EOPNOTSUPP, "cannot sample '%s': precise level %u is not supported (%s); omit 'p' to use the "
				 "highest level", s->text, precise,
				 best ? "this machine has lower levels only" : "no PEBS or IBS");
	for (;; precise--) {
		ret = event_make_attr(s, l->options, &l->pmu, precise, out, l->d);
		if (ret)
			return ret;
		ret = open_event_with_fallbacks(l, s, out);
		if (ret == 0 || precise == 0 || !any)
			break;
	}
	if (ret) /* the name is known, and -EINVAL would mean a misuse (events_choose()), so it becomes -EOPNOTSUPP */
		return diag_fail(l->d, ret == -EINVAL ? EOPNOTSUPP : -ret, "cannot sample %s: %s; %s", out->name,
				 text_of_open_error(&l->pmu, -ret), remedy_of(&out->attr, -ret));
	paced = automatic || out->unit == WEIGHT_CYCLES;
	per_second = paced && !event_is_clock(&out->attr) ? measure_events_per_second(&out->attr) : 0;
	if (per_second && out->attr.freq)
		replace_rate_by_period(out, &l->pmu, per_second);
	if (automatic && !event_is_clock(&out->attr) && !per_second)
		return diag_fail(l->d, ENXIO, "cannot sample %s: the counter opens but does not count", out->name);
	if (l->pmu.hybrid && (out->attr.type == PERF_TYPE_HARDWARE || out->attr.type == PERF_TYPE_RAW))
		note_loss(l, "%s counts on performance cores only (hybrid processor); task-clock counts on all cores", out->name);
	for (int i = 0; i < l->nr_lost; i++)
		l->notice(l->context, NOTICE_LADDER, l->lost[i].text);
	return 0;
}

/*
 * On Intel's processors with PEBS of level 2 or more, `auto` is first a pair of precise events (that of the paper on tailored profiling):
 * instructions with the least bias, and loads with their addresses. Elsewhere, and if the first of the pair cannot be used, it is cycles,
 * which AMD's IBS samples precisely and with addresses of accesses. The last level is the clock.
 */
const char *event_auto_name(const struct event_pmu *pmu, int level, int i)
{
	static const char *const names[][2] = {
		{ "INST_RETIRED:PREC_DIST:ppp", "MEM_INST_RETIRED:ALL_LOADS:pp" }, { "cycles", NULL }, { "task-clock", NULL },
	};

	if (pmu->vendor != EVENT_VENDOR_INTEL || pmu->max_precise < 2)
		level++;
	return level < (int)(sizeof(names) / sizeof(names[0])) && i < 2 ? names[level][i] : NULL;
}

static const char *text_of_choice_error(const struct event_pmu *pmu, int error)
{
	return error == -ENXIO ? "counter opens but does not count" : text_of_open_error(pmu, -error);
}

static int choose_auto_events(struct selection *l, struct events *out)
{
	int before = out->nr, ret = -ENOENT;
	const char *name;
	char text[512];

	for (int level = 0; out->nr == before && event_auto_name(&l->pmu, level, 0); level++)
		for (int i = 0; (name = event_auto_name(&l->pmu, level, i)) != NULL && out->nr < EVENTS_MAX; i++) {
			const char *next = event_auto_name(&l->pmu, level + 1, 0);
			struct event_list one;

			ret = event_parse_list(name, &one, l->d);
			if (ret == 0 && one.spec[0].precise > (int)l->pmu.max_precise)
				one.spec[0].precise = (int)l->pmu.max_precise;
			if (ret == 0)
				ret = choose_event(l, &one.spec[0], true, &out->event[out->nr]);
			if (ret == 0) {
				out->nr++;
				continue;
			}
			if (i == 0 && next)
				snprintf(text, sizeof(text), "%s unavailable (%s); using %s", name, text_of_choice_error(&l->pmu, ret),
					 next);
			else
				snprintf(text, sizeof(text), "%s unavailable (%s)", name, text_of_choice_error(&l->pmu, ret));
			if (i > 0 || next)
				l->notice(l->context, i == 0 ? NOTICE_FALLBACK : NOTICE_LADDER, text);
			if (i == 0)
				break;
		}
	if (out->nr == before)
		return ret;
	if (l->d)
		*l->d->text = 0; /* an event was found, and notices have reported those that could not be used */
	return 0;
}

/* Chooses perf's own clock, with which PEBS samples come in batches, if all events can do so.  Their records go into one ring, and the
 * kernel does not let events with different clocks share one. */
static void use_pebs_batches(const struct event_pmu *pmu, struct events *events)
{
	bool all = pmu->perf_clock;

	for (int i = 0; i < events->nr; i++)
		all &= event_fits_batches(&events->event[i].attr, pmu);
	for (int i = 0; i < events->nr && all; i++)
		events->event[i].attr.use_clockid = events->event[i].attr.clockid = 0;
}

bool events_are_batched(const struct events *events)
{
	return !events->event[0].attr.use_clockid;
}

int events_choose_on_pmu(const struct event_pmu *pmu, const struct event_options *o, struct events *out, event_notice_fn notice,
			 void *context, struct diag *d)
{
	struct selection l = { .options = o, .pmu = *pmu, .notice = notice, .context = context, .d = d };
	struct events events = { 0 };
	struct event_list list;
	int ret = event_parse_list(o->name, &list, d);

	for (int i = 0; ret == 0 && i < list.nr; i++) {
		const struct event_spec *s = &list.spec[i];

		if (events.nr == EVENTS_MAX)
			return diag_fail(d, EINVAL, "more than %d events; record the others in a second run", EVENTS_MAX);
		if (strcmp(s->name, "auto") == 0) {
			ret = choose_auto_events(&l, &events);
		} else {
			ret = choose_event(&l, s, false, &events.event[events.nr]);
			events.nr += ret == 0;
		}
	}
	use_pebs_batches(pmu, &events);
	if (ret == 0)
		*out = events;
	return ret;
}

int events_choose(const struct event_options *o, struct events *out, event_notice_fn notice, void *context, struct diag *d)
{
	struct event_pmu pmu;

	event_pmu_read(&pmu);
	return events_choose_on_pmu(&pmu, o, out, notice, context, d);
}
