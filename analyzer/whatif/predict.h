/* SPDX-License-Identifier: MIT */
/*
 * Predicts the completion time of a recorded execution under changes, with a 95 % interval and the resource that bounds it then.
 *
 * T = T_measured * T_simulated(changed) / T_simulated(now), so that errors of the model that are in both cancel out. interval.h computes
 * the interval. Context: thread.
 */
#ifndef TAILOR_PREDICT_H
#define TAILOR_PREDICT_H

#include "analyzer/whatif/calibration.h"
#include "analyzer/whatif/graph.h"

#define PREDICT_WARN 0.05   /* a replay error above this makes predictions rough, and above PREDICT_REFUSE there are none without --force */
#define PREDICT_REFUSE 0.15

enum change_kind {
	CHANGE_CORES, CHANGE_QUOTA, CHANGE_CLOCK, CHANGE_DISK, CHANGE_NETWORK, CHANGE_SLEEP, CHANGE_LOCK, CHANGE_COMPONENT, CHANGE_SKEW,
	CHANGE_THREADS,
};

struct change {
	enum change_kind kind;
	/*
	 * cores: processors; quota: processors' worth of time, 0: none; clock, disk, network, sleep: times as fast; component: part of its
	 * time that is saved (negative: added); threads: so many at work at once
	 */
	double value;
	int level;    /* level of a component or skew: index of the time line's levels; -1: a function; skew: -2: whole threads */
	uint32_t of;  /* component, function or lock; skew of threads: their creator; threads: how many have the name */
	char name[32]; /* CHANGE_THREADS: the threads' name, a pattern with * and ? */
	char key[160]; /* the change as NAME=VALUE, where NAME is the option that asks for it; no option asks for sleep */
};

#define PATH_RESOURCES NR_RESOURCES
/* This struct is the critical path, as the time (ns) up to completion by resource. */
struct path {
	double resource[PATH_RESOURCES];
	uint32_t lock; /* the function that asks for the lock that has most of the path; 0: not known */
	double unknown_ns;
};

struct prediction {
	double completion_ns, low_ns, high_ns;
	struct path path;
	enum resource bound; /* the resource with most of the path */
	double queued_ns; /* time that all threads wait for a processor, or are throttled, together */
};

struct predictor {
	const struct step_graph *g;
	struct machine now;
	/* replay_error: the absolute difference of simulated_ns and measured_ns, as a part of measured_ns */
	double measured_ns, simulated_ns, replay_error;
	double *factor; /* factor of each step under the changes that are simulated */
	bool *pooled; /* whether CHANGE_THREADS limits a thread, by thread */
	/* results of the last simulation, by step (struct simulated_steps) */
	double *begin, *end;
	uint32_t *released_by;
	/*
	 * Factor of each step without a change: 1, or the one that divides a queue's work evenly. 0: the step is a tick that is left out.
	 */
	double *base;
	uint32_t nr_ticks; /* number of waits that are left out (enum graph_tick) */
	uint32_t nr_queues, nr_runs; /* nr_runs: number of recorded runs, of which the predicted one is the median */
	double spread, octave; /* standard errors of a logarithm: of one run, of the model for a factor of 2 */
	double slowdown[SIMULATE_SLOWDOWNS]; /* slowdown by number of working processors (struct machine); [0] is 0: not calibrated */
	double copied, copied_others; /* the calibration's values (calibration.h) */
	struct path path; /* critical path on the recorded machine */
};

/*
 * Prepares predictions by a replay of the recorded execution, which leaves ticks out if nothing depends on them. calibration may be NULL.
 * Returns 0, or -errno with the reason in d (-EDOM: it cannot be replayed). The caller calls predictor_fini() in any case.
 */
int predictor_init(struct predictor *p, const struct step_graph *g, const struct calibration *calibration, struct diag *d);
void predictor_fini(struct predictor *p);
/*
 * Predicts the execution under all of nr changes together. Returns 0 or -errno. -EDOM: threads would wait for ever, or for more periods of
 * a quota than simulate() makes. -EINVAL: there are two CHANGE_THREADS. -ENOMEM: memory runs out.
 */
int predict(struct predictor *p, const struct change *changes, uint32_t nr, struct prediction *out);
/*
 * Computes the critical path of the last simulation, which predictor_init() or predict() made. of_step, if it is not NULL: the time of each
 * step on the path is added to it.
 */
void predict_path(const struct predictor *p, struct path *out, double *of_step);
/*
 * Sets slack[], by step, to how much later the step could end without delaying the completion of the last simulation. Returns 0 or -ENOMEM.
 */
int predict_slack(const struct predictor *p, double *slack);
/*
 * Returns the changes that are predicted if the user asks for none, not sorted by gain. *nr: their number, at most CANDIDATES_MAX. The
 * caller frees the list. Returns NULL if memory runs out.
 */
struct change *predict_candidates(const struct predictor *p, uint32_t *nr);
/* Returns the number of threads whose name matches a pattern with * and ?. */
uint32_t predict_count_threads(const struct step_graph *g, const char *name);
/* Returns the name of component `of`, or, for level -1, of function `of`. It may be in spare. */
const char *predict_component_name(const struct step_graph *g, int level, uint32_t of, char spare[32]);

#endif
