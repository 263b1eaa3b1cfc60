/* SPDX-License-Identifier: MIT */
/*
 * Finds the step of an interpreter's program that is at an address. The programs that live at one time do not overlap, because memory has
 * one use at a time, but programs of other times may lie at the same addresses. Programs that begin at one address are sorted by time. So
 * only the programs at the nearest beginnings before the address must be examined, and only those that are near enough for the longest
 * program to reach the address.
 */
#include "analyzer/objects/objects.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>

#define STEPS_MAX (1u << 20)	   /* maximum number of steps of one program; a longer one is dropped */
#define BEGINNINGS_MAX 256	   /* maximum number of beginnings that are examined for an address */

void objects_add_steps(struct objects *o, uint32_t process, uint64_t address, const struct object_steps *s)
{
	uint32_t object = hash_map_find(&o->latest, process, address);
	uint64_t bytes = (uint64_t)s->stride * s->nr;

	if (!object || o->at[object].over || !s->stride || !s->nr || s->nr > STEPS_MAX || s->first > UINT64_MAX - bytes)
		return;
	if (!ARRAY_GROW(o->step_programs))
		return;
	o->step_programs.at[o->step_programs.nr] = *s;
	o->step_programs.at[o->step_programs.nr++].object = object;
	o->longest_steps = bytes > o->longest_steps ? bytes : o->longest_steps;
}

void objects_add_step_word(struct objects *o, uint64_t function, uint32_t offset)
{
	if (function && offset < UINT32_MAX)
		hash_map_set(&o->step_words, function, 0, offset + 1);
}

static int compare_step_places(const void *a, const void *b, void *objects)
{
	const struct object_steps *x = a, *y = b;
	const struct object *of = objects, *p = &of[x->object], *q = &of[y->object];

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (p->from_ns != q->from_ns)
		return p->from_ns < q->from_ns ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

bool objects_settle_steps(struct objects *o)
{
	if (o->step_programs.nr)
		qsort_r(o->step_programs.at, o->step_programs.nr, sizeof(*o->step_programs.at), compare_step_places, o->at);
	for (uint32_t i = 0; i < o->step_words.capacity; i++)
		if (o->step_words.slot[i].value && !hash_map_set(&o->functions, o->step_words.slot[i].a, 0, 1))
			return false;
	return true;
}

bool objects_step_word(const struct objects *o, uint64_t function, uint32_t *offset)
{
	uint32_t found = o->step_programs.nr ? hash_map_find(&o->step_words, function, 0) : 0;

	*offset = found - 1;
	return found;
}

static bool steps_begin_up_to(const struct objects *o, const struct object_steps *s, uint32_t process, uint64_t first, uint64_t time_ns)
{
	const struct object *x = &o->at[s->object];

	if (x->process != process)
		return x->process < process;
	return s->first != first ? s->first < first : x->from_ns <= time_ns;
}

/* Return the number of programs in o->step that belong to earlier processes, or to this one and begin before `first`, or at `first` and not
 * later than time_ns. */
static uint32_t count_steps_up_to(const struct objects *o, uint32_t process, uint64_t first, uint64_t time_ns)
{
	return SORTED_COUNT(o->step_programs.nr, i, steps_begin_up_to(o, &o->step_programs.at[i], process, first, time_ns));
}

uint32_t objects_find_step(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns, struct object_component *step)
{
	uint64_t first = address;

	for (int nr = 0; nr < BEGINNINGS_MAX; nr++) {
		uint32_t i = count_steps_up_to(o, process, first, UINT64_MAX);
		const struct object_steps *s = i ? &o->step_programs.at[i - 1] : NULL;

		if (!s || o->at[s->object].process != process || address - s->first >= o->longest_steps)
			return OBJECT_NONE;
		first = s->first;
		i = count_steps_up_to(o, process, first, time_ns);
		s = i ? &o->step_programs.at[i - 1] : NULL;
		if (s && o->at[s->object].process == process && s->first == first && time_ns < o->at[s->object].to_ns &&
		    (address - first) / s->stride < s->nr) {
			if ((address - first) % s->stride)
				return OBJECT_NONE;
			*step = (struct object_component){ s->level, s->component + (address - first) / s->stride };
			return s->object;
		}
		if (!first)
			return OBJECT_NONE;
		first--;
	}
	return OBJECT_NONE;
}
