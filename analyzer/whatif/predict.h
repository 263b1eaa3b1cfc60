/* SPDX-License-Identifier: MIT */
/*
 * Predictions: the completion time of a recorded execution under changes, with a 95 % interval and what bounds it then.
 *
 * T = T_measured * T_simulated(changed) / T_simulated(now), so that what the model gets wrong in both cancels out.  interval.h has the
 * interval.  Context: thread.
 */
#ifndef TAILOR_PREDICT_H
#define TAILOR_PREDICT_H

#include "analyzer/whatif/calibration.h"
#include "analyzer/whatif/graph.h"

#define PREDICT_WARN 0.05   /* of the replay's error */
#define PREDICT_REFUSE 0.15

enum change_kind {
	CHANGE_CORES, CHANGE_QUOTA, CHANGE_CLOCK, CHANGE_DISK, CHANGE_NETWORK, CHANGE_SLEEP, CHANGE_LOCK, CHANGE_COMPONENT, CHANGE_SKEW,
	CHANGE_THREADS,
};

struct change {
	enum change_kind kind;
	double value; /* cores: processors; quota: processors' worth of time, 0: none; clock, disk, network, sleep: times as fast;
		       * component: part of its time that goes (negative: that comes); threads: so many at work at once */
	int level;    /* of a component or skew: index of the time line's levels; -1: a function; skew: -2: whole threads */
	uint32_t of;  /* component, function or lock; skew of threads: their creator; threads: how many have the name */
	char name[32]; /* of threads, with * and ? */
	char key[160]; /* how an option would say it */
};

#define PATH_RESOURCES NR_RESOURCES
/* What the time up to completion consists of: the critical path. */
struct path {
	double resource[PATH_RESOURCES];
	uint32_t lock; /* the function whose lock has the most of it; 0: not known */
	double unknown_ns;
};

struct prediction {
	double completion_ns, low_ns, high_ns;
	struct path path;
	enum resource bound; /* the largest on the path */
	double queued_ns; /* of all threads, for a processor */
};

struct predictor {
	const struct step_graph *g;
	struct machine now;
	double measured_ns, simulated_ns, replay_error; /* of what was measured */
	double *factor;
	bool *pooled; /* by thread: of the threads that a change limits */
	double *begin, *end;
	uint32_t *released_by;
	double *base; /* factors without a change: 1, or what divides the work of a queue evenly; 0: what is no part of the work */
	uint32_t nr_ticks; /* waits that are none */
	uint32_t nr_queues, nr_runs; /* runs: recorded ones, of which this is the median */
	double spread, octave; /* standard errors of a logarithm: of one run, of the model for a factor of 2 */
	double slowdown[SIMULATE_SLOWDOWNS]; /* [0] 0: not calibrated */
	double copied, copied_others; /* as in calibration.h */
	struct path path; /* of the recorded machine */
};

/* 0 or -errno with a sentence; predictor_fini() in any case. */
int predictor_init(struct predictor *p, const struct step_graph *g, const struct calibration *calibration, struct diag *d);
void predictor_fini(struct predictor *p);
/* 0 or -errno.  Under all of nr changes. */
int predict(struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out);
/* The path of what predict() did last; of_tick, where it is not NULL: by sample, the part of its weight that is on the path. */
void predict_path(const struct predictor *p, struct path *out, double *of_step);
/* By step, how much later it could end without delaying the completion, of what predict() did last.  0 or -ENOMEM. */
int predict_slack(const struct predictor *p, double *slack);
/* All that an option could ask for by default, in no order; malloc()ed.  NULL without memory. */
struct change *predict_candidates(const struct predictor *p, uint32_t *nr);
/* How many threads have such a name (with * and ?). */
uint32_t predict_count_threads(const struct step_graph *g, const char *name);
const char *predict_component_name(const struct step_graph *g, int level, uint32_t of, char spare[32]);

#endif
