/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/attribute_sample.h"

#include "analyzer/objects/plan_walk.h"
#include "analyzer/attribute/walk.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define METHOD_TEXT_(NAME, text, sentence) text,
const char *const method_names[] = { METHODS(METHOD_TEXT_) };
#undef METHOD_TEXT_
#define METHOD_SENTENCE_(NAME, text, sentence) sentence,
const char *const method_sentences[] = { METHODS(METHOD_SENTENCE_) };
#undef METHOD_SENTENCE_
#define REASON_TEXT_(NAME, text, sentence) text,
const char *const reason_names[] = { REASONS(REASON_TEXT_) };
#undef REASON_TEXT_
#define REASON_SENTENCE_(NAME, text, sentence) sentence,
const char *const reason_sentences[] = { REASONS(REASON_SENTENCE_) };
#undef REASON_SENTENCE_

/* This is the function on a stack that works for the task of the stack's thread, by PLAN_CODE records (analyzer/objects/plan_code.h). */
struct task_code {
	uint32_t task; /* component */
	uint64_t context;
	uint32_t rank;	   /* rank of the function found; UINT32_MAX: none found yet */
	uint32_t function; /* index of the function of the frame */
	int depth;
	struct {
		const struct plan_code *code;
		uint64_t id;
		uint32_t line;
	} found;
};

#define MARKS_MAX 4096u /* limit of marks that are searched, from the latest back, for a run mark that covers the time */

/* Clears memory by libc's memset().  GCC clears a known number of bytes with `rep stos`, which takes 30 cycles to begin.  That was a tenth
 * of a report with stacks. */
static void clear_without_rep_stos(void *to, size_t bytes)
{
	__asm__("" : "+r"(bytes)); /* this hides the number from the compiler */
	memset(to, 0, bytes);
}

struct attribution_state {
	const struct sample_world *world;
	const struct sample *sample;
	const struct process *process;
	bool by_register; /* the tag in force is in a register */
	bool tag_counts;  /* the tag can be believed at the sampled instruction */
	bool decided;
	struct program_callee callee; /* the frame that was visited last */
	struct time_range same_end; /* unwind_frame.same_end_from_ns and same_end_until_ns of the sampled instruction */
	struct plan_frames *plan; /* frames for decide_by_plan(); NULL: the process has no objects */
	struct task_code *task; /* NULL: the thread was in no task (model_find_task()) */
	uint32_t function; /* function at the sampled instruction */
	uint32_t low, object; /* components of host_levels.h, of the first frame that has them */
	enum reason work; /* work of the first function that has one, else REASON_NONE */
	struct sample_answer *answer;
};

/* ------------------------------------------------------------------------------------------------------ components */

static bool decide_by_tag_value(struct attribution_state *d, uint64_t value)
{
	const struct tag *t = d->answer->tag;
	struct deciding_components *to = &d->answer->deciding;
	struct time_range holds = TIME_RANGE_ALL;

	if ((value & t->check_mask) != t->check_value)
		return false;
	d->answer->tag_value = value;
	to->nr = 0;
	for (uint32_t i = 0; i < t->nr_fields && to->nr < DECIDING_MAX; i++) {
		uint64_t id = value >> t->field[i].shift;
		uint32_t component;

		if (t->field[i].bits < 64)
			id &= (1ull << t->field[i].bits) - 1;
		component = id ? model_find_component(d->world->model, d->process, t->field[i].level, id,
						d->sample->time_ns, &holds) : COMPONENT_NONE;
		if (component)
			to->component[to->nr++] = component;
	}
	d->answer->tag_holds = holds;
	return to->nr > 0;
}

static bool tag_is_preserved_at(const struct tag *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->nr_preserving_ranges; i++)
		if (address - t->preserving_range[i].start < t->preserving_range[i].end - t->preserving_range[i].start)
			return true;
	return false;
}

static bool decide_by_location(struct attribution_state *d, const struct location *l)
{
	uint32_t first = l->component ? l->component : l->before ? l->before : l->after;
	struct deciding_components *to = &d->answer->deciding;

	if (!first || (d->world->model->dictionary.components.at[first].flags & JITREG_COMPONENT_SHARED))
		return false;
	to->nr = 1;
	to->component[0] = first;
	to->shared_half = !l->component && l->before && l->after && l->after != l->before ? l->after : COMPONENT_NONE;
	d->answer->caller_function = l->function;
	return true;
}

