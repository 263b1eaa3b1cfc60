/* SPDX-License-Identifier: MIT */
/*
 * Times at which memory for code of one process was freed and mapped again.  A perf map has no times, and a name in it is of the code that
 * came after.  The newest UNLOADS_MAX are kept.  Context: thread.
 */
#ifndef TAILOR_UNLOADS_H
#define TAILOR_UNLOADS_H

#include <stdbool.h>
#include <stdint.h>

#define UNLOADS_MAX 4096u

struct unload {
	uint64_t start, end, time_ns;
	bool mapped_again;
};

/* Zeros: none. */
struct unloads {
	struct unload *unload; /* a ring of UNLOADS_MAX, in the order of time; NULL: none, or without memory */
	uint64_t nr; /* number that was ever added */
};

void unloads_fini(struct unloads *u);
void unloads_add(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns);
/* Notes that executable memory was mapped there. */
void unloads_mapped(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns);
/*
 * Returns when the memory of code was freed and mapped again: the last time up to since_ns, else the first behind it.  The code got a name
 * between since_ns and until_ns, and had another one since after_ns.  0: never.  u may be NULL.
 */
uint64_t unloads_before_name(const struct unloads *u, uint64_t start, uint64_t end, uint64_t after_ns, uint64_t since_ns,
			     uint64_t until_ns);

#endif
