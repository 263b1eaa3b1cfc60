/* SPDX-License-Identifier: MIT */
/*
 * An execution on another machine: threads as sequences of steps, which a machine of so many processors carries out.
 *
 * A thread runs (a step of so much work), is away for a fixed time, is served by a device, signals, and waits for signals.  Threads that
 * can run share the processors equally, as fair schedulers do in the long run: n threads on m processors run at min(1, m/n) of their speed.
 * Threads of a pool get no more than so many processors together, and leave the rest to the others.
 * A quota is a number of processors' time in each period; when it is used up, nothing runs until the next one.  A device serves
 * all its requests at once, each at its share of the speed; one that is limited to a rate serves them in turn, also for what was not
 * used of its time just before.  Locks are granted in the order of requests.
 *
 * Every step costs O(log steps): work is measured in the time that a thread alone would take, of which all that run have done the same
 * amount, so that what ends next is the top of a heap.  No libc beyond memory, no clock, no state: the same input gives the same output.
 * Context: any.
 */
#ifndef TAILOR_SIMULATE_H
#define TAILOR_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

enum step_kind {
	STEP_RUN,    /* amount: ns of work at speed 1 */
	STEP_AWAY,   /* amount: ns, whatever the machine */
	STEP_SERVED, /* amount: ns alone at the device `of` */
	STEP_LIMITED, /* amount: ns that it takes of the time of a device `of` which is no more than a rate */
	STEP_SIGNAL, /* of: number of the signal, which one step alone gives */
	STEP_AWAIT,  /* of: number of the signal; no wait where it was given before */
	STEP_LOCK, STEP_UNLOCK, /* of: number of the lock */
};

struct step {
	double amount;
	uint32_t of;
	uint32_t kind; /* enum step_kind */
};

/* Steps [first, first + nr). */
struct step_thread {
	uint32_t first, nr;
};

#define SIMULATE_DEVICES 4
#define SIMULATE_SLOWDOWNS 65

struct machine {
	double processors;
	double pool; /* so many processors at most for all threads of the pool together; 0: no limit */
	double speed; /* of each; 1: that of the execution that was recorded */
	double quota; /* processors' worth of time in each period; 0: no limit */
	double quota_period_ns;
	double device_speed[SIMULATE_DEVICES];
	/* [n]: how much longer work takes when n processors work, 1 or more; [0] 0: it is not known, and taken to be 1 */
	double slowdown[SIMULATE_SLOWDOWNS];
};

struct execution {
	const struct step *step;
	uint32_t nr_steps;
	const struct step_thread *thread;
	uint32_t nr_threads;
	uint32_t nr_signals, nr_locks;
	const bool *pooled; /* by thread: it is of the pool; NULL: none is */
	uint32_t target; /* thread whose end is the end; UINT32_MAX: the last of all */
	/* NULL, or by step: what its amount is multiplied with; a step of 0 is left out, whatever it is */
	const double *factor;
};

#define SIMULATE_NONE UINT32_MAX

/* By step, where the caller wants to know; NULL: not asked for. */
struct simulated_steps {
	double *begin, *end;
	uint32_t *released_by; /* of an await or lock that had to wait: the step that ended it; else SIMULATE_NONE */
};

struct simulated {
	double end_ns;
	uint32_t last_thread; /* whose end it is */
	double run_ns; /* of all threads: processors' time */
	double queued_ns; /* of all threads: less speed than alone */
	double throttled_ns; /* of all threads */
	bool stuck; /* some thread waits for what never comes, or a million periods of a quota did not do; end_ns is of those that ended */
};

/* 0 or -ENOMEM. */
int simulate(const struct execution *e, const struct machine *m, const struct simulated_steps *steps, struct simulated *out);

/* Graham's bounds of any schedule that lets no processor idle while a thread can run, of work (the sum) and span (the longest chain). */
void simulate_bounds(double work, double span, double processors, double *low, double *high);

#endif