/* Keeps the host's work (compiler, collector) of the first frame that has one. If nothing decides, it replaces a reason for which
 * sample_reason_is_of_host() is true. */
static void note_host_work(struct attribution_state *d, const struct location *l)
{
	if (d->work == REASON_NONE)
		d->work = d->world->locator->a->function[l->function].work;
}

bool sample_reason_is_of_host(enum reason why)
{
	return why == REASON_HOST || why == REASON_NO_UNWIND_INFO || why == REASON_TRUNCATED || why == REASON_BROKEN ||
	       why == REASON_NO_STACK || why == REASON_NO_FRAME_POINTERS || why == REASON_CHAIN_CUT;
}

/* Takes the components of host_levels.h from the first frame that has them.  Returns true if these decide, because the process declared no
 * dictionary. */
static bool decide_by_host_levels(struct attribution_state *d, const struct location *l)
{
	if (d->low || !l->low)
		return false;
	d->low = l->low;
	d->object = l->object;
	d->answer->caller_function = l->function;
	return !d->process->has_dictionary;
}

/* ------------------------------------------------------------------------------------------------------------ stacks */

uint64_t sample_frame_address(const struct process *p, const struct sample *s, const struct unwind_frame *f,
			      const struct program_callee *callee)
{
	const uint64_t address = program_address(p, &s->input, callee, f->registers.value[UNWIND_RSP], f->address, s->time_ns);

	return interpreted_address(p, &s->input, &f->registers, f->depth == 0, address, s->time_ns);
}

uint64_t sample_user_address(const struct process *p, const struct sample *s)
{
	return interpreted_address(p, &s->input, &s->input.registers, true, s->user_ip, s->time_ns);
}

const struct location *sample_frame_location(const struct sample_world *w, const struct process *p, const struct sample *s,
					     const struct unwind_frame *f, const struct program_callee *callee)
{
	const uint64_t address = sample_frame_address(p, s, f, callee);
	const struct location *l;

	if (address != f->address) /* the note belongs to the interpreter's address, at which frames of any function can be */
		return locate_code_address(w->locator, p, model_find_code(p, address, s->time_ns), address);
	if (*f->note)
		return &w->locator->location[*f->note - 1];
	l = locate_code_address(w->locator, p, model_find_code(p, f->address, s->time_ns), f->address);
	*f->note = 1 + (uint32_t)(l - w->locator->location);
	return l;
}

/* Keeps the function at address in d->task if it is the best one for the task so far.  That is the innermost of those with the lowest rank
 * on the stack, inlined functions included. */
static void note_task_code(struct attribution_state *d, uint64_t address, int depth)
{
	struct model *m = d->world->model;
	struct locator *l = d->world->locator;
	struct task_code *t = d->task;
	const struct code *code = model_find_code(d->process, address, d->sample->time_ns);
	const struct location *at = locate_with_inlines(l, d->process, code, address);

	for (; t->rank && at; at = at->outer ? &l->location[at->outer] : NULL) {
		const struct function *f = &l->a->function[at->function];
		const struct plan_code *c = plan_codes_find(&m->plan_codes, f->plan_pattern, t->context);
		const uint32_t line = l->a->line[at->line].number;
		uint64_t id = c && c->rank < t->rank ? plan_code_component(&m->plan_codes, c, f->plan_pattern, f->name, line) : 0;

		if (id)
			*t = (struct task_code){ t->task, t->context, c->rank, at->function, depth, { c, id, line } };
	}
}

