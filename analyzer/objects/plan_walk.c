/* SPDX-License-Identifier: MIT */
#include "analyzer/objects/plan_walk.h"

#include "jitreg/base/grow.h"
#include "jitreg/trace/trace.h"

#include <string.h>

#define NR_PRESERVED 6u
#define RDI 5
#define ROOTS_MAX 8 /* with as many trees in a process, rule 4 finds only an object that the frame holds */

/* Find the end of the words of the frame that was added last. These words end below the return address, which is below the stack pointer
 * of its caller. */
static void end_frame_slots(struct plan_frames *to, const struct unwind_frame *caller, const struct unwind_input *input)
{
	struct plan_frame *p = to->nr ? &to->at[to->nr - 1] : NULL;
	uint64_t from, end, nr = 0;

	if (!p || !p->slots || p->nr_slots || !input)
		return;
	from = (uint64_t)(p->slots - input->stack);
	end = caller->registers.value[UNWIND_RSP] - input->registers.value[UNWIND_RSP];
	if (caller->registers.known >> UNWIND_RSP & 1 && end <= input->stack_bytes && end >= from + sizeof(uint64_t))
		nr = (end - from) / sizeof(uint64_t) - 1; /* the last word is the return address */
	if (nr && nr <= PLAN_SLOTS_MAX)
		p->nr_slots = (uint32_t)nr;
	else
		p->slots = NULL;
}

/* Return the beginning of the frame's own words in the copied stack. Return NULL if it is not known, or was not copied. */
static const unsigned char *find_frame_slots(const struct unwind_frame *f, const struct unwind_input *input)
{
	uint64_t at;

	if (!input || !input->stack || !(input->registers.known >> UNWIND_RSP & 1) || !(f->registers.known >> UNWIND_RSP & 1))
		return NULL;
	at = f->registers.value[UNWIND_RSP] - input->registers.value[UNWIND_RSP];
	return at < input->stack_bytes ? input->stack + at : NULL;
}

static uint64_t read_step_word(const struct objects *o, const struct unwind_frame *f, const struct unwind_input *input)
{
	const unsigned char *slots = find_frame_slots(f, input);
	uint64_t step;
	uint32_t offset;

	if (!slots || !objects_step_word(o, f->function, &offset) ||
	    input->stack_bytes - (size_t)(slots - input->stack) < (uint64_t)offset + sizeof(step))
		return 0;
	memcpy(&step, slots + offset, sizeof(step));
	return step;
}

void plan_frames_add(struct plan_frames *to, const struct objects *o, const struct unwind_frame *f, const struct unwind_input *input,
		     uint32_t note)
{
	static const unsigned char preserved[NR_PRESERVED] = { UNWIND_RBX, UNWIND_RBP, 12, 13, 14, 15 };
	struct plan_frame *p;

	end_frame_slots(to, f, input);
	if (!f->function || !objects_has_function(o, f->function) || !ARRAY_GROW(*to))
		return;
	p = &to->at[to->nr++];
	p->function = f->function;
	p->note = note;
	p->step = read_step_word(o, f, input);
	p->slots = find_frame_slots(f, input);
	p->nr_slots = 0;
	p->nr_held = 0;
	for (unsigned i = 0; i < NR_PRESERVED; i++)
		if (f->registers.known >> preserved[i] & 1)
			p->held[p->nr_held++] = f->registers.value[preserved[i]];
	p->all_known = p->nr_held == NR_PRESERVED;
	if (f->depth == 0 && f->registers.known >> RDI & 1)
		p->held[p->nr_held++] = f->registers.value[RDI];
}

static uint32_t held_object(const struct plan_walk *w, const struct plan_frame *f, uint32_t i)
{
	return objects_find(w->objects, w->process, f->held[i], w->time_ns);
}

/* Return the object that a pointer to `object` stands for in this search, or OBJECT_NONE if the pointer says nothing. */
typedef uint32_t object_meant(const struct plan_walk *w, const void *context, uint32_t object);

