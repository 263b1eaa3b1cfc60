/* SPDX-License-Identifier: MIT */
/*
 * This file makes the complete perf_event_attr of a name, a rate and a precise level. The parts of a sample depend on the event. Loads with
 * PEBS (or IBS) have a data address, where the data came from and how long that took, and page faults have an address.
 */
#include "agent/recorder/perf/event_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * Returns a clock's period for a requested one. It must not divide the timer tick, or every sample would come right after the tick's own
 * work. A period that is shorter by 1/1024 moves the samples through the whole of a 1 ms tick.
 */
#define CLOCK_PERIOD(ns) (((ns) - (ns) / 1024) | 1)
#define IBS_STEP 16
#define IBS_LEAST 144 /* least period; AMD's manual says that shorter ones are not reliable */

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4) /* Linux 6.0 */
#endif
#define REGISTER_AX 1u

/* These are parts of a sample, and registers, that a PEBS record has without the kernel's help (arch/x86/events/perf_event.h:
 * LARGE_PEBS_FLAGS, PEBS_GP_REGS). */
#define BATCHED                                                                                                               \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |         \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |    \
	 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_INTR)
#define BATCHED_REGISTERS 0xff03ffull /* all general registers, ip and flags, but no segment registers */

/*
 * Does a precise sample of the event describe a memory access?  Intel: MEM_TRANS_RETIRED (cd), MEM_INST_RETIRED (d0) and MEM_LOAD_*_RETIRED
 * (d1 to d4), the same codes since Haswell.  AMD: an IBS sample of any instruction that accesses memory does.
 */
static bool has_data_address(const struct perf_event_attr *a, const struct event_pmu *pmu)
{
	uint64_t select = a->config & 0xff;

	if (!a->precise_ip)
		return false;
	if (pmu->vendor == EVENT_VENDOR_AMD)
		return true;
	return pmu->vendor == EVENT_VENDOR_INTEL && a->type != PERF_TYPE_HARDWARE &&
	       (select == 0xcd || (select >= 0xd0 && select <= 0xd4));
}

bool event_fits_batches(const struct perf_event_attr *a, const struct event_pmu *pmu)
{
	if (pmu->vendor != EVENT_VENDOR_INTEL || !event_is_hardware(a) || !a->precise_ip || a->freq || a->sample_type & ~(uint64_t)BATCHED)
		return false;
	/* PEBS has the registers of the sampled code, which are the user's only if the kernel is not sampled */
	return !a->sample_regs_user || (a->exclude_kernel && !(a->sample_regs_user & ~BATCHED_REGISTERS));
}

static void choose_sample_content(struct perf_event_attr *a, const struct event_options *o, const struct event_pmu *pmu)
{
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (o->registers != EVENT_REGISTERS_NONE) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = o->registers ? o->registers : EVENT_REGISTERS_DEFAULT;
	}
	if (has_data_address(a, pmu))
		a->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
	if (event_is_fault(a))
		a->sample_type |= PERF_SAMPLE_ADDR;
	/*
	 * Before Linux 6.15 (and some stable ones) adaptive PEBS took user registers from the interrupt, not from the sampled
	 * instruction, unless registers of the interrupted code were asked for as well.  One of these is enough to have all user
	 * registers right.
	 */
	if (a->precise_ip && a->sample_regs_user && pmu->vendor == EVENT_VENDOR_INTEL) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = REGISTER_AX;
	}
	if (o->stack_bytes) {
		a->sample_type |= PERF_SAMPLE_STACK_USER;
		a->sample_stack_user = o->stack_bytes;
	}
	/* samples in the kernel get the kernel's call chain, which the kernel finds by its own unwinder */
	if (o->frame_pointers || !a->exclude_kernel) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->exclude_callchain_user = !o->frame_pointers;
		a->exclude_callchain_kernel = a->exclude_kernel;
	}
}

