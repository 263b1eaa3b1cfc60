/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/sample_stack.h"

#include "analyzer/attribute/walk.h"
#include "jitreg/base/grow.h"

#define FRAMES_MAX (UINT16_MAX - 1u) /* limit of frames, because stack_node.depth has 16 bits; the outer frames beyond it are left out */

struct collect {
	const struct sample_world *world;
	const struct sample *sample;
	const struct process *process;
	struct sample_stack_memory *memory;
	uint32_t nr; /* number of frames in memory->frame */
	struct program_callee callee; /* the frame that was visited last */
};

void sample_stack_memory_fini(struct sample_stack_memory *m)
{
	free(m->frame);
	ARRAY_FREE(m->places);
	free(m->plan.at);
}

static void add_frame(struct collect *c, struct stack_node frame)
{
	if (c->nr < FRAMES_MAX && GROW(c->memory->frame, c->nr, c->memory->capacity))
		c->memory->frame[c->nr++] = frame;
}

static struct stack_node stack_node_of_location(const struct location *l, unsigned flags)
{
	uint32_t component = l->component ? l->component : l->before ? l->before : l->after ? l->after : l->low;

	return (struct stack_node){ 0, l->function, l->line, component, 0, (uint16_t)(flags | (l->jit ? STACK_JIT : 0)) };
}

/* Adds the frame at a place, and those of the functions that are inlined there. */
static void add_frames_of_place(struct collect *c, const struct sample_stack_place *at)
{
	struct locator *locator = c->world->locator;
	const struct location *l = &locator->location[at->location];

	l = l->inner ? &locator->location[l->inner] :
		       locate_with_inlines(locator, c->process, model_find_code(c->process, at->address, c->sample->time_ns), at->address);
	for (;; l = &locator->location[l->outer]) {
		add_frame(c, stack_node_of_location(l, l->outer ? STACK_INLINED : 0));
		if (!l->outer)
			break;
	}
}

/* The place of a frame is looked at when the walk is over: the processor fetches it from memory meanwhile. */
static bool collect_frame(void *context, const struct unwind_frame *f)
{
	struct collect *c = context;
	const struct location *l = sample_frame_location(c->world, c->process, c->sample, f, &c->callee);
	struct sample_stack_place place = { (uint32_t)(l - c->world->locator->location), 0 };

	__builtin_prefetch(l);
	place.address = sample_frame_address(c->process, c->sample, f, &c->callee);
	program_note_callee(&c->callee, c->process, &f->registers);
	if (!c->process->has_objects)
		return ARRAY_PUSH(c->memory->places, place);
	add_frames_of_place(c, &place);
	if (c->nr)
		plan_frames_add(&c->memory->plan, &c->world->model->objects, f, &c->sample->input, c->nr - 1);
	return true;
}

/* Gives the frames that work on nodes of plans the components of those nodes, if they have none of their own. */
static void add_plan_node_components(struct collect *c)
{
	struct plan_walk w;
	uint32_t component, caller;

	plan_walk_begin(&w, &c->world->model->objects, c->process->number, c->sample->time_ns);
	for (uint32_t i = c->memory->plan.nr; i > 0; i--) {
		const struct plan_frame *in_plan = &c->memory->plan.at[i - 1];
		struct stack_node *frame = &c->memory->frame[in_plan->note];

		plan_walk_frame(&w, in_plan);
		if (!frame->component && sample_plan_components(c->world->model, &w, c->process, &component, 1, &caller))
			frame->component = component;
	}
}

/* Collects the frames that the kernel found by frame pointers.  It is unknown whether they are complete, so REASON_HOST is returned, as
 * for a complete stack.  If there are as many as the kernel records at most, it is REASON_CHAIN_CUT. */
static enum reason collect_callchain(struct collect *c)
{
	const struct sample *s = c->sample;
	struct walk_place place = { c->process, s->time_ns };
	const struct unwind_space space = walk_unwind_space(&place, false);

	for (uint32_t i = 0; i <= s->chain_nr; i++) {
		uint32_t note = 0;
		struct unwind_frame f = { .depth = (int)i, .address = i ? s->chain[i - 1] - 1 : s->user_ip, .note = &note };

		if (c->process->has_objects)
			f.function = unwind_function(c->world->unwinder, &space, f.address);
		collect_frame(c, &f);
	}
	return sample_chain_is_cut(s) ? REASON_CHAIN_CUT : REASON_HOST;
}

/* Collects the kernel's frames, from the sampled instruction outwards.  Successive frames without a name become one frame.  location: that
 * of the sampled instruction. */
static void collect_kernel_frames(struct collect *c, uint32_t location)
{
	const struct sample *s = c->sample;
	struct locator *l = c->world->locator;
	uint32_t before = location;

	add_frame(c, stack_node_of_location(&l->location[location], STACK_KERNEL));
	for (uint64_t i = 0; i < s->kernel_nr; i++) {
		location = locate_kernel(l, s->kernel_chain[i] - 1);
		if (location != before || location != l->kernel)
			add_frame(c, stack_node_of_location(&l->location[location], STACK_KERNEL));
		before = location;
	}
}

/* Collects the frames in user space. Returns why the stack is incomplete, or REASON_HOST if it is complete as far as that is known. */
static enum reason collect_user_frames(struct collect *c)
{
	const struct sample *s = c->sample;
	struct walk_place place = { c->process, s->time_ns };
	struct unwind_space space;

	if (!s->has_registers)
		return REASON_NO_REGISTERS;
	if (s->chain && !s->input.stack_bytes)
		return collect_callchain(c);
	space = walk_unwind_space(&place, c->world->way == UNWIND_LIBUNWIND);
	return sample_reason_of_unwind_end(c->world->model, unwind_walk(c->world->unwinder, &space, &s->input, collect_frame, c), s);
}

uint32_t sample_stack_of_location(struct attribution *a, const struct location *l)
{
	struct stack_node node = stack_node_of_location(l, STACK_CUT);

	return stacks_add(&a->stacks, 0, &node);
}

uint32_t sample_collect_stack(const struct sample_world *w, const struct sample *s, const struct process *p, uint32_t kernel,
			      struct sample_stack_memory *memory)
{
	static const char *const names[NR_REASONS] = { [REASON_NO_REGISTERS] = "[no registers]", [REASON_NO_STACK] = "[no stack]",
		[REASON_TRUNCATED] = "[truncated]", [REASON_BROKEN] = "[broken]", [REASON_NO_UNWIND_INFO] = "[no unwind information]",
		[REASON_CHAIN_CUT] = "[truncated chain]" };
	struct attribution *a = w->locator->a;
	struct collect c = { .world = w, .sample = s, .process = p, .memory = memory, .callee = { .cache = &w->locator->programs } };
	enum reason why;

	memory->plan.nr = 0;
	if (s->mode != SAMPLE_MODE_USER)
		collect_kernel_frames(&c, kernel);
	memory->places.nr = 0;
	why = collect_user_frames(&c);
	for (uint32_t i = 0; i < memory->places.nr; i++)
		add_frames_of_place(&c, &memory->places.at[i]);
	if (memory->plan.nr)
		add_plan_node_components(&c);
	if (names[why]) {
		if (!memory->cut_location[why])
			memory->cut_location[why] = locate_name_only(w->locator, names[why]);
		add_frame(&c, stack_node_of_location(&w->locator->location[memory->cut_location[why]], STACK_CUT));
	}
	a->stack_ends[names[why] ? why : REASON_NONE]++;
	return stacks_add_frames(&a->stacks, memory->frame, c.nr);
}
