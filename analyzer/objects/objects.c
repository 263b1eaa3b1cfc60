/* SPDX-License-Identifier: MIT */
#include "analyzer/objects/objects.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"
#include "jitreg/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE_MAX 4096u
#define KNOWN 8192u /* entries of the cache of answers, a power of two */

struct object_entry {
	uint64_t function, from_ns;
	uint32_t process, object;
	bool is_class;
};

/* ----------------------------------------------------------------------------------------------------------- records */

static uint64_t mix_hash(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static bool set_has_numbers(const struct objects *o, uint32_t set, const uint64_t *numbers, size_t nr)
{
	return o->sets.at[set].nr == nr && (!nr || memcmp(o->numbers.at + o->sets.at[set].first, numbers, nr * sizeof(*numbers)) == 0);
}

/* Return the index of the set of these numbers, which is added if there is none. Return UINT32_MAX if memory runs out. */
static uint32_t get_number_set(struct objects *o, const uint64_t *numbers, size_t nr)
{
	uint64_t h = nr;
	uint32_t i;

	for (size_t n = 0; n < nr; n++)
		h = mix_hash(h, numbers[n]);
	i = hash_map_find(&o->set_of, h, 0);
	if (i && set_has_numbers(o, i, numbers, nr))
		return i;
	/* the empty set also needs a pointer that is not NULL */
	if (nr > UINT32_MAX / 2 - o->numbers.nr || !ARRAY_GROW(o->sets) || !ARRAY_RESERVE(o->numbers, nr + 1))
		return UINT32_MAX;
	if (nr)
		memcpy(o->numbers.at + o->numbers.nr, numbers, nr * sizeof(*numbers));
	o->sets.at[o->sets.nr] = (struct object_set){ o->numbers.nr, (uint32_t)nr };
	o->numbers.nr += (uint32_t)nr;
	hash_map_set(&o->set_of, h, 0, o->sets.nr);
	return o->sets.nr++;
}

/* Sort the numbers, and drop zeros and all but one of equal ones. Return how many remain. */
static size_t sort_and_drop_duplicates(uint64_t *numbers, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(numbers, nr, sizeof(*numbers), sorted_by_number);
	for (size_t i = 0; i < nr; i++)
		if (numbers[i] && (!kept || numbers[kept - 1] != numbers[i]))
			numbers[kept++] = numbers[i];
	return kept;
}

/* Return whether neither the object nor one above it has ended, as far as records were read. */
static bool object_is_open(struct objects *o, uint32_t i)
{
	o->steps += o->at[i].depth / 16;
	for (; i; i = o->at[i].upper)
		if (o->at[i].over)
			return false;
	return true;
}

static void end_object_at(struct object *x, uint64_t time_ns)
{
	time_ns = time_ns > x->from_ns ? time_ns : x->from_ns;
	x->to_ns = time_ns < x->to_ns ? time_ns : x->to_ns;
	x->over = true;
}

static bool add_none_object(struct objects *o)
{
	if (o->nr)
		return true;
	if (!ARRAY_GROW(*o) || get_number_set(o, NULL, 0) == UINT32_MAX)
		return false;
	o->at[o->nr++] = (struct object){ 0 };
	return true;
}

uint32_t objects_add(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address, uint64_t upper_address, uint32_t flags,
		     uint64_t *functions, size_t nr_functions, const struct object_component *components, size_t nr_components)
{
	struct object new = { .address = address, .from_ns = time_ns, .to_ns = UINT64_MAX, .process = process, .flags = flags };
	uint32_t before;
	struct object *old;

	if (!address || !add_none_object(o))
		return OBJECT_NONE;
	before = hash_map_find(&o->latest, process, address);
	if (upper_address) {
		new.upper = hash_map_find(&o->latest, process, upper_address);
		if (!new.upper || new.upper == before || !object_is_open(o, new.upper) || o->at[new.upper].depth == OBJECT_DEPTH_MAX) {
			o->lost++;
			return OBJECT_NONE;
		}
		new.depth = o->at[new.upper].depth + 1;
		new.root = o->at[new.upper].root;
	}
	new.functions = get_number_set(o, functions, sort_and_drop_duplicates(functions, nr_functions));
	new.components = get_number_set(o, (const uint64_t *)components, 2 * nr_components);
	if (new.functions == UINT32_MAX || new.components == UINT32_MAX)
		return OBJECT_NONE;
	old = &o->at[before];
	if (before && object_is_open(o, before) && old->upper == new.upper && old->flags == flags && old->functions == new.functions &&
	    old->components == new.components)
		/* The same object was announced again, because a new recorder started or the host does not keep track of what it
		 * announced. The object lives on. */
		return before;
	if (!ARRAY_GROW(*o) || !hash_map_set(&o->latest, process, address, o->nr))
		return OBJECT_NONE;
	if (before)
		end_object_at(&o->at[before], time_ns);
	if (!new.root)
		new.root = o->nr;
	o->at[o->nr] = new;
	return o->nr++;
}

void objects_end(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address)
{
	uint32_t i = hash_map_find(&o->latest, process, address);

	if (i && !o->at[i].over)
		end_object_at(&o->at[i], time_ns);
}

/* ------------------------------------------------------------------------------------------------------------ indexes */

/* Return the number of entries that an object has in the index by function. A class and an outermost object have one for each function. An
 * outermost object, and a class with JITREG_OBJECT_EVERYWHERE, also have one without a function (0), by which all of them are found. Other
 * objects have none. */
static uint32_t nr_entries_of_object(const struct objects *o, const struct object *x)
{
	if (x->flags & JITREG_OBJECT_CLASS)
		return o->sets.at[x->functions].nr + ((x->flags & JITREG_OBJECT_EVERYWHERE) != 0);
	return x->upper ? 0 : o->sets.at[x->functions].nr + 1;
}

/* Place the objects of each tree side by side, upper ones before those below them, and limit the life of each to that of its upper one.
 * Return false if memory runs out. */
static bool make_object_trees(struct objects *o)
{
	uint32_t *next = calloc(o->nr, sizeof(*next)), at = 1;

	o->tree = calloc(o->nr, sizeof(*o->tree));
	for (uint32_t i = o->nr - 1; next && o->tree && i > 0; i--)
		if (o->at[i].upper)
			o->at[o->at[i].upper].nr_below += o->at[i].nr_below + 1;
	for (uint32_t i = 1; next && o->tree && i < o->nr; i++) {
		struct object *x = &o->at[i], *upper = &o->at[x->upper];

		x->place = x->upper ? next[x->upper] : at;
		*(x->upper ? &next[x->upper] : &at) += x->nr_below + 1;
		next[i] = x->place + 1;
		o->tree[x->place] = i;
		if (x->upper) {
			x->from_ns = x->from_ns > upper->from_ns ? x->from_ns : upper->from_ns;
			x->to_ns = x->to_ns < upper->to_ns ? x->to_ns : upper->to_ns;
		}
		if (x->to_ns < x->from_ns)
			x->to_ns = x->from_ns;
	}
	free(next);
	return next && o->tree;
}

static int compare_object_addresses(const void *a, const void *b, void *objects)
{
	const struct object *x = &((const struct object *)objects)[*(const uint32_t *)a];
	const struct object *y = &((const struct object *)objects)[*(const uint32_t *)b];

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_entry_functions(const void *a, const void *b)
{
	const struct object_entry *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->is_class != y->is_class)
		return x->is_class ? 1 : -1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static bool make_object_entries(struct objects *o)
{
	size_t nr = 0;

	for (uint32_t i = 1; i < o->nr; i++)
		nr += nr_entries_of_object(o, &o->at[i]);
	if (nr > UINT32_MAX / 4)
		return false;
	for (o->nr_leaves = 1; o->nr_leaves < nr; o->nr_leaves *= 2)
		;
	o->entry = calloc(nr + 1, sizeof(*o->entry));
	o->last = calloc(2 * (size_t)o->nr_leaves, sizeof(*o->last));
	if (!o->entry || !o->last)
		return false;
	for (uint32_t i = 1; i < o->nr; i++) {
		const struct object *x = &o->at[i];
		const struct object_set *s = &o->sets.at[x->functions];

		for (uint32_t n = 0, of = nr_entries_of_object(o, x); n < of; n++)
			o->entry[o->nr_entries++] = (struct object_entry){ n < s->nr ? o->numbers.at[s->first + n] : 0, x->from_ns,
									   x->process, i, (x->flags & JITREG_OBJECT_CLASS) != 0 };
	}
	if (nr)
		qsort(o->entry, nr, sizeof(*o->entry), compare_entry_functions);
	for (uint32_t i = 0; i < nr; i++)
		o->last[o->nr_leaves + i] = o->at[o->entry[i].object].to_ns;
	for (uint32_t i = o->nr_leaves - 1; i > 0; i--)
		o->last[i] = o->last[2 * i] > o->last[2 * i + 1] ? o->last[2 * i] : o->last[2 * i + 1];
	return true;
}

int objects_settle(struct objects *o)
{
	hash_map_fini(&o->latest);
	if (o->nr < 2)
		return 0;
	o->by_address = malloc(o->nr * sizeof(*o->by_address));
	o->known = calloc(KNOWN, sizeof(*o->known));
	if (!o->by_address || !o->known || !make_object_trees(o) || !make_object_entries(o))
		return -ENOMEM;
	for (uint32_t i = 1; i < o->nr; i++) {
		const struct object_set *s = &o->sets.at[o->at[i].functions];

		for (uint32_t n = 0; n < s->nr; n++)
			if (!hash_map_set(&o->functions, o->numbers.at[s->first + n], 0, 1))
				return -ENOMEM;
		o->by_address[i - 1] = i;
	}
	qsort_r(o->by_address, o->nr - 1, sizeof(*o->by_address), compare_object_addresses, o->at);
	return objects_settle_steps(o) ? 0 : -ENOMEM;
}

void objects_fini(struct objects *o)
{
	free(o->at);
	free(o->numbers.at);
	free(o->sets.at);
	hash_map_fini(&o->set_of);
	hash_map_fini(&o->latest);
	hash_map_fini(&o->functions);
	free(o->tree);
	free(o->by_address);
	free(o->entry);
	free(o->last);
	free(o->known);
	free(o->step_programs.at);
	hash_map_fini(&o->step_words);
	memset(o, 0, sizeof(*o));
}

/* ---------------------------------------------------------------------------------------------------------- questions */

bool object_has_function(const struct objects *o, uint32_t object, uint64_t function)
{
	const struct object_set *s = &o->sets.at[o->at[object].functions];
	uint32_t up_to = SORTED_COUNT(s->nr, i, o->numbers.at[s->first + i] < function);

	return up_to < s->nr && o->numbers.at[s->first + up_to] == function;
}

static bool object_lives_at(const struct object *x, uint64_t time_ns)
{
	return x->from_ns <= time_ns && time_ns < x->to_ns;
}

static bool object_begins_up_to(const struct object *x, uint32_t process, uint64_t address, uint64_t time_ns)
{
	if (x->process != process)
		return x->process < process;
	return x->address != address ? x->address < address : x->from_ns <= time_ns;
}

uint32_t objects_find(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns)
{
	uint32_t up_to =
		SORTED_COUNT(o->nr ? o->nr - 1 : 0, i, object_begins_up_to(&o->at[o->by_address[i]], process, address, time_ns));
	const struct object *x = up_to ? &o->at[o->by_address[up_to - 1]] : NULL;

	return x && x->process == process && x->address == address && object_lives_at(x, time_ns) ? o->by_address[up_to - 1] : OBJECT_NONE;
}

/* Return the end of the entries of the key's process, function and kind that begin at its time or before. The entries of smaller keys stand
 * before them. */
static uint32_t count_entries_up_to(const struct objects *o, const struct object_entry *key)
{
	return SORTED_COUNT(o->nr_entries, i, compare_entry_functions(&o->entry[i], key) <= 0);
}

/* Return 1 + the index of the last entry before end that still lives after the time. Return 0 if there is none. node, in the binary tree
 * o->last, holds the entries [first, first + nr). */
static uint32_t find_last_alive_entry(const struct objects *o, uint32_t end, uint64_t time_ns, uint32_t node, uint32_t first, uint32_t nr)
{
	uint32_t found;

	if (first >= end || o->last[node] <= time_ns)
		return 0;
	if (nr == 1)
		return first + 1;
	found = find_last_alive_entry(o, end, time_ns, 2 * node + 1, first + nr / 2, nr / 2);
	return found ? found : find_last_alive_entry(o, end, time_ns, 2 * node, first, nr / 2);
}

uint32_t objects_find_outermost(const struct objects *o, uint32_t process, uint64_t function, bool is_class, uint64_t time_ns,
				uint32_t *object, uint32_t max)
{
	const struct object_entry key = { function, time_ns, process, UINT32_MAX, is_class };
	uint32_t end = count_entries_up_to(o, &key), nr = 0;

	while (nr < max && end && (end = find_last_alive_entry(o, end, time_ns, 1, 0, o->nr_leaves))) {
		const struct object_entry *e = &o->entry[--end];

		if (e->process != process || e->function != function || e->is_class != is_class)
			break;
		object[nr++] = e->object;
	}
	return nr;
}

bool object_is_called(const struct objects *o, uint32_t object)
{
	return o->at[object].flags & JITREG_OBJECT_CALLED;
}

bool object_is_node(const struct objects *o, uint32_t object)
{
	return !(o->at[object].flags & JITREG_OBJECT_CLASS);
}

bool object_is_outermost(const struct objects *o, uint32_t object)
{
	return object_is_node(o, object) && !o->at[object].upper;
}

static void narrow_answer_times(struct object_answer *a, uint64_t change_ns, uint64_t time_ns)
{
	if (change_ns <= time_ns)
		a->from_ns = change_ns > a->from_ns ? change_ns : a->from_ns;
	else
		a->until_ns = change_ns < a->until_ns ? change_ns : a->until_ns;
}

static bool objects_are_alike(const struct objects *o, uint32_t a, uint32_t b)
{
	const struct object_set *x = &o->sets.at[o->at[a].components], *y = &o->sets.at[o->at[b].components];

	return x->nr && y->nr && memcmp(o->numbers.at + x->first, o->numbers.at + y->first, sizeof(struct object_component)) == 0;
}

/* Return the one of two objects with the same first component that has fewer components. Return OBJECT_NONE if their first components
 * differ. */
static uint32_t whole_of_alike(const struct objects *o, uint32_t a, uint32_t b)
{
	if (!a || !objects_are_alike(o, a, b))
		return OBJECT_NONE;
	return o->sets.at[o->at[b].components].nr < o->sets.at[o->at[a].components].nr ? b : a;
}

struct object_answer objects_find_below(struct objects *o, uint32_t object, enum objects_below which, uint64_t function, uint64_t time_ns)
{
	struct object_answer *known = &o->known[mix_hash(mix_hash(function, object), which) & (KNOWN - 1)];
	struct object_answer a = { function, 0, UINT64_MAX, object, which, OBJECT_NONE, UINT32_MAX, false, OBJECT_NONE };
	const struct object *of = &o->at[object];

	if (known->of == object && known->function == function && known->which == which && known->from_ns <= time_ns &&
	    time_ns < known->until_ns)
		return *known;
	o->steps += 1 + of->nr_below / 4;
	for (uint32_t n = which == OBJECTS_NEAREST; n <= of->nr_below; n++) {
		const uint32_t i = o->tree[of->place + n];
		const struct object *x = &o->at[i];

		if (!object_is_node(o, i) || !object_has_function(o, i, function))
			continue;
		narrow_answer_times(&a, x->from_ns, time_ns);
		narrow_answer_times(&a, x->to_ns, time_ns);
		if (!object_lives_at(x, time_ns) || (which == OBJECTS_NEAREST && x->depth > a.depth))
			continue;
		if (x->depth < a.depth && which == OBJECTS_NEAREST)
			a.first = OBJECT_NONE;
		a.several = a.first != OBJECT_NONE;
		a.whole = a.several ? whole_of_alike(o, a.whole, i) : i;
		a.first = a.first ? a.first : i;
		a.depth = x->depth;
	}
	*known = a;
	return a;
}

bool objects_is_one_of(const struct objects *o, const struct object_answer *a, uint32_t object)
{
	const struct object *of = &o->at[a->of], *x = &o->at[object];

	if (!object || x->place - of->place > of->nr_below || !object_is_node(o, object) ||
	    !object_has_function(o, object, a->function))
		return false;
	return a->which == OBJECTS_ALL || (object != a->of && x->depth == a->depth);
}

uint32_t objects_find_alike(struct objects *o, const struct object_answer *a, uint32_t object, uint64_t time_ns)
{
	const struct object *of = &o->at[a->of];
	uint32_t found = OBJECT_NONE;

	if (of->nr_below > ALIKE_MAX) /* trees with pipelines are smaller; a search of a larger one would take too long */
		return OBJECT_NONE;
	o->steps += 1 + of->nr_below / 4;
	for (uint32_t n = 0; n <= of->nr_below; n++) {
		const uint32_t i = o->tree[of->place + n];

		if (!objects_is_one_of(o, a, i) || !object_lives_at(&o->at[i], time_ns) || !objects_are_alike(o, i, object))
			continue;
		if (found)
			return OBJECT_NONE;
		found = i;
	}
	return found;
}

const struct object_component *object_components(const struct objects *o, uint32_t object, uint32_t *nr)
{
	const struct object_set *s = &o->sets.at[o->at[object].components];

	*nr = s->nr / 2;
	return (const struct object_component *)(const void *)(o->numbers.at + s->first);
}
