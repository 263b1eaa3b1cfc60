/* SPDX-License-Identifier: MIT */
/*
 * Computes the 95 % interval of a prediction, which reaches INTERVAL_SIGMAS standard errors of the completion time's logarithm to either
 * side. The errors are taken to be independent:
 *
 *  - runs: how much one run of a program differs from the next. It counts for the predicted run, and for the recorded one (less, if the
 *    latter is the median of several);
 *  - the model: so much for an octave, which is a factor of 2 by which the machine or the completion time changes. Several octaves count
 *    as independent errors;
 *  - the replay: its own error in full for an octave or more, and less in proportion for a smaller change;
 *  - samples: the error of a component's share of the samples, which depends on their number.
 *
 * Waits whose waker is not known, and time that may have waited for memory, which a faster clock does not shorten, widen one side of the
 * interval. The first two errors are measured by tests/whatif/calibrate.py on programs that are not used to verify predictions, on the
 * developers' machine or the user's.
 *
 * Context: thread.
 */
#ifndef TAILOR_INTERVAL_H
#define TAILOR_INTERVAL_H

#include "analyzer/whatif/predict.h"

#define INTERVAL_SIGMAS 1.96
#define INTERVAL_SPREAD 0.06 /* error of runs, if the machine is not calibrated */
#define INTERVAL_OCTAVE 0.10 /* error of the model for an octave, if the machine is not calibrated */
#define INTERVAL_BELIEVED 4  /* the calibration's spread has the weight of this number of recorded runs (interval_learn()) */
#define INTERVAL_MEMORY 0.30 /* part of a faster clock's gain that may be missing, because memory is not faster */

/*
 * Sets out->low_ns and out->high_ns from out->completion_ns and the nr changes that were predicted. If completion_ns is not above 0, they
 * are unchanged.
 */
void interval_set(const struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out);
/* Sets the spread and the number of runs from the completion times (ns) of nr traces of the same program. nr: at least 1. */
void interval_learn(struct predictor *p, const double *measured_ns, uint32_t nr);

#endif