/* Return the only object that words of the frame stand for. Return OBJECT_NONE if they stand for none, or for several. */
static uint32_t find_slot_object(const struct plan_walk *w, const struct plan_frame *f, object_meant *meant, const void *context)
{
	uint32_t found = OBJECT_NONE;

	for (uint32_t i = 0; i < f->nr_slots; i++) {
		uint64_t word;
		uint32_t x;

		memcpy(&word, f->slots + i * sizeof(word), sizeof(word));
		x = word ? objects_find(w->objects, w->process, word, w->time_ns) : OBJECT_NONE;
		x = x ? meant(w, context, x) : OBJECT_NONE;
		if (x && found && x != found)
			return OBJECT_NONE;
		found = x ? x : found;
	}
	return found;
}

static bool function_is_used(const struct plan_walk *w, uint64_t function)
{
	for (uint32_t i = 0; i < w->nr_used && i < PLAN_FUNCTIONS; i++)
		if (w->used[i] == function)
			return true;
	return false;
}

/* Set the object that the walk has found, by a frame of the function. */
static void set_found_object(struct plan_walk *w, uint32_t object, uint64_t function)
{
	if (w->state != PLAN_FOUND || w->object != object)
		w->nr_used = 0;
	w->state = PLAN_FOUND;
	w->object = object;
	if (!function_is_used(w, function))
		w->used[w->nr_used++ % PLAN_FUNCTIONS] = function;
}

struct plan_place plan_walk_place(const struct plan_walk *w)
{
	struct plan_place at = { w->nr_roots, OBJECT_NONE, w->class };

	if (w->state == PLAN_FOUND)
		at.object = w->object;
	else if (w->state == PLAN_LOST && w->object) /* the tree is known, and its outermost object has the components of the whole plan */
		at.object = w->objects->at[w->object].root;
	return at;
}

/* Keep the place as a caller of what follows. A class of work without a plan calls queries as well, but is no part of one. */
static void leave_place(struct plan_walk *w)
{
	const struct plan_place at = plan_walk_place(w);

	if ((at.object || object_is_called(w->objects, at.class)) && w->nr_callers < PLAN_CALLERS_MAX)
		w->caller[w->nr_callers++] = at;
}

/* Apply rule 2 of plan_walk.h. Return false if no tree begins at the frame. */
static bool find_outermost_by_frame(struct plan_walk *w, const struct plan_frame *f)
{
	const struct objects *o = w->objects;
	uint32_t root[2], nr = objects_find_outermost(o, w->process, f->function, false, w->time_ns, root, 2);

	if (!nr)
		return false;
	leave_place(w);
	w->nr_roots++;
	w->class = w->object = OBJECT_NONE;
	for (uint32_t i = 0; i < f->nr_held; i++) {
		uint32_t x = held_object(w, f, i);

		if (x && object_is_outermost(o, x) && object_has_function(o, x, f->function)) {
			set_found_object(w, x, f->function);
			return true;
		}
	}
	if (o->at[root[0]].flags & JITREG_OBJECT_ALONE || (nr == 1 && !f->all_known))
		set_found_object(w, root[0], f->function);
	else
		w->state = f->all_known ? PLAN_UNREAD : PLAN_LOST;
	return true;
}

/* Return the object if the answer is about it, or else the only object of the answer that is its part within one pipeline. */
static uint32_t meant_of_answer(const struct plan_walk *w, const void *answer, uint32_t object)
{
	if (objects_is_one_of(w->objects, answer, object))
		return object;
	return object_is_node(w->objects, object) ? objects_find_alike(w->objects, answer, object, w->time_ns) : OBJECT_NONE;
}

/* Choose an object of the answer, by the registers and then by the words of the frame. Return OBJECT_NONE if the answer has none, or if
 * several are possible and they do not belong to one operator. */
