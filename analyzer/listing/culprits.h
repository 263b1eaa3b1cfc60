/* SPDX-License-Identifier: MIT */
/*
 * The causes why a block of code took more cycles than its best case, each with a lower and an upper bound, by elimination (J. Anderson et
 * al., Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6.3). Every cause is a culprit until its event, or the
 * code itself, limits what it can explain. Cycles that no cause can explain are unexplained. README.md beside this file has the method and
 * the costs. Context: any.
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
 * Least and most cycles that one occurrence costs, on processors with out-of-order execution since 2010. The least is what nothing can
 * hide. The most is a generous bound, because a bound that is too small would accuse another cause.
 * Mispredicted branches: 10 to 20 cycles, and more if the target's code must be fetched (A. Fog, The microarchitecture of Intel, AMD and
 * VIA CPUs, sections "Branch prediction"). Lines from memory: at least 64 bytes at the 16 bytes a cycle that one core's path to memory
 * could carry, at most some 100 ns at 5 GHz. Divisions: A. Fog, Instruction tables (DIV, IDIV, DIVSD: reciprocal throughput from 3, latency
 * of DIV r64 up to 100). Loads that must wait for a store that cannot be forwarded: 10 to 20 cycles (ibid.).
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
#define COST_FAULT_LEAST 500 /* in the kernel, whose entry and return alone take so many */
#define COST_FAULT_MOST 500000 /* a huge page that is zeroed, a page that is read from a file */

#define ISSUE_WIDTH 6 /* instructions a cycle: no processor retires more, except fused ones */

/* The kinds of events that bound causes. */
enum stall_event {
	STALL_LAST_CACHE, /* lines that came from memory */
	STALL_FIRST_CACHE, /* lines that came from behind the first-level cache */
	STALL_WALK,
	STALL_BRANCH,
	STALL_STORE_FORWARD,
	STALL_DIVISION_CYCLES,
	STALL_CODE,
	STALL_FAULT,
	NR_STALL_EVENTS,
};
/* Does the event bound what the cause explains? */
bool stall_event_bounds(enum stall_event e, enum culprit c);
/* Return what the event of a name in perf or libpfm4 counts, or NR_STALL_EVENTS for any other name. */
enum stall_event stall_event_of(const char *name);

/* Bounds of 95 % for how many occurrences of an event there were. */
struct stall_count {
	bool recorded;
	double low, high;
};
/* Compute the bounds from an event's samples, each of which stands for a period. Without samples there may have been up to three periods
 * (the upper bound of 95 %). */
struct stall_count stall_count_bounds(double weight, double samples, double weight_squares, double period);
/* Add the bounds of an event to those of another that counts the same (loads and stores). */
void stall_count_add(struct stall_count *sum, double weight, double samples, double weight_squares, double period);

/* The facts that are known about all executions of one block together. */
struct stall_evidence {
	double cycles, best; /* cycles that the block took, and that it takes at best */
	double floor; /* cycles if no instruction waits for another; at most best, and the difference is due to the code itself */
	double executions;
	struct stall_count count[NR_STALL_EVENTS];
	/* Facts of the block's code, per execution. */
	double accesses, loads, divisions, lines; /* memory accesses, loads among them, divisions, lines of code */
	double latency; /* cycles of all instructions one after the other, with first-level hits and without divisions */
	bool mispredicts;  /* a branch that can be mispredicted leads to the block */
	bool forwards;	   /* the block may load what was just stored */
	bool fetched_once; /* the block is in a loop that stays in the first-level cache */
	bool has_chains;   /* best includes dependencies and divisions */
};

struct stall_bounds {
	double stall, unexplained; /* stall: cycles beyond the floor */
	double low[NR_CULPRITS], high[NR_CULPRITS];
};

/* The facts that the code of a block gives about one execution. */
struct block_code {
	double best, floor; /* cycles, as in stall_evidence */
	double accesses, loads, divisions, lines, latency;
	bool simulated; /* llvm-mca computed best */
	bool mispredicts, forwards, fetched_once;
};

struct block_stalls {
	bool known; /* the block has samples, and its executions are known */
	double cycles, best, floor, executions;
	bool simulated;
	struct stall_bounds bounds;
};

/* Bound the causes for all executions of a block. out->known is false if the block has no cycles or no executions. */
void culprits_bound_block(const struct block_code *c, double cycles, double executions, const struct stall_count count[NR_STALL_EVENTS],
			  struct block_stalls *out);
/* Split the kernel's time into page faults, within bounds, and the rest. faults NULL: they were not recorded. is_time: kernel is in
 * nanoseconds. */
void culprits_bound_kernel(double kernel, const struct stall_count *faults, bool is_time, struct stall_bounds *out);
void culprits_bound_stalls(const struct stall_evidence *e, struct stall_bounds *out);
/* Add the bounds of one block to a sum. */
void culprits_add(struct stall_bounds *sum, const struct stall_bounds *b);
/*
 * Order the causes that may explain a noteworthy part, the likeliest first. Return how many, which is 0 if less than a tenth of the cycles
 * was lost, because a best case is not known more precisely.
 */
int culprits_rank(const struct stall_bounds *b, double cycles, enum culprit order[NR_CULPRITS]);
/* Order the causes of a block. Return 0 if only the processor's width is known and the block runs an instruction a cycle. */
int culprits_rank_block(const struct block_stalls *b, enum culprit order[NR_CULPRITS]);

#endif
