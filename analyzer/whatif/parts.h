/* SPDX-License-Identifier: MIT */
/*
 * A part of the work: that of a component, of a function, of the calls for a lock, or all that the threads of one maker do while they
 * exist. The functions find the samples of a part, how much each thread has of it, and whether the threads took it from a queue.
 * Context: thread.
 */
#ifndef TAILOR_PARTS_H
#define TAILOR_PARTS_H

#include "analyzer/whatif/graph.h"

/* Levels in addition to those of the time line. */
#define PART_FUNCTION (-1)
#define PART_THREADS (-2)
#define PART_LOCK (-3)
#define PART_BETWEEN (-4) /* interrupts between processors */
#define PART_COPIES (-5)  /* copies of pages when they are written */
#define PART_ALL (-6)

struct part {
	int level;
	uint32_t of; /* component, function or thread: the maker of the threads, which is one of them */
	uint64_t from_ns, to_ns; /* PART_THREADS: from the first thread's beginning to the last one's end */
};

struct part part_make(const struct step_graph *g, int level, uint32_t of);
/* Returns whether a thread is in a group: the maker, or a thread that it made in its own process. */
bool part_has_thread(const struct step_graph *g, const struct part *group, uint32_t thread);
bool part_has(const struct step_graph *g, const struct tick *k, const struct part *part);
/* Adds up the weight of the part in each thread's samples, and the weight of all its samples. Both arrays are by thread. */
void part_sum_threads(const struct step_graph *g, const struct part *of, double *part, double *all);
/* Returns the part's share of all the work, 0 to 1. samples: the number of samples that this is computed from. */
double part_share(const struct step_graph *g, int level, uint32_t of, double *samples);
/*
 * Returns the largest thread's work on a part relative to the mean of all threads that work on it: 1 where they do the same. nr: the number
 * of these threads.
 */
double part_skew(const struct step_graph *g, int level, uint32_t of, uint32_t *nr);
/*
 * Returns whether threads took their work from a queue. Such threads end at one time, although they did not do the same amount of work and
 * did not wait for each other.
 */
bool part_is_queue(const struct step_graph *g, const struct part *part);

#endif
