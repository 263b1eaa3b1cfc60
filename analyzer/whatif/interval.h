/* SPDX-License-Identifier: MIT */
/*
 * Computes the 95 % interval of a prediction: INTERVAL_SIGMAS standard errors of the completion time's logarithm. The errors are
 * independent:
 *
 *  - runs: how much one run differs from the next, of the recorded one (or the median of several recorded ones) and of the predicted one;
 *  - the model: so much for an octave, which is a factor of 2 by which the machine or the completion time changes, and as independent
 *    errors for several octaves;
 *  - the replay: its own error, for an octave or more;
 *  - samples: the error of a part's share, which so many samples give.
 *
 * Waits whose waker is not known, and time that may have waited for memory, which a faster clock does not shorten, widen one side of the
 * interval. The first two errors are measured by tests/whatif/calibrate.py on programs that are not used to verify predictions, on the
 * developers' machine or the user's.
 * Context: thread.
 */
#ifndef TAILOR_INTERVAL_H
#define TAILOR_INTERVAL_H

#include "analyzer/whatif/predict.h"

#define INTERVAL_SIGMAS 1.96
#define INTERVAL_SPREAD 0.06 /* error of runs, where the machine is not calibrated */
#define INTERVAL_OCTAVE 0.10 /* error of the model for an octave, where the machine is not calibrated */
#define INTERVAL_BELIEVED 4  /* number of recorded runs that the spread of the calibration counts as */
#define INTERVAL_MEMORY 0.30 /* part of a faster clock's gain that memory may take */

void interval_set(const struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out);
/* Sets the spread and the number of runs from several traces of the same program. nr: at least 1. */
void interval_learn(struct predictor *p, const double *measured_ns, uint32_t nr);

#endif
