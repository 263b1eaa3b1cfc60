/* SPDX-License-Identifier: MIT */
#include "analyzer/model/dictionary.h"

#include "jitreg/base/grow.h"
#include "jitreg/engines/sql_identity.h"
#include "jitreg/trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 1024u
#define IDENTITY_STEP_BYTES 64 /* bytes of a detail that are reduced to its identity in a step of the budget */

int dictionary_init(struct dictionary *d)
{
	memset(d, 0, sizeof(*d));
	d->nr_buckets = BUCKETS_FIRST;
	d->bucket = calloc(d->nr_buckets, sizeof(*d->bucket));
	d->components.capacity = 64;
	d->components.at = calloc(d->components.capacity, sizeof(*d->components.at));
	d->components.nr = 1;
	if (!d->bucket || !d->components.at) {
		dictionary_fini(d);
		return -ENOMEM;
	}
	return 0;
}

void dictionary_fini(struct dictionary *d)
{
	for (uint32_t i = 0; i < d->nr_levels; i++)
		free(d->level[i].name);
	for (uint32_t i = 0; d->components.at && i < d->components.nr; i++) {
		struct component *c = &d->components.at[i];

		for (struct counter *next, *n = c->counters; n; n = next) {
			next = n->next;
			free(n->name);
			free(n);
		}
		free(c->name);
		free(c->detail);
		free(c->links.at);
	}
	for (uint32_t i = 0; i < d->edges.nr; i++)
		free(d->edges.at[i].label);
	free(d->edges.at);
	hash_map_fini(&d->link_of);
	hash_map_fini(&d->edge_of);
	hash_map_fini(&d->counter_of);
	free(d->counters.at);
	free(d->components.at);
	free(d->bucket);
	memset(d, 0, sizeof(*d));
}

uint32_t dictionary_get_level(struct dictionary *d, uint32_t id)
{
	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level_id[i] == id)
			return i;
	if (d->nr_levels == LEVELS_MAX)
		return LEVELS_MAX;
	d->level_id[d->nr_levels] = id;
	return d->nr_levels++;
}

uint32_t dictionary_add_level(struct dictionary *d, const char *name)
{
	uint32_t id = 0;

	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level[i].name && strcmp(d->level[i].name, name) == 0)
			return LEVELS_MAX;
	for (uint32_t i = 0; i < d->nr_levels; i++) /* take the first number above the hosts' own, except for those near UINT32_MAX */
		if (d->level_id[i] >= id && d->level_id[i] < UINT32_MAX - LEVELS_MAX)
			id = d->level_id[i] + 1;
	if (d->nr_levels == LEVELS_MAX)
		return LEVELS_MAX;
	d->level_id[d->nr_levels] = id;
	d->level[d->nr_levels].name = strdup(name);
	return d->nr_levels++;
}

static uint32_t hash_component_key(uint32_t process, uint32_t level, uint64_t id)
{
	return (uint32_t)hash_pair(id, (uint64_t)process << 32 | level);
}

#define COMMON UINT32_MAX /* in place of a process in the keys of common components */

static uint32_t owner_of_component(const struct component *c)
{
	return c->common ? COMMON : c->process;
}

static uint32_t find_component_of_owner(const struct dictionary *d, uint32_t owner, uint32_t level, uint64_t id)
{
	uint32_t i = d->bucket[hash_component_key(owner, level, id) % d->nr_buckets];
	const struct component *at = d->components.at;

	while (i && (owner_of_component(&at[i]) != owner || at[i].level != level || at[i].id != id))
		i = at[i].next_in_bucket;
	return i;
}

uint32_t dictionary_find_component(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id)
{
	uint32_t own = find_component_of_owner(d, process, level, id), common;

	if (!d->nr_common || (own && d->components.at[own].announced))
		return own;
	common = find_component_of_owner(d, COMMON, level, id);
	return common ? common : own;
}

static void grow_component_buckets(struct dictionary *d)
{
	uint32_t nr = 4 * d->nr_buckets, *bigger = calloc(nr, sizeof(*bigger));

	if (!bigger)
		return; /* look-ups get slower, not wrong */
	for (uint32_t i = 1; i < d->components.nr; i++) {
		struct component *c = &d->components.at[i];
		uint32_t *slot = &bigger[hash_component_key(owner_of_component(c), c->level, c->id) % nr];

		c->next_in_bucket = *slot;
		*slot = i;
	}
	free(d->bucket);
	d->bucket = bigger;
	d->nr_buckets = nr;
}

