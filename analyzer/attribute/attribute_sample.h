/* SPDX-License-Identifier: MIT */
/*
 * The rules of attribution: one plain function of a sample, of what the model knows, and of an unwinder.  Everything that is faster
 * hands out answers of this function again (CACHES.md).
 *
 *  1. The place is the instruction in user space: the sample's own, or for a sample in the kernel the one that the user's registers
 *     name.  Without one nothing decides: no registers.
 *  2. Code at the place with a component of its own, or between two lines that have some (each gets a half), decides: ip.  A component
 *     that is shared (JITREG_COMPONENT_SHARED) does not; its callers are asked.
 *  3. Where the host declared no dictionary, the levels that its functions and lines make (host_levels.h) decide in the same way.  Where it
 *     did, they come along with whatever else decides, from the first frame that has them.
 *  4. The tag in force at the sample's time decides if it can be believed: check bits fit, and a field names a component.  A word in
 *     memory is believed anywhere, a register only in code that keeps it: tag.
 *  5. Else the stack is walked, from caller to caller: the first frame whose code keeps the tag's register, which is known there and
 *     believed, decides (tag-unwound), or the first whose code has a component that is not shared (tag-unwound; without a tag
 *     register: stack).  Return addresses alone (a chain) restore no register: only code decides, stack.
 *  6. Where nothing decides, the answer has a reason: enum reason.
 *
 * All is asked as of the sample's time: code, tags, and links of the dictionary.  Tags are left out with stack_only.
 * Context: thread.
 */
#ifndef TAILOR_ATTRIBUTE_SAMPLE_H
#define TAILOR_ATTRIBUTE_SAMPLE_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/attribute/locate.h"
#include "analyzer/unwind/unwind.h"

#define DECIDING_MAX TABLE_LEVELS

/* What decided: components of different levels. */
struct deciding_components {
	uint32_t nr;
	uint32_t component[DECIDING_MAX];
	uint32_t shared_half; /* the second parent of an instruction between two lines, or COMPONENT_NONE */
};

/* A sample as the trace has it; what it points to is the block's. */
struct sample {
	uint64_t time_ns;
	uint64_t ip;	   /* that was sampled */
	uint64_t user_ip;  /* the instruction in user space; 0: not known */
	uint64_t tag_word; /* if has_tag_word */
	uint32_t pid, tid, mode, event;
	bool has_registers; /* and user_ip is not 0 */
	bool has_tag_word;  /* a handler in the thread could read it */
	bool leaves;	    /* its processor: the row has the place in user space, although it always is in the kernel */
	struct unwind_input input;
	const uint64_t *chain; /* return addresses by frame pointers; NULL: were not recorded */
	uint32_t chain_nr;
	const uint64_t *kernel_chain; /* return addresses in the kernel */
	uint64_t kernel_nr;
};

/* Whom it is asked of.  Only what was not asked for before is added there: names, locations, and components of host levels. */
struct sample_world {
	struct model *model;
	struct locator *locator;
	struct unwinder *unwinder;
	enum unwind_way way;
	const char *run_mark;
	bool stack_only; /* leave tags out */
};

/* What lies at an instruction, and for how long: [from, until). */
struct sample_place {
	const struct code *code;
	uint32_t location; /* in the locator; unknown without code */
	uint64_t from_ns, until_ns;
};

/* What an answer depends on, beside the process. */
enum answer_scope {
	ANSWER_OF_SAMPLE, /* all of the sample */
	ANSWER_OF_PLACE,  /* the place, for as long as the same code is there */
	ANSWER_OF_PLACE_ALONE, /* the place: nothing decides about any sample there that has registers and neither stack nor chain */
	ANSWER_OF_TAG,	  /* the place, and the value of the tag in force; ... and the same tag is in force */
};

struct sample_answer {
	enum method method;
	enum reason reason;
	struct deciding_components deciding;
	uint32_t caller_function; /* the frame that decided */
	uint32_t untagged;	  /* 1 + location of the first frame that keeps the tag's register, and holds no component in it; 0: none */
	uint64_t untagged_value;  /* what that register holds there */
	enum answer_scope scope;
	const struct tag *tag; /* in force; of ANSWER_OF_TAG: */
	uint64_t tag_value;
	struct time_range tag_holds; /* when the value, under that tag, means those components */
	uint64_t from_ns, until_ns; /* when the same question has the same answer, by its scope: [from, until) */
};

/* All of a sample's row. */
struct sample_attribution {
	struct sample_answer answer;
	struct expansion paths; /* components of all levels with shares, from what decided upwards */
	const struct process *process;
	const struct code *code; /* NULL where the sample was not in user space */
	uint32_t thread, location, phase; /* location: where the row says that it was */
};

/* Sample i of a block; in order (sample_block_stack()). */
void sample_read(struct sample_block *b, uint32_t i, struct sample *out);

/* THE function.  false: without memory. */
bool attribute_sample(const struct sample_world *w, const struct sample *s, struct sample_attribution *out);

/* Its parts, of which the driver asks those that no cache knows. */
struct sample_place sample_find_place(const struct sample_world *w, const struct process *p, uint64_t address, uint64_t time_ns);
void sample_decide_components(const struct sample_world *w, const struct sample *s, const struct process *p, const struct sample_place *at,
			      struct sample_answer *out);
/* The location of the row.  place: the location in user space. */
uint32_t sample_row_location(const struct sample_world *w, const struct sample *s, uint32_t place);
/* The location of a sample that was not in user code. */
uint32_t sample_kernel_location(const struct sample_world *w, uint32_t mode, uint64_t ip);
/* All parent paths of what decided at a time. */
void sample_expand_components(const struct dictionary *d, const struct deciding_components *of, uint64_t time_ns, struct expansion *out);
/* 1 + the run mark that the thread is in, by itself or as part of it; else the innermost one that holds the time in this process or one
 * that it was forked from; 0: none.  Holds in [time, *until). */
uint32_t sample_find_phase(const struct model *m, const struct process *p, uint32_t tid, const char *run_mark, uint64_t time_ns,
			   uint64_t *until_ns);
/* The location of a frame; the unwinder keeps it beside the frame's rule. */
const struct location *sample_frame_location(const struct sample_world *w, const struct process *p, const struct sample *s,
					     const struct unwind_frame *f);
/* What a frame is looked up by: its own address, or, in an interpreter's code, where it is in the program. */
uint64_t sample_frame_address(const struct process *p, const struct sample *s, const struct unwind_frame *f);
/* Likewise of the sample's own instruction in user space, which is known. */
uint64_t sample_user_address(const struct process *p, const struct sample *s);
/* What a walk along a plan has found by now: components, at most max; returns how many. */
struct plan_walk;
uint32_t sample_plan_components(const struct model *m, const struct plan_walk *w, const struct process *p, uint32_t *component,
				uint32_t max);
/* The reason when a walk ended without a frame that decides. */
enum reason sample_reason_of_unwind_end(const struct model *m, enum unwind_end end, const struct sample *s);
/* Is a chain of frame pointers as long as the kernel makes them?  Its default is kernel.perf_event_max_stack; what may be more, and where
 * that is another number, no trace tells. */
#define KERNEL_CHAIN_ADDRESSES 127u
bool sample_chain_is_cut(const struct sample *s);

/* A reason for which it may be said instead what the host did: its stack led to no component. */
bool sample_reason_is_of_host(enum reason why);

#endif
