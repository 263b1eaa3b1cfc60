/* SPDX-License-Identifier: MIT */
/*
 * Makes an execution of a time line, which simulate() can carry out on another machine. It has the work of each thread in its order. Waits
 * that another thread ended, and the creation of threads, are signals. Other waits take a time at a device, or a fixed time. Of the waiting
 * for a processor, only the latency of waking is kept, because the simulation shares the processors by itself. Context: thread.
 */
#ifndef TAILOR_GRAPH_H
#define TAILOR_GRAPH_H

#include "analyzer/whatif/simulate.h"
#include "analyzer/whatif/timeline.h"

enum graph_device { DEVICE_DISK, DEVICE_NETWORK, DEVICE_DISK_WRITES };

/*
 * A tick is a wait that is repeated until another thread ends one of these waits. An interrupt (a timeout) ended it, and the thread then
 * runs only briefly before it waits again. TICK_WAKES: it wakes other threads in between. On another machine there are more or fewer of
 * these waits, so replay_without_ticks() leaves them out if nothing depends on them.
 */
enum graph_tick { TICK_NONE, TICK_ALONE, TICK_WAKES };

/* This struct has facts about the step with the same index. */
struct graph_step {
	uint64_t from_ns; /* time at which it began in the recording */
	uint32_t thread;
	uint8_t resource; /* enum resource */
	uint8_t tick;	  /* enum graph_tick */
	uint8_t unknown;  /* a wait that some unknown thread may have ended */
	uint32_t lock;	  /* RESOURCE_LOCK: the function that asked for the lock; 0: not known */
	double ticks;	  /* weight (ns) of the samples in the step */
};

struct step_graph {
	const struct timeline *t;
	struct execution e;
	struct step *step;
	struct graph_step *about;
	struct step_thread *thread;
	/* step of each sample of the time line; SIMULATE_NONE: it lies outside of the window, or after the last run */
	uint32_t *step_of_tick;
	uint32_t *await_of_signal, *giver_of_signal; /* steps that wait for, and give, each signal; SIMULATE_NONE: there is none */
	uint32_t nr_steps, capacity, nr_signals, signals_capacity, givers_capacity;
	uint64_t from_ns, to_ns; /* the window that is simulated */
	double unknown_ns; /* the part of waits_ns that an unknown thread may have ended */
	double waits_ns; /* sum of the waits of all threads that ended in the window, except for those for a processor */
	double work_ns; /* sum of all threads' work, for Graham's bounds */
	/*
	 * How long the average wait's bytes take (ns) at a container's limit of the disk, for reading [0] and writing [1]. 0: there is no
	 * limit, or it does not bound the waits.
	 */
	double limited_ns[2];
	bool of_marks; /* the window is bounded by marks of the host, and not by the trace */
};

/*
 * Makes the execution in a window of the time line. mark: "NAME" or "NAME#N" for the window from the first to the last mark of that name
 * (and number), "all" for the whole trace, or NULL for the marks named "run", or the whole trace if it has none. Returns 0, or -errno with
 * the reason in d: -ENOENT if there is no such mark in the time line, or -ENOMEM. The caller calls step_graph_fini() in any case.
 */
int step_graph_make(const struct timeline *t, const char *mark, struct step_graph *g, struct diag *d);
/*
 * Returns the recorded time (ns) from the beginning of the window to the completion. The completion is the end of the thread e.target if
 * that is in the window, or else the end of the window.
 */
double step_graph_measured_ns(const struct step_graph *g);
void step_graph_fini(struct step_graph *g);

#endif