/* Adds a component, and returns its index, or COMPONENT_NONE if memory runs out.  older: the previous component with the same id, or
 * COMPONENT_NONE. */
static uint32_t add_component(struct dictionary *d, uint32_t process, bool common, uint32_t level, uint64_t id, uint64_t from_ns,
			      uint32_t older)
{
	uint32_t i, *slot, far;
	struct component *c;

	if (!ARRAY_GROW(d->components))
		return COMPONENT_NONE;
	if (d->components.nr > d->nr_buckets)
		grow_component_buckets(d);
	i = d->components.nr++;
	slot = &d->bucket[hash_component_key(common ? COMMON : process, level, id) % d->nr_buckets];
	c = &d->components.at[i];
	*c = (struct component){ .process = process, .common = common, .level = level, .id = id, .from_ns = from_ns,
				 .to_ns = UINT64_MAX, .next_in_bucket = *slot, .older = older };
	d->nr_common += common;
	if (older) {
		const struct component *before = &d->components.at[older], *jump = &d->components.at[before->much_older];
		uint32_t nr_far = d->components.at[jump->much_older].nr_older;

		far = before->much_older && before->nr_older - jump->nr_older == jump->nr_older - nr_far;
		c->nr_older = before->nr_older + 1;
		c->much_older = far ? jump->much_older : older;
	}
	*slot = i; /* later components of an id are found before earlier ones */
	return i;
}

static bool component_is_over(const struct component *c)
{
	return c->to_ns != UINT64_MAX;
}

uint32_t dictionary_get_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id)
{
	uint32_t i = dictionary_find_component(d, process, level, id);

	if (level >= LEVELS_MAX || (i && !component_is_over(&d->components.at[i])))
		return i;
	return add_component(d, process, i && d->components.at[i].common, level, id, i ? d->components.at[i].to_ns : 0, i);
}

/* Returns the component that a process announces, and adds it if it is new or over.  It is the process's own, or the common one if common
 * is set, whatever the other one with that id is. */
static uint32_t get_announced_component(struct dictionary *d, uint32_t process, bool common, uint32_t level, uint64_t id)
{
	uint32_t i = find_component_of_owner(d, common ? COMMON : process, level, id);

	if (level >= LEVELS_MAX || (i && !component_is_over(&d->components.at[i])))
		return i;
	return add_component(d, process, common, level, id, i ? d->components.at[i].to_ns : 0, i);
}

static void narrow_time_range(struct time_range *s, uint64_t change_ns, uint64_t time_ns)
{
	if (change_ns <= time_ns)
		s->from_ns = change_ns > s->from_ns ? change_ns : s->from_ns;
	else
		s->until_ns = change_ns < s->until_ns ? change_ns : s->until_ns;
}

/* Returns the component that an id named at a time, or COMPONENT_NONE, and narrows *holds to the time range of the answer. latest: the last
 * component with the id. */
static uint32_t component_at_time(const struct dictionary *d, uint32_t latest, uint64_t time_ns, struct time_range *holds)
{
	const struct component *component = d->components.at, *newer = NULL;
	uint32_t i = latest;

	while (component[i].older && component[i].from_ns > time_ns) {
		uint32_t far = component[i].much_older;

		newer = &component[i];
		i = far && component[far].from_ns > time_ns ? far : component[i].older;
	}
	if (!i)
		return COMPONENT_NONE;
	if (newer)
		narrow_time_range(holds, newer->from_ns, time_ns);
	if (component[i].older)
		narrow_time_range(holds, component[i].from_ns, time_ns);
	if (!component_is_over(&component[i]))
		return i;
	narrow_time_range(holds, component[i].to_ns, time_ns);
	return time_ns < component[i].to_ns ? i : COMPONENT_NONE;
}

uint32_t dictionary_find_component_at(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, uint64_t time_ns,
				      struct time_range *holds)
{
	return component_at_time(d, dictionary_find_component(d, process, level, id), time_ns, holds);
}

