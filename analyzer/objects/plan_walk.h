/* SPDX-License-Identifier: MIT */
/*
 * Finds the node of a plan that a call stack is in, if an engine interprets plans and announces their nodes as objects (jitreg_object()).
 * The walk goes from the outermost frame inwards, and down the tree of the objects that live at the time of the sample. The function of a
 * frame is known by its FDE, so no symbols are needed. Of the following rules, the first one that fits a frame decides:
 *
 *   0. A function with a step word (jitreg_step_word()): the word has the address of a step. That step, and the object that executes it,
 *      are found, whatever was found before.
 *   1. A function of a class of work (JITREG_OBJECT_CLASS): the class decides from this frame inwards, also at frames of other classes,
 *      until a frame of rule 0 or 2. A function that a node calls (JITREG_OBJECT_CALLED) is found by a register or a word of the frame,
 *      and decides until the function that it calls, or a class that works for it.
 *   2. A function of objects without an upper one: a tree begins here. Its outermost object is the one whose address is in a register that
 *      calls preserve, as the unwinder restored it at the frame. If all these registers are known and none holds such an object, the object
 *      was not announced (a query that was not read), and nothing below it is known. There are two exceptions. The host may say that there
 *      is one object at a time (JITREG_OBJECT_ALONE). Or not all registers are known, because a call chain restores none, and there is only
 *      one object. If there are several, none of them is found.
 *   3. Any other function of objects, if an object was found before. The frame belongs to the found object itself if that has the function,
 *      none of its frames was of this function yet, and no register holds an object below it with the function. (A scan that calls its
 *      access method is the same object, but a scan in whose filter another scan runs is not.) Otherwise the frame belongs to one of the
 *      nearest objects below with the function. If there are none, it belongs to one below the nearest object around the found one that has
 *      any, because a subplan is called where its result is needed, and in a pipeline the operator that takes rows calls the one that
 *      passes them on. Of several such objects, it is the one that a register holds (in the innermost frame also rdi); or the one with the
 *      first component of an object that a register holds, because the part of an operator in the running pipeline is an object of its own;
 *      or the only one whose address is in a word of the frame, where compilers keep values that have no register. If none of these
 *      decides, only the object above them is known, until a frame of a function that only one of them has.
 *   4. Any other function, if nothing was found before, because the stack is truncated: the object with the function that a register or a
 *      word of the frame holds, or else the only object with the function.
 *
 * In PostgreSQL 15, 223,243 samples of ten queries were compared with the nodes that a test extension writes to the stack. 97.1 % of
 * samples are on a node, and 99.9 % of these nodes are right. The path alone decides 91 %. Taking an address from any register of any
 * frame was wrong in 6 %.
 * Context: thread.
 */
#ifndef TAILOR_PLAN_WALK_H
#define TAILOR_PLAN_WALK_H

#include "analyzer/objects/objects.h"
#include "analyzer/unwind/unwind.h"
#include "jitreg/base/grow.h"

#define PLAN_REGISTERS 7
#define PLAN_FUNCTIONS 4
/* maximum number of words of a frame that are searched for addresses of objects; the words of a larger frame are not looked at */
#define PLAN_SLOTS_MAX 256u

/* A frame is added if some object, or a step word, has its function. */
struct plan_frame {
	uint64_t function;
	/* values of the registers that calls preserve and that are known, in the order of their numbers; then rdi, in the innermost
	 * frame */
	uint64_t held[PLAN_REGISTERS];
	uint32_t nr_held;
	bool all_known; /* all registers that calls preserve are known */
	const unsigned char *slots; /* the frame's words in the sample's copy of the stack, valid as long as that copy; NULL: not known */
	uint32_t nr_slots;
	uint64_t step;	/* address of the step that it executes, or 0 without a step word */
	uint32_t note; /* a number of the caller's, which is not used here */
};

/* The frames of a stack are stored innermost first. */
struct plan_frames {
	ARRAY_OF(struct plan_frame); /* on the heap, freed by the owner */
};

/* Add the next frame outwards if some object, or a step word, has its function. The frame is left out if memory runs out. input: the stack
 * that it is on, or NULL if none was copied. This also ends the words of the frame that was added before. */
void plan_frames_add(struct plan_frames *to, const struct objects *o, const struct unwind_frame *f, const struct unwind_input *input,
		     uint32_t note);

enum plan_state {
	PLAN_NOTHING, /* nothing found yet */
	PLAN_FOUND,
	PLAN_LOST,   /* in some node below object, or, if that is OBJECT_NONE, in any node */
	PLAN_UNREAD, /* in a plan that was not announced */
};

#define PLAN_CALLERS_MAX 32

/* This struct is a place in a plan. root: number of trees that the walk had entered; object: OBJECT_NONE if no node is known; class: one of
 * work, or a called function. */
struct plan_place {
	uint32_t root, object, class;
};

struct plan_walk {
	struct objects *objects;
	uint32_t process; /* index */
	uint64_t time_ns;
	enum plan_state state;
	uint32_t object, class; /* OBJECT_NONE: none */
	struct object_component step; /* the step that was found last, whose object is step_of; it counts only while object is step_of */
	uint32_t step_of;
	/* the places, from the outermost inwards, that called a function or a query inside of a query, where the walk went on; those
	 * beyond PLAN_CALLERS_MAX are left out */
	struct plan_place caller[PLAN_CALLERS_MAX];
	uint32_t nr_callers, nr_roots;
	uint64_t used[PLAN_FUNCTIONS]; /* functions of the frames of the object so far, of which the last PLAN_FUNCTIONS are kept */
	uint32_t nr_used;
};

static inline void plan_walk_begin(struct plan_walk *w, struct objects *o, uint32_t process, uint64_t time_ns)
{
	w->objects = o;
	w->process = process;
	w->time_ns = time_ns;
	w->state = PLAN_NOTHING;
	w->object = w->class = w->step_of = OBJECT_NONE;
	w->nr_callers = w->nr_roots = w->nr_used = 0;
}
/* Walk to the next frame inwards. */
void plan_walk_frame(struct plan_walk *w, const struct plan_frame *f);
/* Return the place after the last frame. */
struct plan_place plan_walk_place(const struct plan_walk *w);
/* Write the components of a place of the walk, at most max of them: those of the class or function, or else, for the place after the last
 * frame, that of the step, and then those of the object. Of each level only the first one is written. If only a tree is known, its
 * outermost object counts. Return how many there are. */
uint32_t plan_walk_components(const struct plan_walk *w, const struct plan_place *at, struct object_component *component, uint32_t max);

#endif
