/* SPDX-License-Identifier: MIT */
/*
 * Attribution turns samples into rows of the sample table: it finds each sample's location, and bottom-up its components, by dictionary,
 * tag or call stack.
 *
 * The rule in short is as follows (attribute_sample.h has all of it). It was never wrong when it was measured against call stacks (40,000
 * samples). Code with a component of its own decides by the dictionary. The tag register is believed only while IP lies in code that
 * preserves it and the check bits fit. Otherwise the stack is walked frame by frame until a frame that preserves the tag, or one with a
 * component, decides.
 *
 * The functions call each other in this order, and each leaves to the next what it does not know:
 *   attribute_trace()            calls pass_attribute_block() for each block of samples, and pass_end() after the last one.
 *   pass_attribute_block()       asks batch_sums, then fast_path, then attribute_uncached_sample() (in pass.c) for each sample.
 *   batch_sums_add_known()       counts samples that are like earlier ones, and stops at the first that is not. It is used only where
 *                                fast_path_find_known() is, and not if views need a row per sample or per processor, if the trace has
 *                                marks of threads, or for events from PASS_SUMS_MAX on.
 *   fast_path_find_known()       puts an answer together from lookup_cache. It fails if thread, place or tag is not in there for that
 *                                time. It is not used for lines, stacks, addresses and samples of threads that leave their processor.
 *                                batch_sums_learn() learns its answers.
 *   attribute_uncached_sample()  reads the whole sample. Unless the place alone decides, it calls sample_decide_components(), which
 *                                always has an answer. lookup_cache_remember() keeps the answer if other samples can use it.
 *   sample_decide_components()   decides by dictionary, tag, then stack, or gives a reason why nothing decides.  Tests call it by way of
 *                                attribute_sample().
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

/* A sample without a component has one of these reasons. */
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
	char *name; /* shown in views: the demangled symbol, or without one a made name such as image+offset, [kernel] or [unknown] */
	char *mangled; /* one of the function's symbols, if it is not the name, else NULL */
	uint32_t image;
	bool symbol; /* the name is a symbol */
	bool jit;
	bool unknown; /* unregistered code */
	uint32_t plan_pattern; /* 1 + index of the PLAN_CODE pattern that the name begins with (plan_codes_pattern()); 0: none */
	enum reason work; /* REASON_COMPILER or REASON_COLLECTOR if the function is part of one, else REASON_NONE */
	/* Symbol of another function that a linker has folded into this one, and how many such there are; NULL: none is known */
	const char *folded;
	uint32_t nr_folded;
	char *label; /* name with what attribution_also() says, if that is not "", else NULL; read it by function_label() */
	uint32_t nr_same; /* sampled functions beside the first one whose symbols stand for the same name (Rust's older scheme) */
	/* place of the declaration, whose file belongs to the ELF object, if attribute_options.declarations asks for it */
	struct elf_declaration declared;
	const char *maker; /* generated code: path of the object or program that made it, or "" if that is unknown; else NULL */
};

struct line {
	char *file;
	uint32_t number;
	bool jit;
	const struct code *code; /* one of the code objects that have the line */
};

struct sampled_image {
	char *path;
};

struct attribution {
	struct model *model;
	uint64_t nr_samples;
	uint64_t bad_blocks; /* sample blocks that do not decode, or are of no declared event */
	uint64_t first_ns, last_ns;
	/* Index 0 of each array means none. */
	struct function *function;
	uint32_t nr_functions;
	struct line *line;
	uint32_t nr_lines;
	struct sampled_image *image;
	uint32_t nr_images;
	struct stacks stacks; /* the tree that TABLE_STACK has nodes of */
	uint64_t stack_ends[NR_REASONS]; /* samples by the reason why their stack is incomplete; [REASON_NONE]: complete stacks */
	/* Samples in generated code: all of them, those with a symbol, and those with a line. */
	uint64_t jit_samples, jit_named, jit_lines;
	bool no_demangle; /* attribute_options.no_demangle */
	bool objects_differ; /* some code object (host_levels.h) has another name than its function, so both levels are worth showing */
	uint64_t line0_samples; /* samples in generated code at instructions for which the line table says that they have no line */
};