static void end_component(struct dictionary *d, struct component *c, uint64_t time_ns)
{
	d->nr_ended++;
	c->to_ns = time_ns > c->from_ns ? time_ns : c->from_ns;
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Returns whether a and b, which differ, have the same identity (sql_text_identity()).  Returns false if memory runs out. */
static bool same_identity(const char *a, const char *b)
{
	char *x = strdup(a), *y = strdup(b);
	bool same = x && y;

	if (same) {
		sql_text_identity(x, strlen(x));
		sql_text_identity(y, strlen(y));
		same = strcmp(x, y) == 0;
	}
	free(x);
	free(y);
	return same;
}

/* Checks whether a detail says that the id names another component from now on.  Each process of a server, and each epoch of a recording,
 * announces common components with the literals of the statement that it saw first, so these do not count. */
static bool detail_is_of_another(struct dictionary *d, const struct component *c, const char *detail, bool common)
{
	if (!detail || !*detail || same_text(c->detail, detail))
		return false;
	if (!common)
		return true;
	if (!c->detail || !*c->detail) /* another process knew no detail */
		return false;
	d->steps += (strlen(detail) + strlen(c->detail)) / IDENTITY_STEP_BYTES;
	return !same_identity(c->detail, detail);
}

uint32_t dictionary_announce_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, char *name, char *detail,
				       uint32_t flags, uint64_t time_ns)
{
	const bool common = flags & JITREG_COMPONENT_COMMON;
	uint32_t i = get_announced_component(d, process, common, level, id);
	struct component *c = &d->components.at[i];

	if (i && c->announced && (!same_text(c->name, name) || detail_is_of_another(d, c, detail, common))) {
		end_component(d, c, time_ns);
		i = add_component(d, process, common, level, id, c->to_ns, i);
		c = &d->components.at[i];
	}
	if (!i) {
		free(name);
		free(detail);
		return COMPONENT_NONE;
	}
	if (!c->announced && c->older && time_ns > c->from_ns)
		/* the id named no component between the end of the previous one and this announcement */
		c->from_ns = time_ns;
	free(c->name);
	c->name = name;
	if (!c->detail || !*c->detail || (detail && *detail && !common)) {
		free(c->detail);
		c->detail = detail;
	} else {
		free(detail);
	}
	c->flags = flags;
	c->announced = true;
	return i;
}

#define END_STEPS_MAX 1000000000ull /* limit for a whole trace, which protects from malformed ones; hosts need few */

void dictionary_end_components(struct dictionary *d, uint32_t process, uint64_t first, uint64_t nr, uint64_t time_ns)
{
	uint64_t steps = nr < d->components.nr ? nr * d->nr_levels : d->components.nr;

	d->steps += steps;
	d->end_steps += steps;
	if (d->end_steps > END_STEPS_MAX)
		return;
	if (nr < d->components.nr) { /* there are fewer numbers than components, so each is looked up */
		for (uint64_t n = 0; n < nr; n++)
			for (uint32_t level = 0; level < d->nr_levels; level++) {
				uint32_t i = find_component_of_owner(d, process, level, first + n);

				if (i && !component_is_over(&d->components.at[i]))
					end_component(d, &d->components.at[i], time_ns);
			}
		return;
	}
	for (uint32_t i = 1; i < d->components.nr; i++) {
		struct component *c = &d->components.at[i];

		if (!c->common && c->process == process && c->id - first < nr && !component_is_over(c))
			end_component(d, c, time_ns);
	}
}

/* Returns the component that a link leads to at a time, and narrows *holds to the time range of the answer. Returns COMPONENT_NONE if the
 * link does not hold then, or if its component was over and the id named no other one. With DICTIONARY_ANY_TIME, each link holds. */
static uint32_t upper_component_at_time(const struct dictionary *d, const struct link *l, uint64_t time_ns, struct time_range *holds)
{
	const struct component *c = &d->components.at[l->upper];

	if (time_ns == DICTIONARY_ANY_TIME)
		return l->upper;
	narrow_time_range(holds, l->from_ns, time_ns);
	if (l->to_ns != UINT64_MAX)
		narrow_time_range(holds, l->to_ns, time_ns);
	if (time_ns < l->from_ns || time_ns >= l->to_ns)
		return COMPONENT_NONE;
	if (!component_is_over(c))
		return l->upper;
	narrow_time_range(holds, c->to_ns, time_ns);
	return time_ns < c->to_ns ?
		       l->upper :
		       component_at_time(d, find_component_of_owner(d, owner_of_component(c), c->level, c->id), time_ns, holds);
}

