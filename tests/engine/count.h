/* SPDX-License-Identifier: MIT */
/* Execution counts of the generated code (--count): what an engine does that announces flows and counters.  Context: thread. */
#ifndef ENGINE_COUNT_H
#define ENGINE_COUNT_H

#include "gen.h"
#include "jit.h"

/* Announces the flow of each function, and has its blocks (all) or its arcs (minimal) counted.  The module is finished but for LLVM's own
 * passes; instructions' debug locations are their lines.  false: no memory. */
bool count_module(const struct gen *g, struct program *out);
/* The counters of this worker. */
uint64_t *count_of_worker(const struct program *p, int worker);
/* One line on stdout: how many counters there are, and what they add up to. */
void count_print(const struct program *p, int nr_workers);

#endif
