/* SPDX-License-Identifier: MIT */
/*
 * A part of the work: of a component, a function, the calls for a lock, or all that threads of one maker do while they are there.
 * Which samples are of it, how much each thread has of it, and whether the threads took it from a queue.  Context: thread.
 */
#ifndef TAILOR_PARTS_H
#define TAILOR_PARTS_H

#include "analyzer/whatif/graph.h"

/* Levels beside the time line's. */
#define PART_FUNCTION (-1)
#define PART_THREADS (-2)
#define PART_LOCK (-3)
#define PART_BETWEEN (-4) /* interrupts between processors */
#define PART_COPIES (-5)  /* of pages, when they are written */
#define PART_ALL (-6)

struct part {
	int level;
	uint32_t of; /* component, function or thread: the maker of the threads, which is one of them */
	uint64_t from_ns, to_ns; /* of threads: from the first one's beginning to the last one's end */
};

struct part part_make(const struct step_graph *g, int level, uint32_t of);
/* Of a group: the maker, or a thread that it made in its own process. */
bool part_has_thread(const struct step_graph *g, const struct part *group, uint32_t thread);
bool part_has(const struct step_graph *g, const struct tick *k, const struct part *part);
/* Weight of the part in each thread's samples, and of all that they have; arrays by thread. */
void part_sum_threads(const struct step_graph *g, const struct part *of, double *part, double *all);
/* The part's share of all the work, 0 to 1; samples: of how many that is said. */
double part_share(const struct step_graph *g, int level, uint32_t of, double *samples);
/* The largest thread's work on something beside the mean of all that work on it, 1 where they are alike; nr: how many those are. */
double part_skew(const struct step_graph *g, int level, uint32_t of, uint32_t *nr);
/* Did threads take their work from a queue?  They end at one time, although they did not do the same, and did not wait for each other. */
bool part_is_queue(const struct step_graph *g, const struct part *part);

#endif
