/* SPDX-License-Identifier: MIT */
/*
 * The rules of attribution are one plain function, attribute_sample(), of a sample, the model, and an unwinder.  Caches only repeat answers
 * of this function (CACHES.md).
 *
 *  1. The place is the instruction in user space: the sample's own, or for a sample in the kernel the one that the user's registers
 *     name.  Without a place only rule 7 can decide, else the reason is "no registers".
 *  2. Code at the place with a component of its own decides (method "ip").  Code between two lines that have components gives a half to
 *     each.  A shared component (JITREG_COMPONENT_SHARED) does not decide, and its callers are asked.
 *  3. If the host declared no dictionary, the levels that its functions and lines make (host_levels.h) decide in the same way.  If it
 *     did, they are taken from the first frame that has them and added to whatever else decides. If nothing else does, they decide.
 *  4. The tag in force at the sample's time decides (method "tag") if it can be believed: check bits fit, and a field names a component.
 *     A word in memory is believed anywhere, a register only in code that preserves it.
 *  5. Otherwise the stack is walked from caller to caller.  The first frame decides whose code preserves the tag's register, if the
 *     register is known and believed there, or whose code has a component that is not shared.  The method is "tag-unwound", or "stack" if
 *     no tag in a register is in force.  Return addresses alone (a chain) restore no register, so only code decides (method "stack").
 *  6. If no frame decides and the process announced objects (jitreg_object()), the frames that work on them lead along the plan to a node
 *     (method "plan-walk", analyzer/objects/plan_walk.h).  Objects with JITREG_OBJECT_EVERYWHERE add their components in any case, on
 *     levels where nothing decided.
 *  7. If still nothing decides and the thread is in a task of PLAN_CODE records (model_find_task()), the task decides, and with it the part
 *     of its plan that a function on the stack works for.
 *  8. If nothing decides, the answer has a reason (enum reason).
 *
 * Code, tags, and links of the dictionary are those of the sample's time.  Tags are not used with stack_only.
 * Context: thread.
 */
#ifndef TAILOR_ATTRIBUTE_SAMPLE_H
#define TAILOR_ATTRIBUTE_SAMPLE_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/attribute/locate.h"
#include "analyzer/attribute/programs.h"
#include "analyzer/unwind/unwind.h"

#define DECIDING_MAX TABLE_LEVELS

/* These components decided about a sample. Each is of a different level. */
struct deciding_components {
	uint32_t nr;
	uint32_t component[DECIDING_MAX];
	/* component of the line after an instruction that has no line, if it differs from that of the line before, which is component[0];
	 * else COMPONENT_NONE */
	uint32_t shared_half;
};

/* This is a sample as the trace has it. Its stack is valid until the next sample of the block is read, and its chains until the next block
 * is decoded. */
struct sample {
	uint64_t time_ns;
	uint64_t ip;	   /* the sampled instruction */
	uint64_t user_ip;  /* the instruction in user space; 0: unknown */
	uint64_t tag_word; /* valid if has_tag_word */
	uint32_t pid, tid, mode, event;
	bool has_registers; /* registers of a 64-bit program were recorded, and user_ip is not 0 */
	bool has_tag_word;  /* has_registers, and the block has tag words (SAMPLE_TAG_WORD), which a handler in the thread reads */
	bool leaves;	    /* the thread leaves its processor: its row has the place in user space, although the kernel was sampled */
	struct unwind_input input;
	const uint64_t *chain; /* return addresses by frame pointers; NULL: not recorded */
	uint32_t chain_nr;
	const uint64_t *kernel_chain; /* return addresses in the kernel */
	uint64_t kernel_nr;
};

/* Attribution reads these data. It adds only names, locations, processes, threads, callers, and components of lines, of host levels and of
 * functions that plans call, when they are first needed. */
struct sample_world {
	struct model *model;
	struct locator *locator;
	struct unwinder *unwinder;
	enum unwind_way way;
	const char *run_mark;
	bool stack_only; /* do not use tags */
};

/* An instruction has this code and location in [from_ns, until_ns). */
struct sample_place {
	const struct code *code;
	uint32_t location; /* index in the locator; without code that of the unknown location */
	uint64_t from_ns, until_ns;
};

/* A sample's answer depends on these parts of it, besides the process. */
enum answer_scope {
	ANSWER_OF_SAMPLE, /* all of the sample */
	ANSWER_OF_PLACE,  /* the place, for as long as the same code is there */
	ANSWER_OF_PLACE_ALONE, /* the place: nothing decides about any sample there that has registers and neither stack nor chain */
	ANSWER_OF_TAG,	  /* the place and the value of the tag, as long as the same tag is in force */
};

