/* SPDX-License-Identifier: MIT */
/*
 * Reads the calibration of a machine. It is text with an entry a line. A line PROCESSORS FACTOR says how much longer work takes when so
 * many processors work. The fewest processors come first. Between two such lines the factor is taken to grow evenly, and behind the last
 * one it stays the same. The lines "spread" and "octave" have the standard errors of interval.h. The line "copied" has two numbers, the
 * cost of a page that is copied when it is written (copied and copied_others below). Context: thread.
 */
#ifndef TAILOR_CALIBRATION_H
#define TAILOR_CALIBRATION_H

#include "analyzer/whatif/simulate.h"
#include "jitreg/base/diag.h"

struct calibration {
	double slowdown[SIMULATE_SLOWDOWNS]; /* factor for each number of working processors; [0] is 0: not known */
	double spread, octave; /* standard errors (interval.h); 0: not known */
	/*
	 * The cost of a copy of a page that is written (copy-on-write) while other processors run the same process: the time that is added
	 * to the copy, and the time that each of those processors loses. Both are multiples of the time of a copy while no other processor
	 * runs the process. 0: not known.
	 */
	double copied, copied_others;
};

/*
 * Reads the file at path into *c. If path is NULL, all of *c becomes 0 (not known). Returns 0, or -errno with a reason in d (-EINVAL: a
 * line is malformed, or the file is empty).
 */
int calibration_read(const char *path, struct calibration *c, struct diag *d);

#endif
