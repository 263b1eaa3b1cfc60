/* SPDX-License-Identifier: MIT */
/*
 * A time line as an execution that simulate() can carry out elsewhere: the work of each thread in its order; waits that another thread
 * ended as signals, with the creation of threads; other waits as times at a device or away.  Waiting for a processor is left out: the
 * simulation makes its own.  Context: thread.
 */
#ifndef TAILOR_GRAPH_H
#define TAILOR_GRAPH_H

#include "analyzer/whatif/simulate.h"
#include "analyzer/whatif/timeline.h"

enum graph_device { DEVICE_DISK, DEVICE_NETWORK, DEVICE_DISK_WRITES };

/* A wait that time ended, and after which the thread only waits again, or wakes others before: it may be no part of the work. */
enum graph_tick { TICK_NONE, TICK_ALONE, TICK_WAKES };

/* A part of a thread's way, beside the step of the same number. */
struct graph_step {
	uint64_t from_ns; /* when it was recorded to begin */
	uint32_t thread;
	uint8_t resource; /* enum resource */
	uint8_t tick;	  /* enum graph_tick */
	uint8_t unknown;  /* a wait that another thread may have ended, whichever */
	uint32_t lock;	  /* function, of RESOURCE_LOCK; 0: not known */
	double ticks;	  /* weight of the samples in it */
};

struct step_graph {
	const struct timeline *t;
	struct execution e;
	struct step *step;
	struct graph_step *about;
	struct step_thread *thread;
	uint32_t *step_of_tick; /* SIMULATE_NONE: outside of the window */
	uint32_t *await_of_signal, *giver_of_signal; /* steps */
	uint32_t nr_steps, capacity, nr_signals, signals_capacity, givers_capacity;
	uint64_t from_ns, to_ns; /* what is simulated */
	double unknown_ns; /* of waits, by an unknown waker, of all threads */
	double waits_ns; /* of all threads */
	double work_ns; /* of all threads: Graham's work */
	double limited_ns[2]; /* that a wait for reading, or writing, takes of a limited disk's time; 0: no limit is waited for */
	bool of_marks; /* the window is that of marks */
};

/* mark: "NAME", "NAME#N", "all", or NULL: marks named "run" where there are some.  0, or -errno with a sentence;
 * step_graph_fini() in any case. */
int step_graph_make(const struct timeline *t, const char *mark, struct step_graph *g, struct diag *d);
/* From the window's beginning to what is waited for, as it was recorded. */
double step_graph_measured_ns(const struct step_graph *g);
void step_graph_fini(struct step_graph *g);

#endif