static bool decide_by_stack_frame(void *context, const struct unwind_frame *f)
{
	struct attribution_state *d = context;
	struct sample_answer *a = d->answer;
	const struct location *l;

	if (d->task)
		note_task_code(d, sample_frame_address(d->process, d->sample, f, &d->callee), f->depth);
	if (f->depth == 0) { /* decide_by_dictionary() has asked the sampled instruction already */
		d->same_end = (struct time_range){ f->same_end_from_ns, f->same_end_until_ns };
		if (d->plan)
			plan_frames_add(d->plan, &d->world->model->objects, f, &d->sample->input, d->function);
		program_note_callee(&d->callee, d->process, &f->registers);
		return true;
	}
	l = sample_frame_location(d->world, d->process, d->sample, f, &d->callee);
	program_note_callee(&d->callee, d->process, &f->registers);
	if (d->plan)
		plan_frames_add(d->plan, &d->world->model->objects, f, &d->sample->input, l->function);
	if (d->by_register && tag_is_preserved_at(a->tag, f->address) && (f->registers.known & (1u << a->tag->where))) {
		if (decide_by_tag_value(d, f->registers.value[a->tag->where])) {
			a->method = METHOD_TAG_UNWOUND;
			d->decided = true;
			return false;
		}
		if (!a->untagged) {
			a->untagged = 1 + (uint32_t)(l - d->world->locator->location);
			a->untagged_value = f->registers.value[a->tag->where];
		}
	}
	if (decide_by_location(d, l)) {
		a->method = d->by_register ? METHOD_TAG_UNWOUND : METHOD_STACK;
		d->decided = true;
		return false;
	}
	note_host_work(d, l);
	return !decide_by_host_levels(d, l) || d->task;
}

static bool stack_is_whole(const struct model *m, const struct sample *s)
{
	return s->event < m->nr_events && s->input.stack_bytes < m->event[s->event].stack_bytes &&
	       s->input.stack_bytes < SAMPLE_STACK_SURELY_WHOLE;
}

bool sample_chain_is_cut(const struct sample *s)
{
	return s->chain && s->chain_nr + 1 + (s->kernel_nr ? s->kernel_nr + 1 : 0) == KERNEL_CHAIN_ADDRESSES;
}

enum reason sample_reason_of_unwind_end(const struct model *m, enum unwind_end end, const struct sample *s)
{
	if (!s->input.stack_bytes && (end == UNWIND_TRUNCATED || end == UNWIND_NO_INFO || end == UNWIND_BROKEN))
		return REASON_NO_STACK; /* the cause is that no stack bytes were recorded, with or without unwind information */
	switch (end) {
	case UNWIND_TRUNCATED:
		return stack_is_whole(m, s) ? REASON_BROKEN : REASON_TRUNCATED;
	case UNWIND_NO_INFO:
		return REASON_NO_UNWIND_INFO;
	case UNWIND_BROKEN:
		return REASON_BROKEN;
	default:
		return REASON_HOST;
	}
}

/* Stores the components of a place of a walk, at most max, and returns their number. */
static uint32_t components_of_place(const struct model *m, const struct plan_walk *w, const struct process *p, const struct plan_place *at,
				    uint32_t *component, uint32_t max)
{
	struct object_component of[DECIDING_MAX];
	struct time_range holds = TIME_RANGE_ALL;
	uint32_t nr = plan_walk_components(w, at, of, max < DECIDING_MAX ? max : DECIDING_MAX), known = 0;

	for (uint32_t i = 0; i < nr; i++) {
		component[known] = model_find_component(m, p, (uint32_t)of[i].level, of[i].id, w->time_ns, &holds);
		known += component[known] != COMPONENT_NONE;
	}
	return known;
}

/* Returns the index of the component on the level of plans, or nr if there is none. */
static uint32_t find_node_of_place(const struct dictionary *d, const uint32_t *component, uint32_t nr)
{
	uint32_t i = 0;

	while (i < nr && !(d->level[d->components.at[component[i]].level].flags & JITREG_LEVEL_PLAN))
		i++;
	return i;
}

/* Returns the query that a place is in, which is the first component of its outermost object, or COMPONENT_NONE. */
static uint32_t find_query_of_place(const struct model *m, const struct plan_walk *w, const struct process *p, const struct plan_place *at)
{
	const uint32_t root = w->objects->at[at->object].root;
	struct time_range holds = TIME_RANGE_ALL;
	uint32_t nr;
	const struct object_component *c = object_components(w->objects, root, &nr);

	return at->object && nr ? model_find_component(m, p, (uint32_t)c->level, c->id, w->time_ns, &holds) : COMPONENT_NONE;
}

