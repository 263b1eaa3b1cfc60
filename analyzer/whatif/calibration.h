/* SPDX-License-Identifier: MIT */
/*
 * What was measured of a machine, as text, a line each: PROCESSORS FACTOR (how much longer work takes when so many work, the fewest first;
 * what lies between is taken to grow evenly), "spread" and "octave" with the standard errors of interval.h.  Context: thread.
 */
#ifndef TAILOR_CALIBRATION_H
#define TAILOR_CALIBRATION_H

#include "analyzer/whatif/simulate.h"
#include "jitreg/base/diag.h"

struct calibration {
	double slowdown[SIMULATE_SLOWDOWNS]; /* by processors that work; [0] 0: not known */
	double spread, octave; /* 0: not known */
};

/* path: NULL: nothing is known.  0, or -errno with a sentence. */
int calibration_read(const char *path, struct calibration *c, struct diag *d);

#endif
