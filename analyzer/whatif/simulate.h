/* SPDX-License-Identifier: MIT */
/*
 * Simulates an execution on another machine. Each thread is a sequence of steps, and the machine has a number of processors and devices.
 *
 * A thread runs (a step of so much work), is away for a fixed time, is served by a device, signals, and waits for signals. Threads that can
 * run share the processors equally, as fair schedulers do in the long run: n threads on m processors run at min(1, m/n) of their speed. The
 * threads of a pool get no more than machine.pool processors together, and leave the rest to the others. A quota is a number of processors'
 * time in each period. When it is used up, nothing runs until the next period. A device serves all its requests at once, each at an equal
 * share of its speed. A device that is limited to a rate serves them one after the other, and time that it did not use just before can
 * still be used. Locks are granted in the order of requests.
 *
 * Every step costs O(log threads). Work is measured in the time that a thread alone would take. All threads that run progress at the same
 * speed (those in the pool, and the others), so that a heap, keyed by the progress at which each step ends, has the step that ends next at
 * its top. The simulation calls libc only for memory, and has no clock and no state, so the same input gives the same output.
 *
 * Context: thread.
 */
#ifndef TAILOR_SIMULATE_H
#define TAILOR_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

enum step_kind {
	STEP_RUN,    /* amount: ns of work at speed 1 */
	STEP_AWAY,   /* amount: ns, on any machine */
	STEP_SERVED, /* amount: ns alone at the device `of` */
	STEP_LIMITED, /* amount: ns of the time of the device `of`, which is limited to a rate */
	STEP_SIGNAL, /* gives signal number `of`; no other step gives the same signal */
	STEP_AWAIT,  /* waits for signal number `of`, unless it was given before */
	STEP_LOCK, STEP_UNLOCK, /* take and leave lock number `of` */
};

struct step {
	double amount;
	uint32_t of;
	uint32_t kind; /* enum step_kind */
};

/* A thread has the steps [first, first + nr). */
struct step_thread {
	uint32_t first, nr;
};

#define SIMULATE_DEVICES 4
#define SIMULATE_SLOWDOWNS 65

struct machine {
	double processors;
	double pool; /* most processors that all threads of the pool have together; 0: no limit */
	double speed; /* speed of each processor; 1: that of the recorded execution */
	double quota; /* processors' worth of time in each period; 0: no limit */
	double quota_period_ns;
	double device_speed[SIMULATE_DEVICES];
	/*
	 * slowdown[n]: how much longer work takes when n processors work, 1 or more. [0] is 0 if that is not known, and then 1 is used for
	 * all n.
	 */
	double slowdown[SIMULATE_SLOWDOWNS];
};

struct execution {
	const struct step *step;
	uint32_t nr_steps;
	const struct step_thread *thread;
	uint32_t nr_threads;
	uint32_t nr_signals, nr_locks;
	const bool *pooled; /* whether a thread belongs to the pool, by thread; NULL: none does */
	uint32_t target; /* thread whose end is the completion; UINT32_MAX: the end of the last thread is */
	/* Factors of the steps' amounts, or NULL. A step with factor 0 is left out, also a signal or a lock. */
	const double *factor;
};

#define SIMULATE_NONE UINT32_MAX

/* Arrays for results, by step. NULL: the caller does not need that result. */
struct simulated_steps {
	double *begin, *end;
	uint32_t *released_by; /* the step that ended an await, or the wait for a lock; SIMULATE_NONE: there was no such wait */
};

struct simulated {
	double end_ns;
	uint32_t last_thread; /* thread that ended last */
	double run_ns; /* processors' time of all threads */
	double queued_ns; /* time that all threads lost because they shared processors */
	double throttled_ns; /* time that all threads were throttled */
	/*
	 * Some thread waits for ever, or the quota needs too many periods (PERIODS_MAX). end_ns is then the last end of the threads that
	 * ended.
	 */
	bool stuck;
};

/* Simulates e on m, until the completion. steps may be NULL. Returns 0 or -ENOMEM, after which *out is zero. */
int simulate(const struct execution *e, const struct machine *m, const struct simulated_steps *steps, struct simulated *out);

/*
 * Computes Graham's bounds of the completion time. They hold for any schedule that lets no processor idle while a thread can run. work: the
 * sum of all work. span: the longest chain of work. Both, and the bounds, have one unit of time.
 */
void simulate_bounds(double work, double span, double processors, double *low, double *high);

#endif
