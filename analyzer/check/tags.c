/* SPDX-License-Identifier: MIT */
/* Checks the place and the bits of tags as they are declared, and the code that preserves them. */
#include "analyzer/check/internal.h"

#include "jitreg/base/registers.h"

static const char *const register_names[REGISTERS_NR] = {
#define NAME_(name, dwarf, perf, instruction) [dwarf] = #name,
	REGISTERS(NAME_)
#undef NAME_
};

#define STACK_POINTER 7u

static bool register_is_sampled(const struct model *m, uint32_t where)
{
	bool any = false;

	for (uint32_t i = 0; i < m->nr_events; i++) {
		if (m->event[i].registers >> registers_perf[where] & 1)
			return true;
		any |= m->event[i].registers != 0;
	}
	return !any; /* no event samples registers, which is the recorder's choice and not the host's mistake */
}

static void check_tag_place(struct check *c, const struct tag *t, uint32_t pid)
{
	if (t->where == JITREG_TAG_MEMORY)
		return;
	if (t->where >= REGISTERS_NR || t->where == STACK_POINTER) {
		FOUND(c, FINDING_TAG_REGISTER, 0, "register %u, process %u", t->where, pid);
		return;
	}
	if (!register_is_sampled(c->m, t->where))
		FOUND(c, FINDING_TAG_UNSAMPLED, 0, "register %s, process %u", register_names[t->where], pid);
	if (!t->nr_preserving_ranges)
		FOUND(c, FINDING_TAG_CODE, 0, "register %s, process %u: no ranges of code", register_names[t->where], pid);
	for (uint32_t i = 0; i < t->nr_preserving_ranges; i++)
		if (t->preserving_range[i].start >= t->preserving_range[i].end) {
			FOUND(c, FINDING_TAG_CODE, 0, "from %#llx to %#llx, process %u", (unsigned long long)t->preserving_range[i].start,
			      (unsigned long long)t->preserving_range[i].end, pid);
			break;
		}
}

static uint64_t bits_of(const struct tag *t, uint32_t field)
{
	return (t->field[field].bits < 64 ? (1ull << t->field[field].bits) - 1 : ~0ull) << t->field[field].shift;
}

static void check_tag_bits(struct check *c, const struct tag *t, uint32_t pid)
{
	uint64_t used = 0;
	bool overlap = false;

	for (uint32_t i = 0; i < t->nr_fields; i++) {
		uint64_t bits = bits_of(t, i);
		uint32_t level = t->field[i].level;

		overlap |= (used & bits) != 0;
		used |= bits;
		if (c->complete && !c->m->dictionary.level[level].name)
			FOUND(c, FINDING_TAG_LEVEL, 0, "level %u, process %u", c->m->dictionary.level_id[level], pid);
	}
	if (overlap || (!t->nr_fields && !c->m->fault[FAULT_TAG_FIELD].count))
		FOUND(c, FINDING_TAG_FIELDS, 0, overlap ? "fields overlap, process %u" : "no fields, process %u", pid);
	if (t->check_value & ~t->check_mask)
		FOUND(c, FINDING_TAG_CHECK, 0, "value %#llx, mask %#llx, process %u: no tag can be right",
		      (unsigned long long)t->check_value, (unsigned long long)t->check_mask, pid);
	else if (t->check_mask & used)
		FOUND(c, FINDING_TAG_CHECK, 0, "mask %#llx, process %u: bits of fields are checked, too",
		      (unsigned long long)t->check_mask, pid);
}

bool check_is_sound_tag(const struct check *c, const struct tag *t)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < t->nr_fields; i++) {
		uint64_t bits = bits_of(t, i);

		if (used & bits || !c->m->dictionary.level[t->field[i].level].name)
			return false;
		used |= bits;
	}
	return used && !(t->check_value & ~t->check_mask) && !(t->check_mask & used) &&
	       (t->where == JITREG_TAG_MEMORY || (t->where < REGISTERS_NR && t->where != STACK_POINTER));
}

void check_tags(struct check *c)
{
	const struct fault *f = &c->m->fault[FAULT_TAG_FIELD];

	for (uint32_t i = 0; i < c->m->processes.nr; i++) {
		const struct process *p = c->m->numbered.at[i];

		for (uint32_t n = 0; n < p->tags.nr; n++) {
			check_tag_place(c, &p->tags.at[n], p->pid);
			check_tag_bits(c, &p->tags.at[n], p->pid);
		}
	}
	if (check_count_finding(c, FINDING_TAG_FIELDS, f->count, 0))
		check_set_example(c, FINDING_TAG_FIELDS, "level %llu, shift %llu, %llu bits, process %u", (unsigned long long)f->value[0],
				  (unsigned long long)f->value[1], (unsigned long long)f->value[2], check_pid(c, f->process));
}
