/* SPDX-License-Identifier: MIT */
/*
 * Events that are sampled: the syntax (event_spec.c), the meaning of names (event_name.c, which uses libpfm4), the complete
 * perf_event_attr for one precise level (event_attr.c), and the choice among them with its fallbacks (event.c).
 *
 *	-e ITEM[,ITEM]...
 *	ITEM  auto | NAME[:MODIFIER]...[@PERIOD]
 *
 * NAME is libpfm4's (with unit masks: MEM_LOAD_RETIRED:L3_MISS, skx::INST_RETIRED:PREC_DIST), the kernel's (cycles, task-clock,
 * page-faults, context-switches), a raw code (r01c2), or a PMU of the kernel with its fields (cpu/event=0xc2,umask=1/).
 * MODIFIER: letters of u k h (count there only) and p pp ppp (exactly this precise level); P: the highest level, which is also
 * the default; precise=N; period=N or freq=N; anything else is libpfm4's.
 *
 * Context: thread.
 */
#ifndef TAILOR_EVENT_H
#define TAILOR_EVENT_H

#include "jitreg/base/diag.h"
#include "jitreg/trace/trace.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 8 /* maximum, as in the agent's protocol (WIRE_EVENTS_MAX) */

struct event_options {
	const char *name; /* a list, see above */
	uint64_t rate;	  /* samples per second and CPU; 0: use period */
	uint64_t period;  /* fixed period in the event's unit; 0: use rate */
	uint32_t stack_bytes; /* 0, a multiple of 8 up to 65528, or EVENT_STACK_AUTO, which is replaced before events are chosen */
	uint64_t registers;   /* perf's mask; 0: EVENT_REGISTERS_DEFAULT */
	bool frame_pointers;  /* record the return addresses that the kernel finds by frame pointers */
};

/* bx bp sp ip r12-r15: where tags live, and what unwinding starts from */
#define EVENT_REGISTERS_DEFAULT 0xf001c2ull
#define EVENT_REGISTERS_ADDRESSES 0xff00ffull /* registers that addresses of operands are computed from */
#define EVENT_REGISTERS_NONE (1ull << 63) /* no register has this number */

#define EVENT_STACK_AUTO UINT32_MAX
#define EVENT_RATE_DEFAULT 4000 /* samples per second and CPU: perf record's */
#define EVENT_PRECISE_BEST (-1)

/* One item of a list, as it was written. */
struct event_spec {
	char text[160]; /* the whole item */
	char name[128]; /* name without modifiers and period */
	uint64_t period, rate; /* own period or rate; both 0: as the options say */
	int precise; /* 0 to 3: demanded; EVENT_PRECISE_BEST */
	bool exclude_user, exclude_kernel, exclude_hv;
};

struct event_list {
	int nr;
	struct event_spec spec[EVENTS_MAX];
};

enum event_vendor { EVENT_VENDOR_OTHER, EVENT_VENDOR_INTEL, EVENT_VENDOR_AMD, EVENT_VENDOR_ARM };

/* Facts about a machine on which the choice of events depends. */
struct event_pmu {
	enum event_vendor vendor;
	uint32_t family, model; /* x86: cpuid's; Arm: implementer and part number */
	bool counters;		/* there are hardware counters */
	unsigned max_precise;	/* the highest precise_ip */
	bool ibs;		/* AMD: precise cycles are sampled by IBS */
	bool hybrid;		/* Intel: cores of two kinds, each with a PMU of its own */
	bool perf_clock;	/* perf_clock_read() knows how perf's own clock comes from the processor's counter */
};

struct event {
	char name[136]; /* libpfm4's or tailor's name; :u or :k where only that is counted */
	char unit[16];	/* unit of a weight */
	uint64_t rate;	/* samples per second that were asked for; 0: a period was */
	struct perf_event_attr attr; /* sampling, not inherited, disabled */
};

struct events {
	int nr;
	struct event event[EVENTS_MAX];
};

/* For each event or part of a sample that is unavailable: FALLBACK or LADDER. */
typedef void (*event_notice_fn)(void *context, enum notice_kind kind, const char *sentence);

/* Split and check a list; names are looked up later.  0, or -EINVAL with a sentence. */
int event_parse_list(const char *text, struct event_list *out, struct diag *d);

/* Explains why the kernel refused perf events with EACCES or EPERM (a filter may say ENOSYS), by settings, privileges and filters that can
 * be read.  Valid until the next call. */
const char *event_why_not_permitted(void);

/*
 * Chooses for each item of o->name the best event that this machine allows and that counts.  `auto` may become two.  Returns 0, -EINVAL
 * with a sentence for an event that exists nowhere, or another -errno with a sentence for one that is unavailable here.
 */
int events_choose(const struct event_options *o, struct events *out, event_notice_fn notice, void *context, struct diag *d);
/* events_choose() on a machine with these facts. */
int events_choose_on_pmu(const struct event_pmu *pmu, const struct event_options *o, struct events *out, event_notice_fn notice,
			 void *context, struct diag *d);

/* Returns event i of a level that `auto` tries, best level first, as an item of a list.  NULL: no more. */
const char *event_auto_name(const struct event_pmu *pmu, int level, int i);

/* Reads the facts of this machine. */
void event_pmu_read(struct event_pmu *out);
/* Opens a tracepoint's file ("id", "format") in tracefs, wherever that is mounted.  Closed by the caller.  NULL: tracefs is not mounted, or
 * may be read by root alone. */
FILE *event_open_tracepoint_file(const char *tracepoint, const char *file);
#define EVENT_WAKING "sched/sched_waking" /* a thread is woken */
/*
 * The complete attr of one event at one precise level (precise: its precise_ip).  Nothing is opened, and only names and fields in sysfs are
 * read from this machine.  A rate of a hardware event stays a rate (attr.freq).  0, or -EINVAL with a sentence.
 */
int event_make_attr(const struct event_spec *spec, const struct event_options *o, const struct event_pmu *pmu, unsigned precise,
		    struct event *out, struct diag *d);

/* Encodes a name: type, config and privilege bits of *attr.  0, or -EINVAL with a sentence. */
int event_encode(const char *name, struct perf_event_attr *attr, struct diag *d);

/* Is this an event of the PMU?  The number of counters is limited, so such events may be multiplexed. */
static inline bool event_is_hardware(const struct perf_event_attr *a)
{
	return a->type != PERF_TYPE_SOFTWARE && a->type != PERF_TYPE_TRACEPOINT && a->type != PERF_TYPE_BREAKPOINT;
}

/* Is this one of the kernel's clocks of tasks and processors? */
static inline bool event_is_clock(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_TASK_CLOCK || a->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Is this the event of context switches?  Its samples say where a thread leaves the processor. */
static inline bool event_is_switches(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/*
 * Do Intel's processors collect samples of this event themselves, many before they interrupt the kernel (large PEBS), if it has perf's own
 * clock?  use_clockid is not looked at.
 */
bool event_fits_batches(const struct perf_event_attr *attr, const struct event_pmu *pmu);
/* Do records of these events have perf's own clock, so that samples come in batches?  All events of a ring have one clock. */
bool events_are_batched(const struct events *events);

/* perf_event_open(2). */
static inline int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

#endif