#define LINKS_FEW 16u /* up to this many links are searched one by one */

static bool link_has_ended(const struct link *l)
{
	return l->to_ns != UINT64_MAX;
}

static void end_link(struct link *l, uint64_t time_ns)
{
	l->to_ns = time_ns > l->from_ns ? time_ns : l->from_ns;
}

static uint64_t link_key_of_upper(const struct component *upper)
{
	return upper->id * LEVELS_MAX + upper->level;
}

/* Finds the latest link of a component with more than LINKS_FEW links to the level and id of another component. Returns 1 + its index in
 * the component's links, or 0. Takes earlier links that have ended out of the chain (link.before). */
static uint32_t latest_link(struct dictionary *d, uint32_t lower, uint32_t upper)
{
	struct link *link = d->components.at[lower].links.at;
	uint32_t i = hash_map_find(&d->link_of, lower, link_key_of_upper(&d->components.at[upper]));

	for (uint32_t at = i; at; at = link[at - 1].before)
		while (link[at - 1].before && link_has_ended(&link[link[at - 1].before - 1])) {
			link[at - 1].before = link[link[at - 1].before - 1].before;
			d->steps++;
		}
	return i;
}

static void remember_link(struct dictionary *d, uint32_t lower, uint32_t i)
{
	struct component *c = &d->components.at[lower];
	const struct component *upper = &d->components.at[c->links.at[i].upper];

	c->links.at[i].before = hash_map_find(&d->link_of, lower, link_key_of_upper(upper));
	hash_map_set(&d->link_of, lower, link_key_of_upper(upper), i + 1);
}

static bool add_link(struct dictionary *d, uint32_t lower, uint32_t upper, uint32_t weight, uint64_t time_ns)
{
	struct component *c = &d->components.at[lower];

	if (!ARRAY_RESERVE(c->links, 1)) /* most components have one link or two, so an empty array gets room for one */
		return false;
	c->links.at[c->links.nr++] = (struct link){ .upper = upper, .weight = weight, .from_ns = time_ns, .to_ns = UINT64_MAX };
	if (c->links.nr == LINKS_FEW + 1)
		for (uint32_t i = 0; i < c->links.nr; i++)
			remember_link(d, lower, i);
	else if (c->links.nr > LINKS_FEW)
		remember_link(d, lower, c->links.nr - 1);
	return true;
}

/* Ends links of a component to those components of a level that are over at time_ns. If the component has more than LINKS_FEW links, they
 * are searched only if some component has ended since the last search for this one and level. */
static void end_links_to_ended(struct dictionary *d, struct component *c, uint32_t level, uint64_t time_ns)
{
	if (c->ended_seen != d->nr_ended)
		c->ended_levels = 0;
	c->ended_seen = d->nr_ended;
	if (c->ended_levels >> level & 1 && c->links.nr > LINKS_FEW)
		return;
	d->steps += c->links.nr - c->first_open;
	for (uint32_t i = c->first_open; i < c->links.nr; i++) {
		const struct component *other = &d->components.at[c->links.at[i].upper];

		if (!link_has_ended(&c->links.at[i]) && other->level == level && component_is_over(other) && other->to_ns <= time_ns)
			end_link(&c->links.at[i], time_ns);
	}
	c->ended_levels |= 1u << level;
}

void dictionary_link(struct dictionary *d, uint32_t lower, uint32_t upper, uint32_t weight, uint64_t time_ns)
{
	struct component *c = &d->components.at[lower];
	uint32_t level;

	if (!lower || !upper || lower == upper)
		return;
	level = d->components.at[upper].level;
	if (c->links.nr > LINKS_FEW) {
		for (uint32_t i = latest_link(d, lower, upper); i; i = c->links.at[i - 1].before) {
			struct link *l = &c->links.at[i - 1];

			if (l->upper != upper || link_has_ended(l))
				continue;
			if (l->weight == weight)
				return;
			end_link(l, time_ns);
		}
	} else {
		for (uint32_t i = 0; i < c->links.nr; i++) {
			struct link *l = &c->links.at[i];

			if (l->upper != upper || link_has_ended(l))
				continue;
			if (l->weight == weight)
				return;
			end_link(l, time_ns);
		}
	}
	end_links_to_ended(d, c, level, time_ns);
	add_link(d, lower, upper, weight, time_ns);
}

