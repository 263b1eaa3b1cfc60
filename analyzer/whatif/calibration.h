/* SPDX-License-Identifier: MIT */
/*
 * What was measured of a machine, as text, a line each: PROCESSORS FACTOR (how much longer work takes when so many work, the fewest first;
 * what lies between is taken to grow evenly), "spread" and "octave" with the standard errors of interval.h, and "copied" with what a page
 * costs that is copied when it is written.  Context: thread.
 */
#ifndef TAILOR_CALIBRATION_H
#define TAILOR_CALIBRATION_H

#include "analyzer/whatif/simulate.h"
#include "jitreg/base/diag.h"

struct calibration {
	double slowdown[SIMULATE_SLOWDOWNS]; /* by processors that work; [0] 0: not known */
	double spread, octave; /* 0: not known */
	/* How much longer it takes where other processors run the process, and what each of those loses: in the time that it takes where
	 * none does.  0: not known. */
	double copied, copied_others;
};

/* path: NULL: nothing is known.  0, or -errno with a sentence. */
int calibration_read(const char *path, struct calibration *c, struct diag *d);

#endif
