/* SPDX-License-Identifier: MIT */
#include "recent.h"

#include <string.h>

static uint32_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 29 | b >> 35)) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 40);
}

struct recent_place *recent_place(struct recent *r, const struct process *p, uint64_t address, uint64_t time_ns)
{
	struct recent_place *place = &r->place[mix(address, p->number) % RECENT_PLACES];
	struct code_answer answer;

	if (place->process == p && place->address == address && time_ns >= place->from_ns && time_ns < place->until_ns)
		return place;
	answer = model_ask_any_code(p, address, time_ns);
	place->process = p;
	place->address = address;
	place->from_ns = answer.from_ns;
	place->until_ns = answer.until_ns;
	place->code = answer.fact ? answer.fact->owner : NULL;
	place->location = locate_number(r->locator, p, place->code, address);
	place->expansion = 0;
	place->touches = RECENT_NOT_ASKED;
	return place;
}

/* Code bytes are at hand of what a JIT made as an ELF object. */
static void find_operand(struct recent_place *p)
{
	struct elf_section text;

	p->touches = RECENT_NO_MEMORY;
	for (size_t i = 0; p->code && p->code->kind == CODE_ELF && elf_get_text(p->code->elf, i, &text); i++)
		if (text.data && p->address - text.address < text.bytes) {
			uint64_t at = p->address - text.address;

			if (insn_find_operand((const char *)text.data + at, text.bytes - at, p->address, &p->operand))
				p->touches = RECENT_MEMORY;
			return;
		}
}

uint64_t recent_address(struct recent_place *p, const struct unwind_registers *r)
{
	const struct insn_operand *o = &p->operand;

	if (p->touches == RECENT_NOT_ASKED)
		find_operand(p);
	if (p->touches != RECENT_MEMORY || (o->base != INSN_NO_REGISTER && !(r->known & (1u << o->base))) ||
	    (o->index != INSN_NO_REGISTER && !(r->known & (1u << o->index))))
		return 0;
	return (o->base != INSN_NO_REGISTER ? r->value[o->base] : 0) +
	       (o->index != INSN_NO_REGISTER ? r->value[o->index] * o->scale : 0) + (uint64_t)o->displacement;
}

const struct recent_thread *recent_thread(struct recent *r, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct recent_thread *t = &r->thread[(tid ^ pid << 3) % RECENT_THREADS];
	struct process *p;

	if (t->process && t->pid == pid && t->tid == tid && time_ns >= t->from_ns && time_ns < t->until_ns)
		return t;
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

struct recent_tag *recent_tag(struct recent *r, const struct process *p, uint64_t value)
{
	return &r->tag[mix(value, p->number) % RECENT_TAGS];
}

static bool is_run_of(const struct recent *r, const struct mark *k, const struct process *p)
{
	if (!k->name || strcmp(k->name, r->run_mark) != 0)
		return false;
	for (; p; p = p->parent)
		if (p->number == k->process)
			return true;
	return false;
}

uint32_t recent_phase(struct recent *r, const struct process *p, uint64_t time_ns)
{
	const struct model *m = r->model;
	uint32_t low = 0, high = m->nr_marks;

	if (!m->nr_marks)
		return 0;
	if (r->phase_process == p && time_ns >= r->phase_from_ns && time_ns < r->phase_until_ns)
		return r->phase;
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