void dictionary_link_same(struct dictionary *d, uint32_t lower, uint32_t upper)
{
	const struct component *c = &d->components.at[lower];

	dictionary_link(d, lower, upper, 1, 0);
	for (uint32_t i = c->links.nr; i > 0; i--) /* the link is the last one, or existed already */
		if (c->links.at[i - 1].upper == upper) {
			c->links.at[i - 1].same = true;
			return;
		}
}

void dictionary_unlink(struct dictionary *d, uint32_t lower, uint32_t upper_level, uint32_t upper, uint64_t time_ns)
{
	struct component *c = &d->components.at[lower];

	if (!lower)
		return;
	if (upper && c->links.nr > LINKS_FEW) {
		for (uint32_t i = latest_link(d, lower, upper); i; i = c->links.at[i - 1].before)
			if (!link_has_ended(&c->links.at[i - 1]))
				end_link(&c->links.at[i - 1], time_ns);
		return;
	}
	while (c->first_open < c->links.nr && link_has_ended(&c->links.at[c->first_open]))
		c->first_open++;
	d->steps += c->links.nr - c->first_open;
	for (uint32_t i = c->first_open; i < c->links.nr; i++) {
		struct link *l = &c->links.at[i];
		const struct component *other = &d->components.at[l->upper], *ended = &d->components.at[upper];

		if (!link_has_ended(l) && (upper ? other->level == ended->level && other->id == ended->id : other->level == upper_level))
			end_link(l, time_ns);
	}
}

void dictionary_add_edge(struct dictionary *d, uint32_t from, uint32_t to, uint32_t order, char *label)
{
	if ((d->components.at[from].common && hash_map_find(&d->edge_of, from, to)) || !ARRAY_GROW(d->edges)) {
		free(label);
		return;
	}
	d->edges.at[d->edges.nr++] = (struct edge){ from, to, order, label };
	if (d->components.at[from].common)
		hash_map_set(&d->edge_of, from, to, 1);
}

static struct counter *find_counter(const struct dictionary *d, uint32_t component, const char *name)
{
	uint32_t i = hash_map_find(&d->counter_of, component, hash_text(name));

	return i && strcmp(d->counters.at[i - 1]->name, name) == 0 ? d->counters.at[i - 1] : NULL;
}

void dictionary_set_counter(struct dictionary *d, uint32_t component, char *name, int64_t value, uint64_t time_ns)
{
	struct component *c = &d->components.at[component];
	struct counter *n = find_counter(d, component, name);

	if (n) {
		free(name);
		if (time_ns >= n->time_ns) {
			n->value = value;
			n->time_ns = time_ns;
		}
		return;
	}
	n = component && ARRAY_GROW(d->counters) ? malloc(sizeof(*n)) : NULL;
	if (!n || !hash_map_set(&d->counter_of, component, hash_text(name), d->counters.nr + 1)) {
		free(n);
		free(name);
		return;
	}
	*n = (struct counter){ name, value, time_ns, c->counters };
	c->counters = n;
	d->counters.at[d->counters.nr++] = n;
}

bool dictionary_find_counter(const struct dictionary *d, uint32_t component, const char *name, int64_t *value)
{
	const struct counter *n = find_counter(d, component, name);

	if (n)
		*value = n->value;
	return n != NULL;
}

/* Ranks each level below all levels that it is linked to, by the longest way up.  Links between levels may form a cycle, so there are at
 * most LEVELS_MAX rounds and ranks. */
void dictionary_rank_levels(struct dictionary *d)
{
	bool above[LEVELS_MAX][LEVELS_MAX] = { { false } }, changed = true;

	for (uint32_t i = 1; i < d->components.nr; i++)
		for (uint32_t n = 0; n < d->components.at[i].links.nr; n++)
			above[d->components.at[i].level][d->components.at[d->components.at[i].links.at[n].upper].level] = true;
	for (uint32_t lower = 0; lower < d->nr_levels; lower++)
		for (uint32_t upper = 0; upper < d->nr_levels; upper++)
			above[lower][upper] |= d->level[lower].above >> upper & 1 && !above[upper][lower];
	for (uint32_t round = 0; changed && round < LEVELS_MAX; round++) {
		changed = false;
		for (uint32_t lower = 0; lower < d->nr_levels; lower++)
			for (uint32_t upper = 0; upper < d->nr_levels; upper++)
				if (above[lower][upper] && lower != upper && d->level[lower].rank <= d->level[upper].rank &&
				    d->level[upper].rank + 1 < LEVELS_MAX) {
					d->level[lower].rank = d->level[upper].rank + 1;
					changed = true;
				}
	}
}

