/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/lookup_cache.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64u /* of the cache */

void *lookup_cache_lines(size_t bytes, void **memory)
{
	*memory = calloc(1, bytes + LINE_BYTES);
	return *memory ? (void *)(((uintptr_t)*memory + LINE_BYTES) & ~(uintptr_t)(LINE_BYTES - 1)) : NULL;
}

struct lookup_cache *lookup_cache_create(struct model *m, struct locator *l, const char *run_mark)
{
	void *memory;
	struct lookup_cache *r = lookup_cache_lines(sizeof(*r), &memory);

	if (!r)
		return NULL;
	r->memory = memory;
	r->model = m;
	r->locator = l;
	r->run_mark = run_mark;
	return r;
}

void lookup_cache_destroy(struct lookup_cache *r)
{
	if (r)
		free(r->memory);
}

static uint32_t told_of(const struct locator *l, uint32_t location)
{
	const struct location *at = &l->location[location];

	return (at->jit ? RECENT_JIT : 0u) | (l->a->function[at->function].symbol ? RECENT_NAMED : 0u) | (at->line ? RECENT_LINE : 0u) |
	       (at->line0 ? RECENT_LINE0 : 0u);
}

struct lookup_cache_place *lookup_cache_place(struct lookup_cache *r, const struct process *p, uint64_t address, uint64_t time_ns)
{
	struct lookup_cache_place *place = lookup_cache_find_place(r, p, address, time_ns);
	struct lookup_cache_about *about;
	struct code_answer answer;

	if (place)
		return place;
	place = lookup_cache_places_of(r, p, address);
	if (place->address != address) { /* the older one goes */
		place[1] = place[0];
		*lookup_cache_about(r, place + 1) = *lookup_cache_about(r, place);
	}
	answer = model_ask_any_code(p, address, time_ns);
	about = lookup_cache_about(r, place);
	about->code = answer.fact ? answer.fact->owner : NULL;
	about->location = locate_number(r->locator, p, about->code, address);
	about->touches = RECENT_NOT_ASKED;
	*place = (struct lookup_cache_place){ .address = address, .from_ns = answer.from_ns, .until_ns = answer.until_ns,
					.process = p->number + 1, .told = told_of(r->locator, about->location) };
	return place;
}

void lookup_cache_set_by_tag(struct lookup_cache *r, struct lookup_cache_place *place, const struct process *p, uint64_t time_ns)
{
	if (!lookup_cache_tag_in_force(r, p, time_ns))
		return;
	place->by_tag = 1;
	place->from_ns = r->tag_from_ns > place->from_ns ? r->tag_from_ns : place->from_ns;
	place->until_ns = r->tag_until_ns < place->until_ns ? r->tag_until_ns : place->until_ns;
}

/* Code bytes are at hand of what a JIT made as an ELF object. */
static void find_operand(const struct code *c, uint64_t address, struct lookup_cache_about *about)
{
	struct elf_section text;

	about->touches = RECENT_NO_MEMORY;
	for (size_t i = 0; c && c->kind == CODE_ELF && elf_get_text(c->elf, i, &text); i++)
		if (text.data && address - text.address < text.bytes) {
			uint64_t at = address - text.address;

			if (insn_find_operand((const char *)text.data + at, text.bytes - at, address, &about->operand))
				about->touches = RECENT_MEMORY;
			return;
		}
}

uint64_t lookup_cache_address(struct lookup_cache *r, const struct lookup_cache_place *place, const struct unwind_registers *registers)
{
	struct lookup_cache_about *known = lookup_cache_about(r, place);
	const struct insn_operand *o = &known->operand;

	if (known->touches == RECENT_NOT_ASKED)
		find_operand(known->code, place->address, known);
	if (known->touches != RECENT_MEMORY || (o->base != INSN_NO_REGISTER && !(registers->known & (1u << o->base))) ||
	    (o->index != INSN_NO_REGISTER && !(registers->known & (1u << o->index))))
		return 0;
	return (o->base != INSN_NO_REGISTER ? registers->value[o->base] : 0) +
	       (o->index != INSN_NO_REGISTER ? registers->value[o->index] * o->scale : 0) + (uint64_t)o->displacement;
}

const struct lookup_cache_thread *lookup_cache_thread(struct lookup_cache *r, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lookup_cache_thread *t = lookup_cache_find_thread(r, pid, tid, time_ns);
	struct process *p;

	if (t)
		return t;
	t = &r->thread[(tid ^ pid << 3) % RECENT_THREADS];
	p = model_get_process(r->model, pid, time_ns);
	if (!p)
		return NULL;
	t->process = p;
	t->pid = pid;
	t->tid = tid;
	t->thread = model_get_thread(r->model, p, tid);
	/* the same process answers from its own beginning to that of the next one with its number */
	t->from_ns = p->from_ns;
	t->until_ns = model_process_until(r->model, p);
	if (time_ns < t->from_ns) { /* heard of before its birth was */
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

static bool is_run_of(const struct lookup_cache *r, const struct mark *k, const struct process *p)
{
	if (!k->name || strcmp(k->name, r->run_mark) != 0)
		return false;
	for (; p; p = p->parent)
		if (p->number == k->process)
			return true;
	return false;
}

uint32_t lookup_cache_ask_phase(struct lookup_cache *r, const struct process *p, uint64_t time_ns)
{
	const struct model *m = r->model;
	uint32_t low = 0, high = m->nr_marks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->mark[middle].begin_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* until the next mark begins, marks can only end */
	r->phase_process = p;
	r->phase_from_ns = time_ns;
	r->phase_until_ns = low < m->nr_marks ? m->mark[low].begin_ns : UINT64_MAX;
	r->phase = 0;
	for (uint32_t back = 0; low > 0 && back < 4096; low--, back++) {
		const struct mark *k = &m->mark[low - 1];

		if (k->end_ns > time_ns && is_run_of(r, k, p)) {
			r->phase = low;
			r->phase_until_ns = k->end_ns < r->phase_until_ns ? k->end_ns : r->phase_until_ns;
			break;
		}
	}
	return r->phase;
}