static uint32_t choose_answered_object(const struct plan_walk *w, const struct plan_frame *f, const struct object_answer *a)
{
	uint32_t x;

	if (!a->several)
		return a->first;
	for (uint32_t i = 0; i < f->nr_held; i++) {
		x = held_object(w, f, i);
		x = x ? meant_of_answer(w, a, x) : OBJECT_NONE;
		if (x)
			return x;
	}
	x = find_slot_object(w, f, meant_of_answer, a);
	return x ? x : a->whole;
}

struct function_below {
	uint64_t function;
	uint32_t root; /* outermost object of the tree that is searched; OBJECT_NONE: any tree */
};

static uint32_t meant_below(const struct plan_walk *w, const void *context, uint32_t x)
{
	const struct objects *o = w->objects;
	const struct function_below *b = context;

	if (!object_is_node(o, x) || !object_has_function(o, x, b->function) || (b->root && o->at[x].root != b->root))
		return OBJECT_NONE;
	return x;
}

/* Return the object with the frame's function that a register or a word of the frame points to, in the tree of root (OBJECT_NONE: in any
 * tree). A search of the tree would find it, too, but takes long in a tree with thousands of such objects. */
static uint32_t held_object_with_function(const struct plan_walk *w, const struct plan_frame *f, uint32_t root)
{
	const struct function_below below = { f->function, root };

	for (uint32_t i = 0; i < f->nr_held; i++) {
		const uint32_t x = held_object(w, f, i);

		if (x && meant_below(w, &below, x))
			return x;
	}
	return find_slot_object(w, f, meant_below, &below);
}

/* Return whether the frame belongs to the object found so far, rather than to one of those below it that the answer is about. */
static bool frame_is_of_found_object(const struct plan_walk *w, const struct plan_frame *f, const struct object_answer *below)
{
	if (!object_has_function(w->objects, w->object, f->function) || function_is_used(w, f->function))
		return false;
	for (uint32_t i = 0; i < f->nr_held && below->first; i++) {
		uint32_t x = held_object(w, f, i);

		if (x == w->object)
			return true;
		if (x && objects_is_one_of(w->objects, below, x))
			return false;
	}
	return true;
}

static bool object_is_around(const struct objects *o, uint32_t object, uint32_t other)
{
	const struct object *x = &o->at[object];

	return o->at[other].place >= x->place && o->at[other].place - x->place <= x->nr_below;
}

/* Go up from the object found so far until the objects at and below the one reached include some with the function, and find these. If
 * the only one is around the found object, go on upwards. */
static struct object_answer find_beside_found_object(const struct plan_walk *w, uint64_t function)
{
	struct objects *o = w->objects;
	struct object_answer a = { 0 };
	uint32_t up = w->object;

	do {
		up = o->at[up].upper ? o->at[up].upper : up;
		a = objects_find_below(o, up, OBJECTS_ALL, function, w->time_ns);
	} while (o->at[up].upper && (!a.first || (!a.several && object_is_around(o, a.first, w->object))));
	return a;
}

/* Apply rule 3 of plan_walk.h. */
static void find_below_by_frame(struct plan_walk *w, const struct plan_frame *f)
{
	struct objects *o = w->objects;
	const bool is_known = w->state == PLAN_FOUND;
	struct object_answer a = objects_find_below(o, w->object, is_known ? OBJECTS_NEAREST : OBJECTS_ALL, f->function, w->time_ns);
	uint32_t x;

	if (is_known && frame_is_of_found_object(w, f, &a)) {
		set_found_object(w, w->object, f->function);
		return;
	}
	x = a.first ? choose_answered_object(w, f, &a) : held_object_with_function(w, f, o->at[w->object].root);
	if (!a.first && (!x || (is_known && object_is_around(o, x, w->object)))) {
		a = find_beside_found_object(w, f->function);
		x = choose_answered_object(w, f, &a);
	}
	if (x && !(is_known && object_is_around(o, x, w->object)))
		set_found_object(w, x, f->function);
	else if (a.several && !(is_known && object_has_function(o, w->object, f->function)))
		w->state = PLAN_LOST;
}