uint32_t sample_plan_components(struct model *m, const struct plan_walk *w, const struct process *p, uint32_t *component, uint32_t max,
				uint32_t *caller)
{
	const struct plan_place last = plan_walk_place(w);
	uint32_t of[DECIDING_MAX], nr = 0, node = COMPONENT_NONE, query = COMPONENT_NONE, at;

	*caller = CALLER_NONE;
	for (uint32_t i = 0; i <= w->nr_callers; i++) {
		const struct plan_place *place = i < w->nr_callers ? &w->caller[i] : &last;
		const bool is_inside = i && place->root == w->caller[i - 1].root; /* a function, or a function's work */

		if (i && !is_inside)
			*caller = callers_enter(&m->callers, *caller, node, query);
		nr = components_of_place(m, w, p, place, of, DECIDING_MAX);
		query = find_query_of_place(m, w, p, place);
		at = find_node_of_place(&m->dictionary, of, nr);
		if (at < nr && (is_inside || object_is_called(w->objects, place->class)))
			of[at] = callers_function(&m->callers, &m->dictionary, is_inside ? node : COMPONENT_NONE, query, of[at]);
		node = at < nr ? of[at] : COMPONENT_NONE;
	}
	nr = nr < max ? nr : max;
	memcpy(component, of, nr * sizeof(*of));
	return nr;
}

/* Decides by the nodes of plans that the frames work on.  Callers do this if no frame has decided. */
static void decide_by_plan(struct attribution_state *d)
{
	struct sample_answer *a = d->answer;
	struct plan_walk w;

	plan_walk_begin(&w, &d->world->model->objects, d->process->number, d->sample->time_ns);
	for (uint32_t i = d->plan->nr; i > 0; i--) {
		const uint32_t object = w.object, class = w.class;

		plan_walk_frame(&w, &d->plan->at[i - 1]);
		if (w.object != object || w.class != class)
			a->caller_function = d->plan->at[i - 1].note;
	}
	a->deciding.nr = sample_plan_components(d->world->model, &w, d->process, a->deciding.component, DECIDING_MAX, &a->caller);
	if (a->deciding.nr) {
		a->method = METHOD_PLAN_WALK;
		a->reason = REASON_NONE;
	} else if (w.state == PLAN_UNREAD) {
		a->reason = REASON_QUERY_UNREAD;
	} else if (w.state == PLAN_LOST && a->reason != REASON_TRUNCATED && a->reason != REASON_NO_STACK) {
		a->reason = REASON_SEVERAL_NODES;
	}
}

static void walk_stack(struct attribution_state *d)
{
	struct walk_place place = { d->process, d->sample->time_ns };
	struct unwind_space space = walk_unwind_space(&place, d->world->way == UNWIND_LIBUNWIND);
	enum unwind_end end = unwind_walk(d->world->unwinder, &space, &d->sample->input, decide_by_stack_frame, d);

	if (d->decided)
		return;
	d->answer->method = METHOD_NONE;
	d->answer->reason = sample_reason_of_unwind_end(d->world->model, end, d->sample);
	if (d->plan)
		decide_by_plan(d);
}

static void add_return_address(struct attribution_state *d, int depth, uint64_t address, uint32_t function)
{
	struct walk_place place = { d->process, d->sample->time_ns };
	struct unwind_space space = walk_unwind_space(&place, false);
	struct unwind_frame f = { .depth = depth, .address = address };

	f.function = unwind_function(d->world->unwinder, &space, address);
	if (!depth && d->sample->has_registers)
		f.registers = d->sample->input.registers;
	plan_frames_add(d->plan, &d->world->model->objects, &f, NULL, function);
}

/* Does the same as walk_stack() with return addresses alone.  They restore no register, so only a frame with a component or the path along
 * a plan decides. */
static void walk_callchain_to_decide(struct attribution_state *d)
{
	const struct sample *s = d->sample;

	d->answer->reason = sample_chain_is_cut(s) ? REASON_CHAIN_CUT : REASON_NO_FRAME_POINTERS;
	if (d->plan)
		add_return_address(d, 0, s->user_ip, d->function);
	if (d->task)
		note_task_code(d, s->user_ip, 0);
	for (uint32_t i = 0; i < s->chain_nr; i++) {
		uint64_t address = s->chain[i] - 1;
		const struct location *l;

		l = locate_code_address(d->world->locator, d->process, model_find_code(d->process, address, s->time_ns), address);
		if (decide_by_location(d, l)) {
			d->answer->method = METHOD_STACK;
			d->answer->reason = REASON_NONE;
			return;
		}
		if (decide_by_host_levels(d, l) && !d->task)
			return;
		note_host_work(d, l);
		if (d->task)
			note_task_code(d, address, (int)i + 1);
		if (d->plan)
			add_return_address(d, (int)i + 1, address, l->function);
	}
	if (d->plan)
		decide_by_plan(d);
}

