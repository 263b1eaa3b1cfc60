/* SPDX-License-Identifier: MIT */
/* What event*.c share.  Context: thread. */
#ifndef TAILOR_EVENT_INTERNAL_H
#define TAILOR_EVENT_INTERNAL_H

#include "agent/recorder/perf/event.h"

/* event_name.c: type, config, config1 and config2 of *attr.  0, or -EINVAL with a sentence. */
int event_find(const struct event_spec *spec, const struct event_pmu *pmu, struct perf_event_attr *attr, struct diag *d);
/* What a weight of it counts: "ns", "cycles", "events". */
const char *event_unit(const struct perf_event_attr *attr, const char *name);

/* event_attr.c: kinds of events, once type and config are there. */
bool event_is_rare(const struct perf_event_attr *attr); /* the kernel's own, of which each one is worth a sample */
bool event_is_fault(const struct perf_event_attr *attr);
/* The nearest period that is possible (IBS counts in steps of 16). */
uint64_t event_period(const struct perf_event_attr *attr, const struct event_pmu *pmu, uint64_t period);

#define EVENT_CLOCK_PERIOD_LEAST 10000 /* ns: the kernel's timers are not set shorter */
#define EVENT_CLOCK_RATE_MOST (1000000000 / EVENT_CLOCK_PERIOD_LEAST)

/* What can be suggested: the kernel's names until NULL, libpfm4's for processors that are here until each() returns false. */
const char *event_kernel_name(size_t i);
size_t event_names(bool (*each)(void *context, const char *name), void *context);

/* event_table.c: names for processors that libpfm4 4.13 does not know.  *attr is untouched where it is not one of them. */
bool event_table_find(const char *name, const struct event_pmu *pmu, struct perf_event_attr *attr);
const char *event_table_name(const struct event_pmu *pmu, size_t i); /* until NULL */

/* event_suggest.c: up to three names that look like name, as "; similar names: A, B, C", or "". */
void event_suggest(const char *name, const struct event_pmu *pmu, char *text, size_t bytes);

#endif
