/* SPDX-License-Identifier: MIT */
/* This header declares what event*.c share. Context: thread. */
#ifndef TAILOR_EVENT_INTERNAL_H
#define TAILOR_EVENT_INTERNAL_H

#include "agent/recorder/perf/event.h"

/* Clears *attr, and sets its type, config, config1 and config2 (and exclude_user and exclude_kernel, if the name has libpfm4's modifiers
 * for these).  Returns 0, or -EINVAL with a sentence.  Defined in event_name.c, as is event_unit(). */
int event_find(const struct event_spec *spec, const struct event_pmu *pmu, struct perf_event_attr *attr, struct diag *d);
/* Returns the unit of the event's weights: ns, cycles, instructions or events. */
enum weight_unit event_unit(const struct perf_event_attr *attr, const char *name);

/* Is this an event of the kernel that is so rare that each occurrence is sampled, such as a context switch, a migration or a major page
 * fault?  Clocks, minor page faults and page faults of all kinds are not rare. */
static inline bool event_is_rare(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && !event_is_clock(a) && a->config != PERF_COUNT_SW_PAGE_FAULTS &&
	       a->config != PERF_COUNT_SW_PAGE_FAULTS_MIN;
}

/* This is the default period of page faults.  With it, 100,000 faults a second are not too many samples, and the hundreds of faults of a
 * short process are enough samples. */
#define FAULTS_PERIOD 10u

static inline bool event_is_fault(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
	       (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* event_attr.c */
/* Returns the largest possible period up to this one, or the least possible one (AMD's IBS counts in steps of 16). */
uint64_t event_allowed_period(const struct perf_event_attr *attr, const struct event_pmu *pmu, uint64_t period);

#define EVENT_CLOCK_PERIOD_LEAST 10000 /* ns; the kernel does not set the timers of its clock events shorter */
#define EVENT_CLOCK_RATE_MOST (1000000000 / EVENT_CLOCK_PERIOD_LEAST)

/* Sets type and config of *attr, if the name is in the table of events that libpfm4 4.13 does not know or encodes differently. Returns
 * false if it is not, and leaves *attr. Defined in event_table.c. */
bool event_table_find(const char *name, const struct event_pmu *pmu, struct perf_event_attr *attr);
/* Returns name i of that table for this processor, or NULL if there are no more. */
const char *event_table_name(const struct event_pmu *pmu, size_t i);

/* Writes those names which look like `name` to text, as "; similar names: A, B, C", or "".  names() passes all names to each().  Defined in
 * event_suggest.c. */
typedef void (*event_names_fn)(const struct event_pmu *pmu, void (*each)(void *context, const char *name), void *context);
void event_suggest(const char *name, const struct event_pmu *pmu, event_names_fn names, char *text, size_t bytes);

#endif