/* ---------------------------------------------------------------------------------------------------------- deciding */

/* Decides by the tag in force, with its value at the sampled instruction.  Narrows the answer's time range to that of the tag in force. */
static bool decide_by_tag(struct attribution_state *d)
{
	const struct sample *s = d->sample;
	struct sample_answer *a = d->answer;
	const struct tag *t;
	uint64_t from_ns, until_ns;

	t = model_ask_tag(d->process, s->time_ns, &from_ns, &until_ns);
	a->from_ns = from_ns > a->from_ns ? from_ns : a->from_ns;
	a->until_ns = until_ns < a->until_ns ? until_ns : a->until_ns;
	if (!t || d->world->stack_only)
		return false;
	a->tag = t;
	d->by_register = t->where < UNWIND_REGISTERS;
	d->tag_counts = t->where == JITREG_TAG_MEMORY || (d->by_register && tag_is_preserved_at(t, s->user_ip));
	if (t->where == JITREG_TAG_MEMORY)
		return s->has_tag_word && decide_by_tag_value(d, s->tag_word); /* the word is valid in all code */
	return d->tag_counts && (s->input.registers.known & (1u << t->where)) && decide_by_tag_value(d, s->input.registers.value[t->where]);
}

static void decide_by_dictionary(struct attribution_state *d, const struct sample_place *at)
{
	const struct sample *s = d->sample;
	const struct model *m = d->world->model;
	const struct location *l = &d->world->locator->location[at->location];
	struct sample_answer *a = d->answer;

	if (!s->user_ip) {
		a->reason = REASON_NO_REGISTERS;
		return;
	}
	if (decide_by_location(d, l)) {
		a->method = METHOD_IP;
		return;
	}
	if (decide_by_host_levels(d, l) && !d->task)
		return;
	if (!s->has_registers && !s->chain) {
		a->reason = REASON_NO_REGISTERS;
		return;
	}
	if (m->dictionary.components.nr == 1 && !m->has_host_levels) { /* there are no components at all, so no stack need be walked */
		a->reason = at->code ? REASON_NO_DICTIONARY : REASON_NO_CODE_OBJECT;
		d->same_end = TIME_RANGE_ALL;
		return;
	}
	if (decide_by_tag(d)) {
		a->method = METHOD_TAG;
		return;
	}
	note_host_work(d, l);
	d->function = l->function;
	if (s->chain && !s->input.stack_bytes)
		walk_callchain_to_decide(d);
	else
		walk_stack(d);
	if (a->method == METHOD_NONE && (a->reason == REASON_NO_UNWIND_INFO || a->reason == REASON_NO_STACK) && !at->code)
		a->reason = REASON_NO_CODE_OBJECT;
}

/* Calls decide_by_dictionary() for a process that has objects, so that the nodes of plans decide if no frame does. */
__attribute__((noinline)) static void decide_with_plan(struct attribution_state *d, const struct sample_place *at)
{
	struct plan_frames plan = { 0 };

	d->plan = &plan;
	decide_by_dictionary(d, at);
	d->plan = NULL;
	free(plan.at);
}

static void add_host_levels(struct attribution_state *d, uint32_t low_at_place)
{
	struct sample_answer *a = d->answer;

	if (a->method == METHOD_NONE) {
		a->method = d->low == low_at_place ? METHOD_IP : METHOD_STACK;
		a->reason = REASON_NONE;
	}
	for (int i = 0; i < 2 && a->deciding.nr < DECIDING_MAX; i++)
		a->deciding.component[a->deciding.nr++] = i ? d->object : d->low;
}

