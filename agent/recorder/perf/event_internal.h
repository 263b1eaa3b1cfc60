/* SPDX-License-Identifier: MIT */
/* Declarations that event*.c share.  Context: thread. */
#ifndef TAILOR_EVENT_INTERNAL_H
#define TAILOR_EVENT_INTERNAL_H

#include "agent/recorder/perf/event.h"

/* event_name.c: type, config, config1 and config2 of *attr.  0, or -EINVAL with a sentence. */
int event_find(const struct event_spec *spec, const struct event_pmu *pmu, struct perf_event_attr *attr, struct diag *d);
/* Unit of the event's weights: "ns", "cycles", "events". */
const char *event_unit(const struct perf_event_attr *attr, const char *name);

/* Kinds of events, known once type and config are set: the kernel's own, each of which is worth a sample, and page faults. */
static inline bool event_is_rare(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && !event_is_clock(a) && a->config != PERF_COUNT_SW_PAGE_FAULTS &&
	       a->config != PERF_COUNT_SW_PAGE_FAULTS_MIN;
}

#define FAULTS_PERIOD 10u /* few enough samples of 100,000 page faults a second, and enough of the hundreds of a short process */

static inline bool event_is_fault(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* event_attr.c */
/* The nearest period that is possible (IBS counts in steps of 16). */
uint64_t event_allowed_period(const struct perf_event_attr *attr, const struct event_pmu *pmu, uint64_t period);

#define EVENT_CLOCK_PERIOD_LEAST 10000 /* ns: the kernel's timers are not set shorter */
#define EVENT_CLOCK_RATE_MOST (1000000000 / EVENT_CLOCK_PERIOD_LEAST)

/* event_table.c: names for processors that libpfm4 4.13 does not know.  *attr is untouched where it is not one of them. */
bool event_table_find(const char *name, const struct event_pmu *pmu, struct perf_event_attr *attr);
const char *event_table_name(const struct event_pmu *pmu, size_t i); /* until NULL */

/* event_suggest.c: up to three of these names that look like name, as "; similar names: A, B, C", or "". */
typedef void (*event_names_fn)(const struct event_pmu *pmu, void (*each)(void *context, const char *name), void *context);
void event_suggest(const char *name, const struct event_pmu *pmu, event_names_fn names, char *text, size_t bytes);

#endif
