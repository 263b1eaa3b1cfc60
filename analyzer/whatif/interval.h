/* SPDX-License-Identifier: MIT */
/*
 * The 95 % interval of a prediction: INTERVAL_SIGMAS standard errors of the completion time's logarithm, which are, as independent ones:
 *
 *  - runs: how much one run differs from the next, of the recorded one (or their median, where several were recorded) and of the one
 *    that is predicted;
 *  - the model: so much for an octave, a factor of 2, that the machine or the completion time changes, and as independent errors for
 *    several;
 *  - the replay: its own error, for an octave or more;
 *  - samples: the error of a part's share, counted from so many;
 *
 * and, towards one side, waits whose waker is not known, and time that may have waited for memory, which a faster clock leaves.  The first
 * two are measured by tests/whatif/calibrate.py, on programs that nothing is verified with: here, or on the user's machine.
 * Context: thread.
 */
#ifndef TAILOR_INTERVAL_H
#define TAILOR_INTERVAL_H

#include "analyzer/whatif/predict.h"

#define INTERVAL_SIGMAS 1.96
#define INTERVAL_SPREAD 0.06 /* of runs, where the machine is not calibrated */
#define INTERVAL_OCTAVE 0.10 /* of the model, likewise */
#define INTERVAL_BELIEVED 4  /* so many runs' worth is the spread of the calibration, beside those that were recorded */
#define INTERVAL_MEMORY 0.30 /* of what a clock gains: the part that may wait for memory */

void interval_set(const struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out);
/* The spread and the number of runs, as these traces of the same show it; nr: at least 1. */
void interval_learn(struct predictor *p, const double *measured_ns, uint32_t nr);

#endif