static void add_component_of_ids(struct attribution_state *d, uint32_t level, uint64_t id)
{
	const struct dictionary *dictionary = &d->world->model->dictionary;
	struct deciding_components *to = &d->answer->deciding;
	struct time_range holds = TIME_RANGE_ALL;

	for (uint32_t i = 0; level && id && i < dictionary->nr_levels; i++)
		if (dictionary->level_id[i] == level && to->nr < DECIDING_MAX) {
			to->component[to->nr] = model_find_component(d->world->model, d->process, i, id, d->sample->time_ns, &holds);
			to->nr += to->component[to->nr] != COMPONENT_NONE;
		}
}

/* Adds the component of the thread's task. If a function on the stack works for a part of the task's plan, also adds the components of that
 * part and of the function's line. */
static void add_task_components(struct attribution_state *d)
{
	struct sample_answer *a = d->answer;
	const struct task_code *t = d->task;

	if (t->found.code) {
		add_component_of_ids(d, t->found.code->level, t->found.id);
		if (t->found.code->source && t->found.line && t->found.line <= t->found.code->nr_lines && a->deciding.nr < DECIDING_MAX) {
			struct model *m = d->world->model;
			const struct source *source = &m->sources.at[t->found.code->source - 1];
			uint32_t line = model_line_component(m, source, t->found.line, d->sample->time_ns);

			a->deciding.component[a->deciding.nr] = line;
			a->deciding.nr += line != COMPONENT_NONE;
		}
		a->caller_function = t->function;
	}
	if (a->deciding.nr < DECIDING_MAX)
		a->deciding.component[a->deciding.nr++] = t->task;
	a->method = t->found.code && t->depth == 0 ? METHOD_IP : METHOD_STACK;
	a->reason = REASON_NONE;
}

#define EVERYWHERE_MAX 4

/* Adds the components of objects to which everything belongs that the process does at the time (JITREG_OBJECT_EVERYWHERE), on levels where
 * nothing decided.  Method and reason stay as they are. */
static void add_outermost_components(const struct attribution_state *d)
{
	const struct model *m = d->world->model;
	struct deciding_components *to = &d->answer->deciding;
	uint32_t object[EVERYWHERE_MAX], of;
	uint32_t nr = objects_find_outermost(&m->objects, d->process->number, 0, true, d->sample->time_ns, object, EVERYWHERE_MAX);
	struct time_range holds = TIME_RANGE_ALL;

	for (uint32_t i = 0; i < nr; i++) {
		const struct object_component *c = object_components(&m->objects, object[i], &of);

		for (uint32_t n = 0; n < of && to->nr < DECIDING_MAX; n++) {
			uint32_t found = model_find_component(m, d->process, (uint32_t)c[n].level, c[n].id, d->sample->time_ns, &holds);
			bool known = found == COMPONENT_NONE;

			for (uint32_t k = 0; k < to->nr; k++)
				known |= m->dictionary.components.at[to->component[k]].level == c[n].level;
			if (!known)
				to->component[to->nr++] = found;
		}
	}
}

/* Returns what the answer depends on. If it depends on the stack, host levels were added to what a dictionary decides, components of
 * objects that come and go may have been added, or the trace has PLAN_CODE records, it is valid for this sample alone. So is an answer by a
 * tag whose bits are all 1, because Linux reports -1 for registers that it did not save (walk_input_of_sample()). */
static enum answer_scope answer_scope_of(const struct attribution_state *d)
{
	const struct sample_answer *a = d->answer;

	if (d->world->model->plan_codes.codes.nr) /* another thread at the same place may have another task, or none */
		return ANSWER_OF_SAMPLE;
	if ((d->low && d->process->has_dictionary) || d->process->has_everywhere)
		return ANSWER_OF_SAMPLE;
	if (a->method == METHOD_TAG)
		return a->tag_value == UINT64_MAX ? ANSWER_OF_SAMPLE : ANSWER_OF_TAG;
	if (a->method == METHOD_NONE && !d->process->has_objects && d->same_end.until_ns && !d->tag_counts && !d->sample->input.stack_bytes)
		return ANSWER_OF_PLACE_ALONE;
	return a->method == METHOD_IP ? ANSWER_OF_PLACE : ANSWER_OF_SAMPLE;
}

void sample_decide_components(const struct sample_world *w, const struct sample *s, const struct process *p, const struct sample_place *at,
			      struct sample_answer *out)
{
	struct attribution_state d = { .world = w, .sample = s, .process = p, .answer = out, .callee = { .cache = &w->locator->programs } };
	const uint32_t low_at_place = w->locator->location[at->location].low;
	struct task_code task = { .rank = UINT32_MAX };