/* Apply rule 4 of plan_walk.h. */
static void find_anywhere_by_frame(struct plan_walk *w, const struct plan_frame *f)
{
	struct objects *o = w->objects;
	uint32_t root[ROOTS_MAX], nr, only = held_object_with_function(w, f, OBJECT_NONE);
	bool several;

	if (only) {
		set_found_object(w, only, f->function);
		return;
	}
	nr = objects_find_outermost(o, w->process, 0, false, w->time_ns, root, ROOTS_MAX);
	several = nr == ROOTS_MAX;
	for (uint32_t i = 0; i < nr; i++) {
		const struct object_answer a = objects_find_below(o, root[i], OBJECTS_ALL, f->function, w->time_ns);
		const uint32_t x = choose_answered_object(w, f, &a);

		/* several objects are possible, and a register or a word of the frame holds this one */
		if (x && a.several && x != a.whole) {
			set_found_object(w, x, f->function);
			return;
		}
		several |= (a.several && !x) || (only && a.first);
		only = x ? x : only;
	}
	if (several)
		w->state = PLAN_LOST;
	else if (only)
		set_found_object(w, only, f->function);
}

static uint32_t meant_called(const struct plan_walk *w, const void *function, uint32_t x)
{
	return object_is_called(w->objects, x) && object_has_function(w->objects, x, *(const uint64_t *)function) ? x : OBJECT_NONE;
}

/* Return the called function that the frame works on, or OBJECT_NONE. */
static uint32_t find_called(const struct plan_walk *w, const struct plan_frame *f)
{
	for (uint32_t i = 0; i < f->nr_held; i++) {
		uint32_t x = held_object(w, f, i);

		if (x && meant_called(w, &f->function, x))
			return x;
	}
	return find_slot_object(w, f, meant_called, &f->function);
}

/* Apply rule 1 of plan_walk.h. class: one that has the frame's function. */
static void enter_class(struct plan_walk *w, const struct plan_frame *f, uint32_t class)
{
	const bool calls = object_is_called(w->objects, class);

	if (calls)
		class = find_called(w, f);
	if (!class || (w->class && !calls && !object_is_called(w->objects, w->class)))
		return;
	if (calls || object_is_called(w->objects, w->class))
		leave_place(w);
	w->class = class;
}

void plan_walk_frame(struct plan_walk *w, const struct plan_frame *f)
{
	uint32_t class, x = f->step ? objects_find_step(w->objects, w->process, f->step, w->time_ns, &w->step) : OBJECT_NONE;

	if (x) {
		w->class = OBJECT_NONE;
		w->step_of = x;
		set_found_object(w, x, f->function);
		return;
	}
	if (objects_find_outermost(w->objects, w->process, f->function, true, w->time_ns, &class, 1)) {
		enter_class(w, f, class);
		return;
	}
	if (find_outermost_by_frame(w, f) || w->class || w->state == PLAN_UNREAD)
		return;
	if (w->object)
		find_below_by_frame(w, f);
	else
		find_anywhere_by_frame(w, f);
}

static uint32_t add_components(const struct plan_walk *w, uint32_t object, struct object_component *component, uint32_t nr, uint32_t max)
{
	uint32_t of;
	const struct object_component *c = object_components(w->objects, object, &of);

	for (uint32_t i = 0; i < of && nr < max; i++) {
		bool known = false;

		for (uint32_t n = 0; n < nr; n++)
			known |= component[n].level == c[i].level;
		if (!known)
			component[nr++] = c[i];
	}
	return nr;
}

uint32_t plan_walk_components(const struct plan_walk *w, const struct plan_place *at, struct object_component *component, uint32_t max)
{
	uint32_t nr = at->class ? add_components(w, at->class, component, 0, max) : 0;

	if (w->state == PLAN_FOUND && w->step_of == at->object && at->object && at->object == w->object && !nr && max)
		component[nr++] = w->step;
	return at->object ? add_components(w, at->object, component, nr, max) : nr;
}
