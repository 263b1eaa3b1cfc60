/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/lookup_cache.h"

#include "analyzer/attribute/host_names.h"
#include "jitreg/base/large_pages.h"

struct lookup_cache *lookup_cache_create(const struct sample_world *w)
{
	struct lookup_cache *r = large_pages_map(sizeof(*r));

	if (!r)
		return NULL;
	r->world = w;
	return r;
}

void lookup_cache_destroy(struct lookup_cache *r)
{
	large_pages_unmap(r, sizeof(*r));
}

static uint32_t code_facts_of(const struct locator *l, uint32_t location)
{
	const struct location *at = &l->location[location];

	return (at->jit ? LOOKUP_CACHE_JIT : 0u) | (l->a->function[at->function].symbol ? LOOKUP_CACHE_NAMED : 0u) |
	       (at->line ? LOOKUP_CACHE_LINE : 0u) |
	       (at->line0 ? LOOKUP_CACHE_LINE0 : 0u);
}

struct lookup_cache_place *lookup_cache_get_place(struct lookup_cache *r, const struct process *p, uint64_t address, uint64_t time_ns)
{
	struct lookup_cache_place *place = lookup_cache_find_place(r, p, address, time_ns);
	struct sample_place at;

	if (place)
		return place;
	place = lookup_cache_places_of(r, p, address);
	if (place->address != address) { /* the entry that was filled earlier is dropped */
		place[1] = place[0];
		*lookup_cache_about(r, place + 1) = *lookup_cache_about(r, place);
	}
	at = sample_find_place(r->world, p, address, time_ns);
	*lookup_cache_about(r, place) = (struct lookup_cache_about){ .code = at.code, .location = at.location };
	*place = (struct lookup_cache_place){ .address = address, .from_ns = at.from_ns, .until_ns = at.until_ns,
					      .process = p->number + 1, .code_facts = code_facts_of(r->world->locator, at.location) };
	return place;
}

static struct time_range intersect_time_ranges(struct time_range a, struct time_range b)
{
	return (struct time_range){ a.from_ns > b.from_ns ? a.from_ns : b.from_ns, a.until_ns < b.until_ns ? a.until_ns : b.until_ns };
}

void lookup_cache_remember(struct lookup_cache *r, struct lookup_cache_place *place, const struct process *p,
			   const struct sample_answer *a, uint32_t paths, const struct time_range *holds)
{
	struct time_range at = { place->from_ns, place->until_ns };

	if (a->scope == ANSWER_OF_SAMPLE || (!paths && a->scope != ANSWER_OF_PLACE_ALONE))
		return;
	if (a->scope == ANSWER_OF_PLACE_ALONE) {
		place->reason = a->reason & 15;
		at = (struct time_range){ a->from_ns, a->until_ns };
	} else if (a->scope == ANSWER_OF_PLACE) {
		place->paths = paths <= LOOKUP_CACHE_PATHS_MAX ? paths & LOOKUP_CACHE_PATHS_MAX : 0;
		at = intersect_time_ranges(at, *holds);
	} else {
		place->by_tag = 1;
		at = (struct time_range){ a->from_ns, a->until_ns };
		*lookup_cache_tag(r, p, a->tag_value) =
			(struct lookup_cache_tag){ p, a->tag, a->tag_value, paths, intersect_time_ranges(a->tag_holds, *holds) };
	}
	place->from_ns = at.from_ns;
	place->until_ns = at.until_ns;
}

/* Finds the memory operand of an instruction. Only code of ELF objects that a JIT made (CODE_ELF) is read for it. */
static void find_operand(const struct code *c, uint64_t address, struct lookup_cache_about *about)
{
	struct elf_section text;

	about->touches = LOOKUP_CACHE_NO_MEMORY;
	for (size_t i = 0; c && c->kind == CODE_ELF && elf_get_text(c->elf, i, &text); i++)
		if (text.data && address - text.address < text.bytes) {
			uint64_t at = address - text.address;

			if (insn_find_operand((const char *)text.data + at, text.bytes - at, address, &about->operand))
				about->touches = LOOKUP_CACHE_MEMORY;
			return;
		}
}

uint64_t lookup_cache_operand_address(struct lookup_cache *r, const struct lookup_cache_place *place,
				      const struct unwind_registers *registers)
{
	struct lookup_cache_about *known = lookup_cache_about(r, place);
	const struct insn_operand *o = &known->operand;

	if (known->touches == LOOKUP_CACHE_NOT_ASKED)
		find_operand(known->code, place->address, known);
	if (known->touches != LOOKUP_CACHE_MEMORY || (o->base != INSN_NO_REGISTER && !(registers->known & (1u << o->base))) ||
	    (o->index != INSN_NO_REGISTER && !(registers->known & (1u << o->index))))
		return 0;
	return (o->base != INSN_NO_REGISTER ? registers->value[o->base] : 0) +
	       (o->index != INSN_NO_REGISTER ? registers->value[o->index] * o->scale : 0) + (uint64_t)o->displacement;
}

const struct lookup_cache_thread *lookup_cache_get_thread(struct lookup_cache *r, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lookup_cache_thread *t = lookup_cache_find_thread(r, pid, tid, time_ns);
	struct time_range holds;
	struct process *p;

	if (t)
		return t;
	t = &r->thread[(tid ^ pid << 3) % LOOKUP_CACHE_THREADS];
	p = model_get_process(r->world->model, pid, time_ns);
	if (!p)
		return NULL;
	t->process = p;
	t->pid = pid;
	t->tid = tid;
	/* The entry holds from the beginning of the program until the next one with its PID begins, and as long as the thread has its
	 * name. */
	holds = (struct time_range){ p->from_ns, model_process_until(r->world->model, p) };
	t->thread = model_find_thread(r->world->model, p, tid, time_ns, &holds);
	t->work = host_work_of_thread(r->world->model->threads.at[t->thread].comm);
	t->from_ns = holds.from_ns;
	t->until_ns = holds.until_ns;
	/* If the sample is from before the program's beginning, because clocks of processors differ, the entry is for this sample only. */
	if (time_ns < t->from_ns) {
		t->from_ns = time_ns;
		t->until_ns = time_ns + 1;
	}
	return t;
}

const struct tag *lookup_cache_ask_tag(struct lookup_cache *r, const struct process *p, uint64_t time_ns)
{
	r->tag_process = p;
	r->tag_in_force = model_ask_tag(p, time_ns, &r->tag_from_ns, &r->tag_until_ns);
	return r->tag_in_force;
}

uint32_t lookup_cache_ask_phase(struct lookup_cache *r, const struct process *p, uint32_t tid, uint64_t time_ns)
{
	struct lookup_cache_phase *t = &r->thread_phase[tid % LOOKUP_CACHE_PHASES];

	if (!r->world->model->marks.pieces.nr) { /* no mark is of single threads, so all threads of a process are in the same phase */
		r->phase_process = p;
		r->phase_from_ns = time_ns;
		r->phase = sample_find_phase(r->world->model, p, tid, r->world->run_mark, time_ns, &r->phase_until_ns);
		return r->phase;
	}
	if (t->process != p || t->tid != tid || time_ns < t->from_ns || time_ns >= t->until_ns) {
		*t = (struct lookup_cache_phase){ p, time_ns, 0, tid, 0 };
		t->phase = sample_find_phase(r->world->model, p, tid, r->world->run_mark, time_ns, &t->until_ns);
	}
	return t->phase;
}
