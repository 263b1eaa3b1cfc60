/* SPDX-License-Identifier: MIT */
/*
 * A part of the recorded work is that of a component, of a function, of the calls that take or leave a lock, of interrupts between
 * processors, of copies of pages, or all work, of all threads (PART_ALL) or of those that one thread made (PART_THREADS). The functions
 * find the samples of a part, how much each thread has of it, and whether the threads took it from a queue. Context: thread.
 */
#ifndef TAILOR_PARTS_H
#define TAILOR_PARTS_H

#include "analyzer/whatif/graph.h"

/* These are values of struct part's level, besides the indexes of the time line's levels. */
#define PART_FUNCTION (-1)
#define PART_THREADS (-2)
#define PART_LOCK (-3)
#define PART_BETWEEN (-4) /* interrupts between processors, on both sides (resource_is_between()) */
#define PART_COPIES (-5)  /* copies of pages that are written (resource_is_copy()) */
#define PART_ALL (-6)

struct part {
	int level;
	uint32_t of; /* component or function, by level; PART_LOCK: the function that asks for the lock; PART_THREADS: the maker */
	uint64_t from_ns, to_ns; /* PART_THREADS: from the beginning of the first thread that was made to the end of the last one */
};

struct part part_make(const struct step_graph *g, int level, uint32_t of);
/* Returns whether a thread is in a group (PART_THREADS), which has its maker and the threads that the maker made in its own process. */
bool part_has_thread(const struct step_graph *g, const struct part *group, uint32_t thread);
/* Returns whether a sample is of a part. */
bool part_has(const struct step_graph *g, const struct tick *k, const struct part *part);
/*
 * Adds the weight of the part in each thread's samples to part[], and the weight of all its samples to all[]. Both arrays are by thread.
 * Only samples in the window count.
 */
void part_sum_threads(const struct step_graph *g, const struct part *of, double *part, double *all);
/*
 * Returns a component's, or function's, share of all the work in the window, 0 to 1. *samples becomes the number of all samples in the
 * window.
 */
double part_share(const struct step_graph *g, int level, uint32_t of, double *samples);
/*
 * Returns the largest thread's work on a part relative to the mean of all threads that work on it. It is 1 if they do the same, if no
 * thread works on the part, or if memory runs out. *nr becomes the number of these threads.
 */
double part_skew(const struct step_graph *g, int level, uint32_t of, uint32_t *nr);
/*
 * Returns whether the threads of a group (PART_THREADS) took their work from a queue. This is concluded if they did different amounts of
 * work, and still ended at nearly the same time and hardly waited for each other. A group that is not wholly in the window counts as none.
 * predictor_init() divides the work of a queue evenly.
 */
bool part_is_queue(const struct step_graph *g, const struct part *part);

#endif
