/* SPDX-License-Identifier: MIT */
/*
 * Makes an execution of a time line, which simulate() can carry out on another machine. It has the work of each thread in its order. Waits
 * that another thread ended, and the creation of threads, are signals, and other waits are times at a device or away. Waiting for a
 * processor is left out, because the simulation makes its own. Context: thread.
 */
#ifndef TAILOR_GRAPH_H
#define TAILOR_GRAPH_H

#include "analyzer/whatif/simulate.h"
#include "analyzer/whatif/timeline.h"

enum graph_device { DEVICE_DISK, DEVICE_NETWORK, DEVICE_DISK_WRITES };

/*
 * A wait that a timeout ended and after which the thread only waits again (TICK_ALONE), or wakes others before that (TICK_WAKES). It may
 * not be a part of the work.
 */
enum graph_tick { TICK_NONE, TICK_ALONE, TICK_WAKES };

/* Facts about the step of the same number. */
struct graph_step {
	uint64_t from_ns; /* time at which it began in the recording */
	uint32_t thread;
	uint8_t resource; /* enum resource */
	uint8_t tick;	  /* enum graph_tick */
	uint8_t unknown;  /* a wait that some unknown thread may have ended */
	uint32_t lock;	  /* RESOURCE_LOCK: the function that took the lock; 0: not known */
	double ticks;	  /* weight of the samples in the step */
};

struct step_graph {
	const struct timeline *t;
	struct execution e;
	struct step *step;
	struct graph_step *about;
	struct step_thread *thread;
	uint32_t *step_of_tick; /* SIMULATE_NONE: the sample lies outside of the window */
	uint32_t *await_of_signal, *giver_of_signal; /* steps that wait for, and give, each signal */
	uint32_t nr_steps, capacity, nr_signals, signals_capacity, givers_capacity;
	uint64_t from_ns, to_ns; /* the window that is simulated */
	double unknown_ns; /* sum of all threads' waits that an unknown thread ended */
	double waits_ns; /* sum of all threads' waits */
	double work_ns; /* sum of all threads' work, for Graham's bounds */
	double limited_ns[2]; /* time of a limited disk that a wait for reading, or writing, takes; 0: no limit is waited for */
	bool of_marks; /* marks bound the window */
};

/*
 * Makes the execution. mark: "NAME", "NAME#N", "all", or NULL: marks named "run" where there are some. Returns 0, or -errno with a
 * sentence. The caller calls step_graph_fini() in any case.
 */
int step_graph_make(const struct timeline *t, const char *mark, struct step_graph *g, struct diag *d);
/* Returns the recorded time from the beginning of the window to the completion. */
double step_graph_measured_ns(const struct step_graph *g);
void step_graph_fini(struct step_graph *g);

#endif
