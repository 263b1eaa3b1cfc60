/* SPDX-License-Identifier: MIT */
/*
 * From samples to the table: each sample's location, and bottom-up its components by dictionary, tag or call stack.
 *
 * The rule that was never wrong when it was measured against call stacks (40,000 samples): code with a component decides by
 * the dictionary; the tag register is believed only while IP lies in code that keeps it and the check bits fit; otherwise
 * the stack is walked frame by frame until a frame that keeps the tag, or one with a component, decides.
 *
 * Who calls whom, and when each gives up:
 *   attribute_trace()            calls pass_attribute_block() for each block of samples, pass_end() behind the last one.
 *   pass_attribute_block()       asks batch_sums, then fast_path, then attribute_uncached_sample() (all of pass.c) for each sample.
 *   batch_sums_add_known()       counts samples that are like earlier ones; stops at the first that is not.  Not used where rows of their
 *                                own, marks of threads or processors are asked for.
 *   fast_path_find_known()       puts an answer together from lookup_cache; gives up where thread, place or tag is not in there for that
 *                                time, and is not used for lines, stacks and addresses.  batch_sums_learn() learns its answers.
 *   attribute_uncached_sample()  reads the whole sample and calls sample_decide_components(); never gives up.
 *                                lookup_cache_remember() keeps the answer as long as it holds.
 *   sample_decide_components()   decides by dictionary, tag, then stack; gives up with a reason.  attribute_sample() does so for
 *                                a test.
 *   rows                         makes rows of a decision: the parent paths of its components, with their shares.
 * Context: thread.
 */
#ifndef TAILOR_ATTRIBUTE_H
#define TAILOR_ATTRIBUTE_H

#include "analyzer/attribute/stacks.h"
#include "analyzer/model/model.h"
#include "analyzer/table/table.h"
#include "analyzer/unwind/unwind.h"

#include <stdio.h>

#define METHODS(X) \
	X(NONE, "none", "unattributed: reasons say why") \
	X(IP, "ip", "the instruction, by the dictionary alone") \
	X(TAG, "tag", "a tag: register or thread-local word") \
	X(TAG_UNWOUND, "tag-unwound", "the first stack frame with a tag or component") \
	X(STACK, "stack", "the first caller with a component") \
	X(PLAN_WALK, "plan-walk", "the call stack along the plan's nodes")

#define METHOD_INDEX_(NAME, text, sentence) METHOD_##NAME,
enum method { METHODS(METHOD_INDEX_) NR_METHODS };
#undef METHOD_INDEX_

/* Why a sample has no component. */
#define REASONS(X) \
	X(NONE, "", "") \
	X(HOST, "host", "code of the host that no component called") \
	X(NO_DICTIONARY, "no dictionary", "the host declared no components") \
	X(NO_CODE_OBJECT, "no code object", "unregistered code") \
	X(NO_COMPONENT, "no component", "generated code without a component") \
	X(NO_UNWIND_INFO, "no unwind information", "the call stack ends at code without unwind information") \
	X(TRUNCATED, "truncated stack", "the call stack is longer than the recorded stack bytes") \
	X(BROKEN, "broken stack", "the call stack could not be unwound") \
	X(NO_STACK, "no stack", "no stack bytes recorded, and no valid tag") \
	X(NO_FRAME_POINTERS, "no frame pointers", "no caller in the frame-pointer chain has a component") \
	X(NO_REGISTERS, "no registers", "no user registers (not recorded, kernel thread, or exiting process)") \
	X(COMPILER, "JIT compiler", "the host's compiler, which no component called") \
	X(COLLECTOR, "garbage collector", "the host's garbage collector, which no component called") \
	X(QUERY_UNREAD, "query not read", "a query whose plan is not in the trace, or not at that time") \
	X(SEVERAL_NODES, "several nodes", "several nodes of plans run that function, and no register tells which") \
	X(CHAIN_CUT, "truncated chain", "the call stack is longer than the 127 addresses that the kernel records by frame pointers") \
	X(UNSAMPLED, "not sampled", "threads shorter than a period, by what was counted of them")

#define REASON_INDEX_(NAME, text, sentence) REASON_##NAME,
enum reason { REASONS(REASON_INDEX_) NR_REASONS };
#undef REASON_INDEX_

extern const char *const method_names[];
extern const char *const method_sentences[];
extern const char *const reason_names[];
extern const char *const reason_sentences[];

