/* SPDX-License-Identifier: MIT */
/*
 * Bounds the causes why a block of code took more cycles than at best, each from below and from above, by elimination (J. Anderson et al.,
 * Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6.3). Every cause may explain all lost cycles, unless the
 * samples of its event, or the code itself, limit that. Cycles that no cause can explain are unexplained. README.md beside this file has
 * the method and the costs. Context: any.
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

/* Return the key of a cause in output for programs, and its name in tables. */
const char *culprit_key(enum culprit c);
const char *culprit_name(enum culprit c);

/*
 * These are the least and the most cycles that one occurrence costs on processors with out-of-order execution since 2010. The least is what
 * such a processor cannot hide. The most is generous, because if it were too small, other causes would be blamed for the rest. Mispredicted
 * branches: 10 to 20 cycles, and more if the target's code must be fetched (A. Fog, The microarchitecture of Intel, AMD and VIA CPUs,
 * sections "Branch prediction"). Lines from memory: at least 64 bytes at the 16 bytes a cycle that one core's path to memory could carry,
 * at most some 100 ns at 5 GHz. Divisions: A. Fog, Instruction tables (DIV, IDIV, DIVSD: reciprocal throughput from 3, latency of DIV r64
 * up to 100). Loads that must wait for a store that cannot be forwarded: 10 to 20 cycles (ibid.).
 */
#define COST_BRANCH_LEAST 10
#define COST_BRANCH_MOST 30
#define COST_MEMORY_LEAST 4
#define COST_MEMORY_MOST 500
#define COST_CACHE_MOST 80 /* cycles; a cache line from a cache behind the first one */
#define COST_WALK_MOST 500 /* cycles; a page walk whose tables are partly in memory */
#define COST_STORE_FORWARD_LEAST 5
#define COST_STORE_FORWARD_MOST 25
#define COST_DIVISION_LEAST 3
#define COST_DIVISION_MOST 100
#define COST_CODE_MOST 200 /* cycles; a line of code that is not in the first-level cache */
#define COST_FAULT_LEAST 500 /* cycles in the kernel; its entry and return alone take so many */
#define COST_FAULT_MOST 500000 /* cycles; a huge page that is zeroed, or a page that is read from a file */

#define ISSUE_WIDTH 6 /* instructions a cycle that the best case assumes, apart from fused ones */

/* An event whose samples bound a cause counts one of these. */
enum stall_event {
	STALL_LAST_CACHE, /* cache lines that came from memory */
	STALL_FIRST_CACHE, /* cache lines that were not in the first-level cache */
	STALL_WALK,
	STALL_BRANCH,
	STALL_STORE_FORWARD,
	STALL_DIVISION_CYCLES,
	STALL_CODE,
	STALL_FAULT,
	NR_STALL_EVENTS,
};
/* Return whether samples of such an event bound what the cause can explain. */
bool stall_event_bounds(enum stall_event e, enum culprit c);
/* Return what an event counts, by its name in perf or libpfm4, or NR_STALL_EVENTS if it bounds no cause. name may be NULL. */
enum stall_event stall_event_of(const char *name);

/* low, high: 95 % bounds of how often something happened; recorded: the trace has an event that counts it */
struct stall_count {
	bool recorded;
	double low, high;
};
/* Return the bounds for an event whose samples stand for a period each. Without any samples, there may have been up to three periods. */
struct stall_count stall_count_bounds(double weight, double samples, double weight_squares, double period);
/* Add the bounds of an event to those of others that count the same thing, such as loads and stores. */
void stall_count_add(struct stall_count *sum, double weight, double samples, double weight_squares, double period);

/* The evidence is of all executions of one block together. */
struct stall_evidence {
	double cycles, best; /* cycles: those that the block took; best: those that it takes at best */
	/* cycles if no instruction waited for another; at most best, and the difference is waits that the code itself causes */
	double floor;
	double executions;
	struct stall_count count[NR_STALL_EVENTS];
	/* The members below are about the block's code, for one execution. */
	/* accesses: all memory accesses; loads: those that load; lines: cache lines that the block's code may be on */
	double accesses, loads, divisions, lines;
	/* cycles of all instructions one after the other, if loads hit the first-level cache, without divisions; infinite: no bound */
	double latency;
	bool mispredicts;  /* the block is reached in a way that can be mispredicted */
	bool forwards;	   /* the block loads and stores, so it may load what was just stored */
	bool fetched_once; /* the block is in a loop that stays in the first-level cache, and is fetched once */
	bool has_chains;   /* best includes the waits for results and divisions, because it was simulated */
};

struct stall_bounds {
	double stall, unexplained; /* stall: cycles beyond the floor; unexplained: those of them that no cause explains */
	double low[NR_CULPRITS], high[NR_CULPRITS];
};

/* The code of a block alone tells these facts about one execution. Members that struct stall_evidence also has mean the same, but per
 * execution. */
struct block_code {
	double best, floor; /* cycles of one execution */
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
/* Add the kernel's time to *out, split into page faults, within bounds, and the rest. faults is NULL if they were not recorded. is_time:
 * kernel is in nanoseconds, and not in cycles. */
void culprits_bound_kernel(double kernel, const struct stall_count *faults, bool is_time, struct stall_bounds *out);
/* Bound the causes by this evidence, as culprits_bound_block() does for a block. */
void culprits_bound_stalls(const struct stall_evidence *e, struct stall_bounds *out);
/* Add the bounds of one block to a sum. */
void culprits_add(struct stall_bounds *sum, const struct stall_bounds *b);
/*
 * Order the causes that may explain a noteworthy part, the likeliest first. Return how many, which is 0 if less than a tenth of the cycles
 * was lost, because a best case is not known more precisely.
 */
int culprits_rank(const struct stall_bounds *b, double cycles, enum culprit order[NR_CULPRITS]);
/* Order the causes of a block in the same way. Return 0 also if the block is not known, or if its best case was not simulated and it ran
 * about an instruction a cycle or more, because then the best case is only the processor's width. */
int culprits_rank_block(const struct block_stalls *b, enum culprit order[NR_CULPRITS]);

#endif
