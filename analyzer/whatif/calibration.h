/* SPDX-License-Identifier: MIT */
/*
 * Reads the calibration of a machine. It is text with a value a line: PROCESSORS FACTOR (how much longer work takes when so many processors
 * work, the fewest first; between two lines the factor is taken to grow evenly), "spread" and "octave" with the standard errors of
 * interval.h, and "copied" with the cost of a page that is copied when it is written. Context: thread.
 */
#ifndef TAILOR_CALIBRATION_H
#define TAILOR_CALIBRATION_H

#include "analyzer/whatif/simulate.h"
#include "jitreg/base/diag.h"

struct calibration {
	double slowdown[SIMULATE_SLOWDOWNS]; /* factor for each number of working processors; [0] is 0: not known */
	double spread, octave; /* 0: not known */
	/*
	 * How much longer a copy takes where other processors run the process, and how much time each of those loses, both as multiples of
	 * the time that the copy takes where none does. 0: not known.
	 */
	double copied, copied_others;
};

/* Reads a calibration. path: NULL: nothing is known. Returns 0, or -errno with a sentence. */
int calibration_read(const char *path, struct calibration *c, struct diag *d);

#endif