	clear_without_rep_stos(out, sizeof(*out));
	out->from_ns = at->from_ns;
	out->until_ns = at->until_ns;
	task.task = model_find_task(w->model, p, s->tid, s->time_ns, &task.context);
	if (task.task)
		d.task = &task;
	if (p->has_objects)
		decide_with_plan(&d, at);
	else
		decide_by_dictionary(&d, at);
	if (p->has_everywhere)
		add_outermost_components(&d);
	if (d.task && !out->deciding.nr)
		add_task_components(&d);
	if (d.low)
		add_host_levels(&d, low_at_place);
	if (out->method == METHOD_NONE && d.work != REASON_NONE && sample_reason_is_of_host(out->reason))
		out->reason = d.work;
	out->scope = answer_scope_of(&d);
	if (out->scope == ANSWER_OF_PLACE_ALONE) {
		out->from_ns = d.same_end.from_ns > out->from_ns ? d.same_end.from_ns : out->from_ns;
		out->until_ns = d.same_end.until_ns < out->until_ns ? d.same_end.until_ns : out->until_ns;
	}
}

/* ------------------------------------------------------------------------------------------------------- whole samples */

void sample_read(struct sample_block *b, uint32_t i, struct sample *out)
{
	const uint64_t *const *column = (const uint64_t *const *)b->column;
#define COLUMN(c) (column[c] ? column[c][i] : 0)

	out->time_ns = COLUMN(SAMPLE_COLUMN_TIME);
	out->ip = COLUMN(SAMPLE_COLUMN_IP);
	out->pid = (uint32_t)COLUMN(SAMPLE_COLUMN_PID);
	out->tid = (uint32_t)COLUMN(SAMPLE_COLUMN_TID);
	out->mode = (uint32_t)COLUMN(SAMPLE_COLUMN_MODE);
#undef COLUMN
	clear_without_rep_stos(&out->input.registers, sizeof(out->input.registers));
	out->has_registers = walk_input_of_sample(b, i, &out->input);
	out->user_ip = out->mode == SAMPLE_MODE_USER ? out->ip : out->input.registers.value[UNWIND_RIP];
	out->has_registers = out->has_registers && out->user_ip;
	out->has_tag_word = out->has_registers && b->registers[SAMPLE_TAG_WORD];
	out->tag_word = out->has_tag_word ? b->registers[SAMPLE_TAG_WORD][i] : 0;
	out->chain = b->chain_offset ? b->chain + b->chain_offset[i] : NULL;
	out->chain_nr = b->chain_offset ? (uint32_t)(b->chain_offset[i + 1] - b->chain_offset[i]) : 0;
	out->kernel_chain = NULL;
	out->kernel_nr = 0;
	out->event = b->event;
	out->leaves = false;
}

struct sample_place sample_find_place(const struct sample_world *w, const struct process *p, uint64_t address, uint64_t time_ns)
{
	const struct code_answer c = model_ask_any_code(p, address, time_ns);
	struct sample_place at = { c.fact ? c.fact->owner : NULL, 0, c.from_ns, c.until_ns };

	at.location = locate_address_number(w->locator, p, at.code, address);
	return at;
}

uint32_t sample_kernel_location(const struct sample_world *w, uint32_t mode, uint64_t ip)
{
	/* Other modes are those of hypervisors and of virtual machines, whose kernels the trace does not know. */
	return mode == SAMPLE_MODE_KERNEL && !w->locator->without_names ? locate_kernel(w->locator, ip) : w->locator->kernel;
}

uint32_t sample_row_location(const struct sample_world *w, const struct sample *s, uint32_t place)
{
	return s->mode == SAMPLE_MODE_USER || (s->leaves && s->user_ip) ? place : sample_kernel_location(w, s->mode, s->ip);
}