struct sample_answer {
	enum method method;
	enum reason reason;
	struct deciding_components deciding;
	uint32_t caller; /* number in model.callers of what called the query that the sample is in; CALLER_NONE: nothing did */
	uint32_t caller_function; /* index of the function of the last frame that decided or added a component; 0: there is none */
	uint32_t untagged;	  /* 1 + location of the first caller whose preserved tag names no component; 0: none */
	uint64_t untagged_value;  /* value of the tag's register in that frame */
	enum answer_scope scope;
	const struct tag *tag; /* the tag in force; NULL: none, or not asked for.  Its value and times are set for ANSWER_OF_TAG */
	uint64_t tag_value;
	struct time_range tag_holds; /* time range in which that value of the tag means those components */
	uint64_t from_ns, until_ns; /* the answer holds in [from, until) for all samples that are alike by its scope */
};

/* This is the whole attribution of a sample. */
struct sample_attribution {
	struct sample_answer answer;
	struct expansion paths; /* components of all levels with shares, upwards from those that decided */
	const struct process *process;
	const struct code *code; /* NULL: the sample was not in user space, or in unregistered code */
	uint32_t thread, location, phase; /* location: the one that the row shows */
};

/* Reads sample i of a block. Samples should be read in order, because their stacks are stored as changes (sample_block_stack()). */
void sample_read(struct sample_block *b, uint32_t i, struct sample *out);

/* Attributes a sample by the rules above.  Returns false if memory ran out. */
bool attribute_sample(const struct sample_world *w, const struct sample *s, struct sample_attribution *out);

/* These are the parts of attribute_sample().  For what no cache knows, pass.c calls them one by one. */
struct sample_place sample_find_place(const struct sample_world *w, const struct process *p, uint64_t address, uint64_t time_ns);
void sample_decide_components(const struct sample_world *w, const struct sample *s, const struct process *p, const struct sample_place *at,
			      struct sample_answer *out);
/* Returns the location that the row shows: in the kernel for a sample there, unless its thread leaves its processor and user_ip is known.
 * place: the location in user space. */
uint32_t sample_row_location(const struct sample_world *w, const struct sample *s, uint32_t place);
/* Returns the location of a sample that was not in user space. */
uint32_t sample_kernel_location(const struct sample_world *w, uint32_t mode, uint64_t ip);
/* Finds the parent paths, at a time, of the components that decided (dictionary_expand_components()).  With shared_half, the paths of each
 * of the two components have half of the sample. */
void sample_expand_components(const struct dictionary *d, const struct deciding_components *of, uint64_t time_ns, struct expansion *out);
/* Returns 1 + the index of the run mark (sample_world.run_mark) that the thread is in, or that contains the mark that the thread is in.
 * Without one, returns that of the run mark that began last of those that cover all threads of this process, or of one that it was
 * forked from, at that time. Returns 0 if there is none. The answer holds in [time_ns, *until_ns). */
uint32_t sample_find_phase(const struct model *m, const struct process *p, uint32_t tid, const char *run_mark, uint64_t time_ns,
			   uint64_t *until_ns);
/* Returns the location of a frame. Its number is kept in f->note, which the unwinder keeps with its rule for the address, so that later
 * frames there need no look-up. Frames that an interpreter runs are looked up each time. The result is valid until the next location is
 * added. */
const struct location *sample_frame_location(const struct sample_world *w, const struct process *p, const struct sample *s,
					     const struct unwind_frame *f, const struct program_callee *callee);
/* Returns the address that a frame is looked up by: its own, or for a frame of an interpreter, or of code that has called one, that of
 * the code being interpreted. callee: the frame that it has called. */
uint64_t sample_frame_address(const struct process *p, const struct sample *s, const struct unwind_frame *f,
			      const struct program_callee *callee);
/* Returns the same for the sample's own instruction in user space, which must be known. */
uint64_t sample_user_address(const struct process *p, const struct sample *s);
/* Stores the components, at most max, of the node that a walk along a plan has reached, and returns their number. Sets *caller to the
 * number of the caller of the query that the node is in. */
struct plan_walk;
uint32_t sample_plan_components(struct model *m, const struct plan_walk *w, const struct process *p, uint32_t *component, uint32_t max,
				uint32_t *caller);
/* Returns the reason for a sample whose stack was walked to end without a frame that decided. */
enum reason sample_reason_of_unwind_end(const struct model *m, enum unwind_end end, const struct sample *s);
/* Checks whether a chain of frame pointers has as many addresses as the kernel records by default (kernel.perf_event_max_stack), so that
 * it may be cut.  If the limit was set to another number, the trace does not say so. */
#define KERNEL_CHAIN_ADDRESSES 127u
bool sample_chain_is_cut(const struct sample *s);

/* Checks whether a reason says only that the stack led to no component.  Then the work that the function or thread does for the host
 * (REASON_COMPILER, REASON_COLLECTOR) is a better reason. */
bool sample_reason_is_of_host(enum reason why);

#endif