uint64_t event_allowed_period(const struct perf_event_attr *a, const struct event_pmu *pmu, uint64_t period)
{
	if (pmu->vendor != EVENT_VENDOR_AMD || !a->precise_ip)
		return period;
	return period < IBS_LEAST ? IBS_LEAST : period & ~(uint64_t)(IBS_STEP - 1);
}

/* Returns the default period of the kernel's own events other than clocks, or 0 for all other events.  --rate is not used for these, since
 * the kernel would adapt the period to it in each process anew, and a process with a hundred faults would have one sample or none. */
static uint64_t own_period(const struct perf_event_attr *a)
{
	return event_is_rare(a) ? 1 : event_is_fault(a) ? FAULTS_PERIOD : 0;
}

static int choose_sample_period(struct perf_event_attr *a, const struct event_spec *s, const struct event_options *o,
				const struct event_pmu *pmu, struct diag *d)
{
	/* options.period is not used for rare events, each of which is sampled, unless its item has a period or a rate */
	uint64_t period = s->period || s->rate || event_is_rare(a) ? s->period : o->period;
	uint64_t rate = s->rate ? s->rate : o->rate;

	if (!period && !s->rate)
		period = own_period(a);
	if (event_is_clock(a) && period && period < EVENT_CLOCK_PERIOD_LEAST)
		return diag_fail(d, EINVAL, "'%s': a period of %llu ns is too short; the kernel's timers need at least %d ns", s->text,
				 (unsigned long long)period, EVENT_CLOCK_PERIOD_LEAST);
	if (period) {
		a->sample_period = event_allowed_period(a, pmu, period);
	} else if (rate == 0) {
		return diag_fail(d, EINVAL, "'%s' has neither a period nor a rate", s->text);
	} else if (event_is_clock(a)) {
		uint64_t ns = 1000000000 / rate;

		a->sample_period = CLOCK_PERIOD(ns > EVENT_CLOCK_PERIOD_LEAST ? ns : EVENT_CLOCK_PERIOD_LEAST);
	} else {
		a->freq = 1;
		a->sample_freq = rate;
	}
	return 0;
}

int event_make_attr(const struct event_spec *s, const struct event_options *o, const struct event_pmu *pmu, unsigned precise,
		    struct event *out, struct diag *d)
{
	struct event e = { .name = "" };
	struct perf_event_attr *a = &e.attr;
	int ret = event_find(s, pmu, a, d);

	if (ret)
		return ret;
	if (precise && !event_is_hardware(a))
		return diag_fail(d, EINVAL, "'%s': precise sampling is not supported for software events; omit 'p'", s->text);
	a->size = sizeof(*a);
	a->precise_ip = precise & 3;
	a->exclude_user |= s->exclude_user;
	a->exclude_kernel |= s->exclude_kernel;
	/* no x86 processor can exclude a hypervisor's events, so exclude_hv has no effect, but IBS refuses it before Linux 6.15 */
	a->exclude_hv = s->exclude_hv && !(pmu->vendor == EVENT_VENDOR_AMD && precise);
	ret = choose_sample_period(a, s, o, pmu, d);
	if (ret)
		return ret;
	choose_sample_content(a, o, pmu);
	/* with PERF_SAMPLE_PERIOD, the kernel ignores the period of such an event and samples each one (perf_swevent_event()) */
	if (own_period(a) && a->sample_period > 1 && !a->freq)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	a->read_format = PERF_FORMAT_LOST;
	a->disabled = 1;
	a->sample_id_all = 1;
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->ksymbol = !a->exclude_kernel; /* eBPF programs, which may be gone at the end of the recording */
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	snprintf(e.name, sizeof(e.name), "%s%s", s->name, s->exclude_kernel && !s->exclude_user ? ":u" :
		 s->exclude_user && !s->exclude_kernel ? ":k" : "");
	e.unit = event_unit(a, s->name);
	e.rate = a->freq ? a->sample_freq : !event_is_clock(a) || s->period || o->period ? 0 : s->rate ? s->rate : o->rate;
	*out = e;
	return 0;
}
