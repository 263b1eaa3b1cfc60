/* SPDX-License-Identifier: MIT */
/*
 * This module keeps the times at which memory for code of one process was freed and mapped again. A perf map has no times, so a second name
 * for an address is taken to hold since such a time. The newest UNLOADS_MAX are kept. Context: thread.
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

/* A struct of all zeros has no unloads. */
struct unloads {
	struct unload *unload; /* a ring buffer of UNLOADS_MAX, in the order in which they were added; NULL: none, or memory ran out */
	uint64_t nr; /* number that was ever added */
};

void unloads_fini(struct unloads *u);
/* Notes that memory of code in [start, end) was freed at time_ns. The oldest unload is forgotten if there are UNLOADS_MAX. Does nothing if
 * memory runs out. */
void unloads_add(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns);
/* Notes that executable memory was mapped there, so that earlier unloads of the range count for unloads_before_name(). */
void unloads_mapped(struct unloads *u, uint64_t start, uint64_t end, uint64_t time_ns);
/*
 * Returns the time at which memory of [start, end) was freed that was mapped again later.  The range's new name was written between
 * since_ns and until_ns.  The last such time up to since_ns is returned, or else the first after it.  Times up to after_ns, since which the
 * range has had its earlier name, do not count, and neither do times later than until_ns.  Returns 0 if there is none.  u may be NULL.
 */
uint64_t unloads_before_name(const struct unloads *u, uint64_t start, uint64_t end, uint64_t after_ns, uint64_t since_ns,
			     uint64_t until_ns);

#endif
