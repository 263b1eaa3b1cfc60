/* SPDX-License-Identifier: MIT */
/*
 * This file lists the units of samples' weights. Traces, stores, profiles and the page carry a unit as its text, which is parsed where it
 * is read, so that nothing decides by the text. Context: any.
 */
#ifndef TAILOR_WEIGHT_UNIT_H
#define TAILOR_WEIGHT_UNIT_H

#include <string.h>

/* The last three are made of events of the scheduler when a trace is read, and no trace has them. */
#define WEIGHT_UNITS(X) \
	X(NS, "ns") \
	X(CYCLES, "cycles") \
	X(EVENTS, "events") \
	X(INSTRUCTIONS, "instructions") \
	X(SWITCHES, "switches") \
	X(TIMES, "times") \
	X(NS_WAITING, "ns waiting") \
	X(NS_PREEMPTED, "ns preempted") \
	X(NS_IN_RUN_QUEUE, "ns in the run queue")

#define WEIGHT_UNIT_(NAME, text) WEIGHT_##NAME,
/* NR_WEIGHT_UNITS: none, or one of a later version */
enum weight_unit { WEIGHT_UNITS(WEIGHT_UNIT_) NR_WEIGHT_UNITS };
#undef WEIGHT_UNIT_

/* texts; that of NR_WEIGHT_UNITS is "" */
#define WEIGHT_TEXT_(NAME, text) text,
static const char *const weight_units[NR_WEIGHT_UNITS + 1] = { WEIGHT_UNITS(WEIGHT_TEXT_) "" };
#undef WEIGHT_TEXT_

/* Returns the unit with a text, or NR_WEIGHT_UNITS.  text may be NULL. */
static inline enum weight_unit weight_unit_parse(const char *text)
{
	for (int i = 0; text && i < NR_WEIGHT_UNITS; i++)
		if (strcmp(weight_units[i], text) == 0)
			return (enum weight_unit)i;
	return NR_WEIGHT_UNITS;
}

#endif