struct attribute_options {
	bool stack_only; /* ignore tags, to compare register tagging with call-stack sampling */
	enum unwind_way unwinder;
	bool without_lines; /* do not look up lines of code that is not generated, which saves reading its debug information */
	bool declarations; /* find where functions are declared */
	bool addresses;	 /* find TABLE_MEMORY, and compute data addresses that samples lack, from instructions' bytes and registers */
	bool stacks;	 /* collect whole call stacks, for attribution.stacks and TABLE_STACK */
	FILE *each;	 /* file for one line per sample, tab-separated, with a header line; or NULL */
	/* Returns whether the sample whose rows begin at first gets a line in each.  context is rows_context.  NULL: every sample gets
	 * one. */
	bool (*shows)(void *context, const struct attribution *a, const struct table *t, uint32_t first);
	bool also_by_stack;	 /* the lines also show the attribution by the call stack alone */
	/* Bit per table column, or 0 if each sample is to have rows of its own. Otherwise a row stands for all samples that are alike in
	 * these columns and in TABLE_MODE, table.sum holds their sums, and the numbers in other columns mean nothing. TABLE_SAMPLE and
	 * TABLE_MEMORY cannot be asked for. */
	uint64_t sums_by;
	bool no_demangle; /* functions are named by their mangled symbols */
	unsigned threads; /* threads that decode samples, as for sample_stream_open().  The result is the same with any number */
	const char *run_mark; /* name of the marks whose numbers TABLE_PHASE holds, such as "run" */
	/* attribute_trace() calls this with each block of rows, whose numbers are indexes into a and its model. It returns 0, or -errno
	 * to stop. It may be NULL. */
	int (*rows)(void *context, const struct attribution *a, const struct table *rows);
	void *rows_context;
	void (*progress)(void *context, uint64_t at, uint64_t total);
	void *progress_context;
};

/* Attributes all samples of a trace, and hands their rows to o->rows(). Returns 0, or -errno with a sentence in d: the error of rows() or
 * of unwinder_create(), -ENOMEM, or -E2BIG if the trace's budget is spent. *out is set on success only, and the caller destroys it. */
int attribute_trace(struct trace_reader *t, struct model *m, const struct attribute_options *o, struct attribution **out, struct diag *d);
/* Returns a symbol as it is shown in names of functions: demangled, unless no_demangle is set. The caller frees it. Returns NULL if
 * memory ran out. */
char *attribution_name_of_symbol(const struct attribution *a, const char *symbol);
/* Returns what a function's row also stands for, as "= NAME" or "2 functions of this name", or "". */
#define FUNCTION_ALSO 160
const char *attribution_also(const struct attribution *a, const struct function *f, char text[FUNCTION_ALSO]);
/* Makes a function's label anew. It stays NULL if memory runs out. */
void attribution_make_label(const struct attribution *a, struct function *f);
/* Returns the name that people are shown: "encode", or "encode (= checksum)" if the function stands for others, too. Code that compares or
 * filters names uses function.name. While samples are read, the number of functions of one name is not in labels yet. */
static inline const char *function_label(const struct function *f)
{
	return f->label ? f->label : f->name;
}
/* Returns the number of bytes of the name in a label. All of a text that is no label is its name. */
size_t function_label_name_bytes(const char *label);
/* Returns the number that a node of the stacks has in a column: TABLE_FUNCTION, TABLE_LINE, TABLE_IMAGE or a level. Returns 0 if it has
 * none. Nodes that are no frame (STACK_CUT) have none in any column. */
uint32_t attribution_of_frame(const struct attribution *a, uint32_t node, enum table_column column);
/* Checks whether samples of a trace have call stacks. They do if an event is declared with stack bytes, or if one of the first two blocks
 * of samples has stack bytes or return addresses. Moves t in the second case. */
bool attribute_has_stacks(struct trace_reader *t, const struct model *m);
/* Returns the time of the earliest sample of a trace, not counting those of events with is_switch, which are no samples of code. Returns
 * 0 if there are no samples. Moves t. */
uint64_t attribute_first_sample_ns(struct trace_reader *t, const struct model *m);
/* Returns the first event that counts code and has samples, or 0 if none has.  A recording of several events may have no sample of its
 * first one: page faults that did not happen, or a kind of processor that did not run.  Moves t. */
uint32_t attribute_first_event(struct trace_reader *t, const struct model *m);
void attribution_destroy(struct attribution *a);
/* Frees what the attribution holds, but not the attribution itself. */
void attribution_fini(struct attribution *a);

#endif