void sample_expand_components(const struct dictionary *d, const struct deciding_components *of, uint64_t time_ns, struct expansion *out)
{
	struct expansion other;

	dictionary_expand_components(d, of->component, of->nr, time_ns, out);
	if (!of->shared_half)
		return;
	/* Each of the two components gets one half.  If rows of both halves are equal, the sums of a group add them up. */
	dictionary_expand_components(d, &of->shared_half, 1, time_ns, &other);
	if (other.holds.from_ns > out->holds.from_ns)
		out->holds.from_ns = other.holds.from_ns;
	if (other.holds.until_ns < out->holds.until_ns)
		out->holds.until_ns = other.holds.until_ns;
	for (uint32_t n = 0; n < out->nr; n++)
		out->row[n].share /= 2;
	for (uint32_t n = 0; n < other.nr && out->nr < EXPANSION_ROWS_MAX; n++) {
		other.row[n].share /= 2;
		out->row[out->nr++] = other.row[n];
	}
}

static bool mark_is_run_of_process(const struct mark *k, const struct process *p, const char *run_mark)
{
	if (k->covers == JITREG_COVERS_THREAD || k->covers == JITREG_COVERS_TASK || !k->name || strcmp(k->name, run_mark) != 0)
		return false;
	for (; p; p = p->parent)
		if (p->number == k->process)
			return true;
	return false;
}

#define PARENTS_MAX 64

/* Returns 1 + the index of the run mark that the thread is in, or that contains the mark that the thread is in. Returns 0 if there is
 * none. */
static uint32_t find_phase_of_thread(const struct model *m, const struct process *p, uint32_t tid, const char *run_mark, uint64_t time_ns,
				     uint64_t *until_ns)
{
	const struct mark_piece *x = model_find_mark_piece(m, p, tid, time_ns, until_ns);

	for (; x; x = x->outer ? &m->marks.pieces.at[x->outer - 1] : NULL) {
		uint32_t i = x->to_ns > time_ns ? x->mark + 1 : 0;

		for (int n = 0; i && n < PARENTS_MAX; n++, i = m->marks.at[i - 1].parent)
			if (m->marks.at[i - 1].name && strcmp(m->marks.at[i - 1].name, run_mark) == 0)
				return i;
	}
	return 0;
}

uint32_t sample_find_phase(const struct model *m, const struct process *p, uint32_t tid, const char *run_mark, uint64_t time_ns,
			   uint64_t *until_ns)
{
	uint64_t thread_until_ns = UINT64_MAX;
	uint32_t up_to = m->marks.pieces.nr ? find_phase_of_thread(m, p, tid, run_mark, time_ns, &thread_until_ns) : 0;

	*until_ns = thread_until_ns;
	if (up_to)
		return up_to;
	up_to = SORTED_COUNT(m->marks.nr, i, m->marks.at[i].begin_ns <= time_ns);
	/* Until the next mark begins, the answer can only change by the end of a mark. */
	if (up_to < m->marks.nr && m->marks.at[up_to].begin_ns < *until_ns)
		*until_ns = m->marks.at[up_to].begin_ns;
	for (uint32_t back = 0; up_to > 0 && back < MARKS_MAX; up_to--, back++) {
		const struct mark *k = &m->marks.at[up_to - 1];

		if (k->end_ns > time_ns && mark_is_run_of_process(k, p, run_mark)) {
			*until_ns = k->end_ns < *until_ns ? k->end_ns : *until_ns;
			return up_to;
		}
	}
	return 0;
}

bool attribute_sample(const struct sample_world *w, const struct sample *s, struct sample_attribution *out)
{
	struct sample_place at = { .location = w->locator->unknown };
	struct time_range holds = { 0, UINT64_MAX };
	uint64_t until_ns;

	out->process = model_get_process(w->model, s->pid, s->time_ns);
	if (!out->process)
		return false;
	out->thread = model_find_thread(w->model, out->process, s->tid, s->time_ns, &holds);
	if (s->user_ip)
		at = sample_find_place(w, out->process, sample_user_address(out->process, s), s->time_ns);
	sample_decide_components(w, s, out->process, &at, &out->answer);
	sample_expand_components(&w->model->dictionary, &out->answer.deciding, s->time_ns, &out->paths);
	out->code = s->mode == SAMPLE_MODE_USER ? at.code : NULL;
	out->location = sample_row_location(w, s, at.location);
	out->phase = sample_find_phase(w->model, out->process, s->tid, w->run_mark, s->time_ns, &until_ns);
	return true;
}