struct function {
	char *name; /* as people read it: symbol, demangled; or image+offset, or [kernel] (of functions without a name) */
	char *mangled; /* one of its symbols, where that is not the name; or NULL */
	uint32_t image;
	bool symbol; /* name is one */
	bool jit;
	bool unknown; /* unregistered code */
	uint32_t plan_pattern; /* plan_codes_pattern() */
	enum reason work; /* REASON_COMPILER or _COLLECTOR, where it is a part of one; else REASON_NONE */
	const char *maker; /* of generated code: the path of the object that mapped it, or the program's; else NULL */
};

struct line {
	char *file;
	uint32_t number;
	bool jit;
	const struct code *code; /* one of those that have it */
};

struct sampled_image {
	char *path;
};

struct attribution {
	struct model *model;
	uint64_t nr_samples;
	uint64_t bad_blocks; /* of samples that did not decode */
	uint64_t first_ns, last_ns;
	/* [0] of each: none */
	struct function *function;
	uint32_t nr_functions;
	struct line *line;
	uint32_t nr_lines;
	struct sampled_image *image;
	uint32_t nr_images;
	struct stacks stacks; /* of TABLE_STACK */
	uint64_t stack_ends[NR_REASONS]; /* samples by why their stack ended there; [REASON_NONE]: it reached the first frame */
	/* generated code */
	uint64_t jit_samples, jit_named, jit_lines;
	bool no_demangle; /* as the options say */
	bool objects_differ; /* names of code objects (host_levels.h) say more than those of functions */
	uint64_t line0_samples; /* where the line table says that there is no line */
};

struct attribute_options {
	bool stack_only; /* ignore tags: compare register tagging with call-stack sampling */
	enum unwind_way unwinder;
	bool without_lines; /* of code that is not generated: they are not looked for, which takes what its debug information does */
	bool addresses;	 /* of samples without one: what the instruction is about to touch, from its bytes and the registers */
	bool stacks;	 /* whole call stacks: attribution.stacks, TABLE_STACK */
	FILE *each;	 /* one line a sample, tab-separated, with a header line; or NULL */
	/* Whether a sample, whose rows are those from first on, has a line in each; context is rows_context.  NULL: all have */
	bool (*shows)(void *context, const struct attribution *a, const struct table *t, uint32_t first);
	bool also_by_stack;	 /* the lines have attribution by the call stack alone, too */
	/* Bit per table column, or 0.  With it no single samples are needed: a row stands for all samples that are alike in these columns
	 * and in TABLE_MODE, and table.sum says what they add up to; other columns hold nothing.  Not TABLE_SAMPLE, TABLE_MEMORY. */
	uint64_t sums_by;
	bool no_demangle; /* names are symbols */
	unsigned threads; /* that decode samples; 0: as many as there are processors.  What comes out is the same */
	const char *run_mark; /* name of the marks that TABLE_PHASE counts: "run" */
	/* Called with rows as they come, a block at a time, or NULL; what they index is in a.  0, or -errno to stop. */
	int (*rows)(void *context, const struct attribution *a, const struct table *rows);
	void *rows_context;
	void (*progress)(void *context, uint64_t at, uint64_t total);
	void *progress_context;
};

/* 0, or -errno (of rows(), or -ENOMEM) with a sentence. */
int attribute_trace(struct trace_reader *t, struct model *m, const struct attribute_options *o, struct attribution **out, struct diag *d);
/* A symbol as functions' names show it; the caller frees it. */
char *attribution_name_of_symbol(const struct attribution *a, const char *symbol);
/* What a node of the stacks is of, as TABLE_FUNCTION, _LINE, _IMAGE or a level have it; 0: nothing. */
uint32_t attribution_of_frame(const struct attribution *a, uint32_t node, enum table_column column);
/* Do samples of a trace have call stacks, as bytes (its events say so) or as return addresses (its first blocks of samples do)? */
bool attribute_has_stacks(struct trace_reader *t, const struct model *m);
/* Time of the earliest sample of a trace but for records of switches, as rows have it; 0 without samples. */
uint64_t attribute_first_sample_ns(struct trace_reader *t, const struct model *m);
void attribution_destroy(struct attribution *a);
/* What it holds, and not itself. */
void attribution_fini(struct attribution *a);

#endif