/* Returns the total weight of the links of a component to a level that hold at a time. */
static uint64_t link_weight_to_level(const struct dictionary *d, const struct component *c, uint32_t level, uint64_t time_ns,
				     struct time_range *holds)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->links.nr; i++)
		if (d->components.at[c->links.at[i].upper].level == level && upper_component_at_time(d, &c->links.at[i], time_ns, holds))
			sum += c->links.at[i].weight ? c->links.at[i].weight : 1;
	return sum;
}

/* Adds to row r the upper components that component leads to, and in turn those that they lead to.  If there are several at a level, the
 * row is copied for each, and its share is divided by their weights. */
static void climb_to_upper_components(const struct dictionary *d, struct expansion *e, uint32_t r, uint32_t component, uint64_t time_ns,
				      int depth)
{
	uint64_t levels_done = 0;

	if (depth > (int)LEVELS_MAX)
		return;
	for (uint32_t i = 0; i < d->components.at[component].links.nr; i++) {
		const struct component *c = &d->components.at[component];
		uint32_t level = d->components.at[c->links.at[i].upper].level;
		struct expansion_row base = e->row[r];
		uint64_t total;
		bool first = true;

		if (levels_done & (1u << level) || !upper_component_at_time(d, &c->links.at[i], time_ns, &e->holds))
			continue;
		levels_done |= 1u << level;
		if (base.component[level]) /* the level has a deciding component, or one by another way up */
			continue;
		total = link_weight_to_level(d, c, level, time_ns, &e->holds);
		for (uint32_t n = i; n < c->links.nr; n++) {
			const struct link *l = &c->links.at[n];
			uint32_t at, upper;

			if (d->components.at[l->upper].level != level || !(upper = upper_component_at_time(d, l, time_ns, &e->holds)))
				continue;
			if (first) {
				at = r;
			} else if (e->nr < EXPANSION_ROWS_MAX) {
				at = e->nr++;
				e->row[at] = base;
			} else {
				continue; /* more parents than rows: shares are scaled at the end */
			}
			first = false;
			e->row[at].share = base.share * (l->weight ? l->weight : 1) / (double)total;
			e->row[at].component[level] = upper;
			climb_to_upper_components(d, e, at, upper, time_ns, depth + 1);
			if (at != r) /* the component's links to other levels hold for the copy, too */
				climb_to_upper_components(d, e, at, component, time_ns, depth + 1);
		}
	}
}

void dictionary_expand_components(const struct dictionary *d, const uint32_t *deciding, uint32_t nr_deciding, uint64_t time_ns,
				  struct expansion *out)
{
	double sum = 0;

	memset(out, 0, sizeof(*out));
	out->holds = TIME_RANGE_ALL;
	out->nr = 1;
	out->row[0].share = 1;
	for (uint32_t i = 0; i < nr_deciding; i++)
		if (deciding[i])
			out->row[0].component[d->components.at[deciding[i]].level] = deciding[i];
	for (uint32_t i = 0; i < nr_deciding; i++)
		for (uint32_t r = 0, nr = out->nr; deciding[i] && r < nr; r++)
			climb_to_upper_components(d, out, r, deciding[i], time_ns, 0);
	/* When a row was copied, the components below the split still had links to other levels to follow, and did so for the original row
	 * alone.  So the components of each copy are asked again. */
	for (uint32_t r = 1; r < out->nr; r++)
		for (uint32_t level = 0; level < d->nr_levels; level++)
			climb_to_upper_components(d, out, r, out->row[r].component[level], time_ns, 0);
	for (uint32_t r = 0; r < out->nr; r++)
		sum += out->row[r].share;
	for (uint32_t r = 0; sum > 0 && r < out->nr; r++)
		out->row[r].share /= sum;
}
