/* SPDX-License-Identifier: MIT */
/*
 * Why a block of code took more cycles than its best case: possible causes, each with a lower and an upper bound, by elimination
 * (J. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6.3): every cause is a culprit until
 * its event, or the code itself, says that it can explain no more than so much; what no cause can explain is unexplained.
 * README.md beside this file has the method and the costs.  Context: any.
 */
#ifndef TAILOR_CULPRITS_H
#define TAILOR_CULPRITS_H

#include <stdbool.h>

#define CULPRITS(X) \
	X(DATA_CACHE, data_cache, "data-cache miss") \
	X(TLB, tlb, "data-TLB miss") \
	X(BRANCH, branch, "branch mispredict") \
	X(STORE_FORWARD, store_forward, "store forwarding") \
	X(DIVISION, division, "division") \
	X(DEPENDENCY, dependency, "dependency") \
	X(FRONT_END, front_end, "front end") \
	X(PAGE_FAULT, page_fault, "page fault") \
	X(KERNEL, kernel, "kernel")

#define CULPRIT_(NAME, key, text) CULPRIT_##NAME,
enum culprit { CULPRITS(CULPRIT_) NR_CULPRITS };
#undef CULPRIT_

const char *culprit_key(enum culprit c);
const char *culprit_name(enum culprit c);

/*
 * Cycles that one costs at least and at most, on processors with out-of-order execution since 2010.  Least: what nothing can hide.  Most: a
 * generous bound, because a bound that is too small would accuse another cause.
 * Mispredicted branches: 10 to 20 cycles, and more where the target's code must be fetched (A. Fog, The microarchitecture of Intel, AMD
 * and VIA CPUs, sections "Branch prediction").  Lines from memory: at least 64 bytes at the 16 bytes a cycle that one core's path to
 * memory could carry, at most some 100 ns at 5 GHz.  Divisions: A. Fog, Instruction tables (DIV, IDIV, DIVSD: reciprocal throughput from
 * 3, latency of DIV r64 up to 100).  Loads that must wait for a store that cannot be forwarded: 10 to 20 cycles (ibid.).
 */
#define COST_BRANCH_LEAST 10
#define COST_BRANCH_MOST 30
#define COST_MEMORY_LEAST 4
#define COST_MEMORY_MOST 500
#define COST_CACHE_MOST 80 /* a line from the last cache */
#define COST_WALK_MOST 500 /* a page walk whose tables are in memory in part */
#define COST_STORE_FORWARD_LEAST 5
#define COST_STORE_FORWARD_MOST 25
#define COST_DIVISION_LEAST 3
#define COST_DIVISION_MOST 100
#define COST_CODE_MOST 200 /* a line of code that is in no first-level cache */
#define COST_FAULT_LEAST 500 /* in the kernel; entry and return alone take that */
#define COST_FAULT_MOST 500000 /* a huge page that is zeroed, a page that is read from a file */

#define ISSUE_WIDTH 6 /* instructions a cycle: no processor retires more of these, but for fused ones */

/* What an event counts. */
enum stall_event {
	STALL_LAST_CACHE, /* lines that came from memory */
	STALL_FIRST_CACHE, /* lines that came from further than the first-level cache */
	STALL_WALK,
	STALL_BRANCH,
	STALL_STORE_FORWARD,
	STALL_DIVISION_CYCLES,
	STALL_CODE,
	STALL_FAULT,
	NR_STALL_EVENTS,
};
/* Does a cause have a bound by it? */
bool stall_event_bounds(enum stall_event e, enum culprit c);
/* By the event's name as perf and libpfm4 have it; NR_STALL_EVENTS: none of these. */
enum stall_event stall_event_of(const char *name);

/* How many of an event: bounds of 95 %. */
struct stall_count {
	bool recorded;
	double low, high;
};
/* From its samples, of this period each; of none there may have been three (the upper bound of 95 %). */
struct stall_count stall_count_bounds(double weight, double samples, double weight_squares, double period);
/* Counts of several events that say the same (loads and stores) add up. */
void stall_count_add(struct stall_count *sum, double weight, double samples, double weight_squares, double period);

/* What is known of one block, of all of its executions. */
struct stall_evidence {
	double cycles, best; /* that it took, and that it takes at best */
	double floor; /* cycles if none of its instructions waits for another: at most best; what lies between is in the code itself */
	double executions;
	struct stall_count count[NR_STALL_EVENTS];
	/* of its code: per execution */
	double accesses, loads, divisions, lines; /* of memory; lines of code */
	double latency; /* of all instructions one after the other, with first-level hits and without divisions */
	bool mispredicts;  /* it is entered by a branch that can be mispredicted */
	bool forwards;	   /* it may load what was just stored */
	bool fetched_once; /* it is in a loop that stays in the first-level cache */
	bool has_chains;   /* best has dependencies in it, and divisions */
};

struct stall_bounds {
	double stall, unexplained; /* stall: beyond the floor */
	double low[NR_CULPRITS], high[NR_CULPRITS];
};

/* What the code of a block says of one execution. */
struct block_code {
	double best, floor; /* cycles; as in stall_evidence */
	double accesses, loads, divisions, lines, latency;
	bool simulated; /* best is llvm-mca's */
	bool mispredicts, forwards, fetched_once;
};

struct block_stalls {
	bool known; /* it has samples, and its executions are known */
	double cycles, best, floor, executions;
	bool simulated;
	struct stall_bounds bounds;
};

/* Of all its executions; not known where these or its cycles are none. */
void culprits_bound_block(const struct block_code *c, double cycles, double executions, const struct stall_count count[NR_STALL_EVENTS],
			  struct block_stalls *out);
/* The kernel's time is that of page faults within bounds, and the rest; faults NULL: they were not recorded.  is_time: kernel is in
 * nanoseconds. */
void culprits_bound_kernel(double kernel, const struct stall_count *faults, bool is_time, struct stall_bounds *out);
void culprits_bound_stalls(const struct stall_evidence *e, struct stall_bounds *out);
/* Add what is of one block to a sum. */
void culprits_add(struct stall_bounds *sum, const struct stall_bounds *b);
/*
 * The causes that may explain a noteworthy part, the likeliest first: returns how many.  None, where what was lost is less than a tenth
 * of the cycles: a best case is not known better than that.
 */
int culprits_rank(const struct stall_bounds *b, double cycles, enum culprit order[NR_CULPRITS]);
/* Of a block: none where only the processor's width is known and it runs an instruction a cycle. */
int culprits_rank_block(const struct block_stalls *b, enum culprit order[NR_CULPRITS]);

#endif
