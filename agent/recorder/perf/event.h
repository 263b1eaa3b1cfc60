/* SPDX-License-Identifier: MIT */
/*
 * This module chooses the events that are sampled. event_spec.c parses their syntax, event_name.c finds the encoding of a name (by libpfm4,
 * among others), event_attr.c makes the complete perf_event_attr for one precise level, and event.c tries which ones this machine opens.
 *
 * 	-e ITEM[,ITEM]...
 * 	ITEM  auto | NAME[:MODIFIER]...[@PERIOD]
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
#include "jitreg/base/weight_unit.h"
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
	uint64_t rate;	  /* samples per second and CPU, unless period is set; 0: none */
	uint64_t period;  /* fixed period in the event's unit; 0: use rate */
	uint32_t stack_bytes; /* 0, a multiple of 8 up to 65528, or EVENT_STACK_AUTO, which is replaced before events are chosen */
	uint64_t registers;   /* perf's mask; 0: EVENT_REGISTERS_DEFAULT */
	bool frame_pointers;  /* record the return addresses that the kernel finds by frame pointers */
};

/* bx, bp, sp, ip and r12 to r15, which may hold tags, and from which unwinding starts */
#define EVENT_REGISTERS_DEFAULT 0xf001c2ull
#define EVENT_REGISTERS_ADDRESSES 0xff00ffull /* registers that addresses of operands are computed from */
#define EVENT_REGISTERS_NONE (1ull << 63) /* no registers are recorded; the bit is not a register's */

#define EVENT_STACK_AUTO UINT32_MAX
#define EVENT_RATE_DEFAULT 4000 /* samples per second and CPU, as `perf record` has it */
#define EVENT_PRECISE_BEST (-1)

/* This struct has one item of a list, as it was written. */
struct event_spec {
	char text[160]; /* the whole item */
	char name[128]; /* name without modifiers and period */
	uint64_t period, rate; /* own period or rate; both 0: those of the options, or of a rare event or fault its own */
	int precise; /* 0 to 3: exactly this level; EVENT_PRECISE_BEST: the highest that this machine opens */
	bool exclude_user, exclude_kernel, exclude_hv;
};

struct event_list {
	int nr;
	struct event_spec spec[EVENTS_MAX];
};

enum event_vendor { EVENT_VENDOR_OTHER, EVENT_VENDOR_INTEL, EVENT_VENDOR_AMD, EVENT_VENDOR_ARM };

/* This struct has the facts about a machine on which the choice of events depends. */
struct event_pmu {
	enum event_vendor vendor;
	uint32_t family, model; /* x86: cpuid's; Arm: implementer and part number */
	bool counters;		/* there are hardware counters, which is assumed if sysfs cannot be read */
	unsigned max_precise;	/* the highest precise_ip */
	bool ibs;		/* AMD: precise cycles are sampled by IBS */
	bool hybrid;		/* Intel: cores of two kinds, each with a PMU of its own */
	bool perf_clock;	/* Intel with PEBS: perf_clock_read() finds how perf's own clock is computed; else false */
};

struct event {
	char name[136]; /* name as it was written, without tailor's modifiers, but with :u or :k if its item counts only that */
	enum weight_unit unit; /* unit of a sample's weight */
	uint64_t rate;	/* samples per second at present; 0: not known, as the period was requested or is a default, or timers sample */
	struct perf_event_attr attr; /* sampling, not inherited, disabled */
};

struct events {
	int nr;
	struct event event[EVENTS_MAX];
};

/* Called with a sentence for each event, rate or part of a sample that is unavailable, restricted or chosen otherwise than requested. kind:
 * NOTICE_FALLBACK or NOTICE_LADDER. */
typedef void (*event_notice_fn)(void *context, enum notice_kind kind, const char *sentence);

/* Splits a list and parses its items.  Names are not looked up.  Returns 0, or -EINVAL with a sentence, and then *out is not set. */
int event_parse_list(const char *text, struct event_list *out, struct diag *d);

/* Returns why the kernel has probably refused perf events with EACCES or EPERM, by settings, privileges and filters that can be read.  The
 * text is valid until the next call. */
const char *event_why_not_permitted(void);

/*
 * Chooses for each item of o->name the event at the best level that this machine opens.  `auto` may become two events.  Events other than a
 * clock must also count when they are tested.  Returns 0, -EINVAL with a sentence for a wrong list or an unknown event, or another -errno
 * with a sentence for an event that is unavailable here.  After an error *out is not set.
 */
int events_choose(const struct event_options *o, struct events *out, event_notice_fn notice, void *context, struct diag *d);
/* Does the same as events_choose() with the given facts instead of this machine's.  Events are still opened on this machine. */
int events_choose_on_pmu(const struct event_pmu *pmu, const struct event_options *o, struct events *out, event_notice_fn notice,
			 void *context, struct diag *d);

/* Returns event i of those that `auto` tries at a level, as an item of a list, or NULL if there are no more.  Level 0 is the best one on
 * this PMU. */
const char *event_auto_name(const struct event_pmu *pmu, int level, int i);

/* Reads the facts of this machine. */
void event_pmu_read(struct event_pmu *out);
/* Opens a tracepoint's file ("id", "format") in tracefs, at one of the two places where that is usually mounted.  The caller closes it.
 * Returns NULL if it is not there, or may not be read by this user. */
FILE *event_open_tracepoint_file(const char *tracepoint, const char *file);
#define EVENT_WAKING "sched/sched_waking" /* tracepoint at which a thread is woken */
/*
 * Makes the complete attr of one event at one precise level (precise: its precise_ip). No event is opened. From this machine, names and
 * fields in sysfs are read and, by libpfm4, the model of its processor. A rate stays a rate (attr.freq), except that of a clock, which
 * becomes a period. Returns 0, or -EINVAL with a sentence.
 */
int event_make_attr(const struct event_spec *spec, const struct event_options *o, const struct event_pmu *pmu, unsigned precise,
		    struct event *out, struct diag *d);

/* Clears *attr, and sets its type, its config fields, exclude_user, exclude_kernel and the precise level to those of a list of one item.
 * The level is 0 unless the item has one. Returns 0, or -EINVAL with a sentence. */
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

/* Is this the event of context switches?  It is sampled where a thread leaves the processor. */
static inline bool event_is_switches(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/*
 * Would an Intel processor collect many samples of this event before it interrupts the kernel (large PEBS), if attr used perf's own clock?
 * attr.use_clockid is not looked at.
 */
bool event_fits_batches(const struct perf_event_attr *attr, const struct event_pmu *pmu);
/* Was perf's own clock chosen for these events, so that the processor collects samples in batches?  All of them have the same clock. */
bool events_are_batched(const struct events *events);

/* Calls perf_event_open(2), without a group and with close-on-exec. */
static inline int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
}

#endif
