/* SPDX-License-Identifier: MIT */
/* Checks levels, the names of components, the direction, number and cycles of links, components and texts that should have links, counters
 * of rows, and whether components that are used were announced. */
#include "analyzer/check/internal.h"

#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANCESTORS_MAX 64

/* ------------------------------------------------------------------------------------------------------- what is known */

/* The components that are the lines of a text have the ids above first, up to last, of a level of a process. */
struct lines {
	uint32_t process, level;
	uint64_t first, last;
};

static int compare_line_ranges(const void *a, const void *b)
{
	const struct lines *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static uint32_t sort_line_components(const struct model *m, struct lines *lines)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->sources.nr; i++) {
		const struct source *s = &m->sources.at[i];

		if (s->level < LEVELS_MAX)
			lines[nr++] = (struct lines){ s->process, s->level, s->first_component, s->first_component + s->nr_lines };
	}
	if (nr)
		qsort(lines, nr, sizeof(*lines), compare_line_ranges);
	/* Ranges may overlap. To let a search look only at the last range that begins below an id, each range is extended to the end of the
	 * earlier ones of its level. */
	for (uint32_t i = 1; i < nr; i++)
		if (lines[i].process == lines[i - 1].process && lines[i].level == lines[i - 1].level && lines[i].last < lines[i - 1].last)
			lines[i].last = lines[i - 1].last;
	return nr;
}

static bool is_line_component(const struct lines *lines, uint32_t nr, uint32_t process, uint32_t level, uint64_t id)
{
	const struct lines wanted = { process, level, id, 0 };
	uint32_t up_to = SORTED_COUNT(nr, i, compare_line_ranges(&lines[i], &wanted) < 0);

	return up_to > 0 && lines[up_to - 1].process == process && lines[up_to - 1].level == level && id <= lines[up_to - 1].last;
}

static bool component_is_known(const struct model *m, const struct lines *lines, uint32_t nr, uint32_t component)
{
	const struct component *k = &m->dictionary.components.at[component];
	const struct process *p = m->numbered.at[k->process];

	if (k->announced || is_line_component(lines, nr, k->process, k->level, k->id))
		return true;
	p = p->parent;
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent) {
		uint32_t same = dictionary_find_component(&m->dictionary, p->number, k->level, k->id);

		if ((same && m->dictionary.components.at[same].announced) || is_line_component(lines, nr, p->number, k->level, k->id))
			return true;
	}
	return false;
}

/* Fill in c->known and c->names. All components of a level that has neither an announced one nor a line of a text count as known, because
 * its host announces none there. Return 0 or -ENOMEM. */
static int find_known_components(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	struct lines *lines = malloc((c->m->sources.nr + 1) * sizeof(*lines));
	uint32_t nr;

	c->known = malloc(d->components.nr);
	if (!lines || !c->known) {
		free(lines);
		return -ENOMEM;
	}
	nr = sort_line_components(c->m, lines);
	for (uint32_t i = 0; i < nr; i++)
		c->names[lines[i].level] = true;
	for (uint32_t i = 1; i < d->components.nr; i++)
		c->names[d->components.at[i].level] |= d->components.at[i].announced;
	for (uint32_t i = 1; i < d->components.nr; i++)
		c->known[i] = !c->names[d->components.at[i].level] || component_is_known(c->m, lines, nr, i);
	free(lines);
	return 0;
}

/* ------------------------------------------------------------------------------------------------- levels and components */

static void check_levels(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	uint32_t nr[LEVELS_MAX] = { 0 };

	for (uint32_t i = 1; i < d->components.nr; i++)
		nr[d->components.at[i].level]++;
	for (uint32_t i = 0; i < d->nr_levels; i++) {
		if (host_levels_have(c->m, i))
			continue;
		if (!d->level[i].name) {
			if (nr[i] && c->complete)
				FOUND(c, FINDING_LEVEL_UNKNOWN, 0, "level %u, which has %u components", d->level_id[i], nr[i]);
		} else if (!check_is_text(d->level[i].name)) {
			FOUND(c, FINDING_LEVEL_NAME, 0, "level %u", d->level_id[i]);
		}
		for (uint32_t up = 0; c->complete && d->level[i].name && up < d->nr_levels; up++)
			if (d->level[i].above >> up & 1 && !d->level[up].name)
				FOUND(c, FINDING_LEVEL_UPPER, 0, "level %u and level %u", d->level_id[i], d->level_id[up]);
		for (uint32_t n = 0; d->level[i].flags & JITREG_LEVEL_PLAN && n < i; n++)
			if (d->level[n].flags & JITREG_LEVEL_PLAN && d->level[n].process == d->level[i].process) {
				FOUND(c, FINDING_LEVEL_PLANS, 0, "level %u beside level %u", d->level_id[i], d->level_id[n]);
				break;
			}
	}
}

static void check_component_names(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	char name[CHECK_NAME];

	for (uint32_t i = 1; i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];

		if (k->announced && !check_is_text(k->name))
			FOUND(c, FINDING_COMPONENT_NAME, 0, "%s of process %u", check_component_name(c, i, name), check_pid(c, k->process));
	}
}

static bool is_row_counter(const char *name)
{
	return strcmp(name, "rows") == 0 || strcmp(name, "estimated rows") == 0;
}

static void check_counters(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	char name[CHECK_NAME];

	for (uint32_t i = 1; i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];

		for (const struct counter *n = k->counters; n; n = n->next)
			if (n->value < 0 && is_row_counter(n->name))
				FOUND(c, FINDING_ROWS_NEGATIVE, 0, "%s of %s: %lld", n->name, check_component_name(c, i, name),
				      (long long)n->value);
		if (k->counters && !c->known[i] && c->complete)
			FOUND(c, FINDING_USE_UNKNOWN, 0, "the counter '%.30s' of %s", k->counters->name, check_component_name(c, i, name));
	}
	for (uint32_t i = 1; i < c->m->areas.nr; i++) {
		const struct memory *m = c->m->areas.at[i];

		if (m && m->component && !c->known[m->component] && c->complete)
			FOUND(c, FINDING_USE_UNKNOWN, 0, "the memory '%.30s' of %s", m->name ? m->name : "",
			      check_component_name(c, m->component, name));
	}
}

/* ---------------------------------------------------------------------------------------------------------------- links */

/* The arrays tell which level is above which, by index of the lower level. */
struct ups {
	uint32_t declared[LEVELS_MAX]; /* bits of the levels above by LEVEL records, directly or over others */
	uint64_t links[LEVELS_MAX][LEVELS_MAX]; /* number of links from one level to another */
	uint32_t nr[LEVELS_MAX], linked[LEVELS_MAX]; /* nr: number of announced components; linked: how many of them have links */
	bool any_declared;
};

static void count_links(const struct check *c, struct ups *u)
{
	const struct dictionary *d = &c->m->dictionary;

	memset(u, 0, sizeof(*u));
	for (uint32_t i = 0; i < d->nr_levels; i++)
		u->declared[i] = d->level[i].above;
	for (uint32_t i = 0; i < d->nr_levels; i++)
		u->any_declared |= u->declared[i] != 0;
	for (uint32_t round = 0; round < d->nr_levels; round++)
		for (uint32_t i = 0; i < d->nr_levels; i++)
			for (uint32_t up = 0; up < d->nr_levels; up++)
				if (u->declared[i] >> up & 1)
					u->declared[i] |= u->declared[up];
	for (uint32_t i = 1; i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];

		u->nr[k->level] += k->announced;
		u->linked[k->level] += k->announced && k->links.nr;
		for (uint32_t n = 0; n < k->links.nr; n++)
			u->links[k->level][d->components.at[k->links.at[n].upper].level]++;
	}
}

/* Return whether links from `lower` to `upper` are in the wrong direction. The declared order of the two levels decides. If there is none,
 * the direction with fewer links is the wrong one. */
static bool links_are_reversed(const struct ups *u, uint32_t lower, uint32_t upper)
{
	bool said_up = u->declared[lower] >> upper & 1, said_down = u->declared[upper] >> lower & 1;

	if (lower == upper || !u->links[lower][upper])
		return false;
	if (said_up || said_down)
		return said_down && !said_up;
	return u->links[lower][upper] < u->links[upper][lower];
}

static void check_reversed_links(struct check *c, const struct ups *u)
{
	const struct dictionary *d = &c->m->dictionary;
	uint32_t reversed[LEVELS_MAX] = { 0 }, any = 0;
	char a[CHECK_NAME], b[CHECK_NAME];

	for (uint32_t i = 0; i < d->nr_levels; i++)
		for (uint32_t up = 0; up < d->nr_levels; up++)
			if (links_are_reversed(u, i, up))
				any |= reversed[i] |= 1u << up;
	for (uint32_t i = 1; any && i < d->components.nr; i++)
		for (uint32_t n = 0; n < d->components.at[i].links.nr; n++) {
			uint32_t up = d->components.at[i].links.at[n].upper;

			if (reversed[d->components.at[i].level] >> d->components.at[up].level & 1)
				FOUND(c, FINDING_LINK_REVERSED, 0, "%s to %s", check_component_name(c, i, a),
				      check_component_name(c, up, b));
		}
}

static void check_unknown_links(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	char a[CHECK_NAME], b[CHECK_NAME];

	for (uint32_t i = 1; c->complete && i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];

		if (host_levels_have(c->m, k->level))
			continue;
		for (uint32_t n = 0; n < k->links.nr; n++)
			if (!c->known[i] || !c->known[k->links.at[n].upper])
				FOUND(c, FINDING_LINK_UNKNOWN, 0, "%s to %s", check_component_name(c, i, a),
				      check_component_name(c, k->links.at[n].upper, b));
	}
}

static void check_link_fan_out(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	char name[CHECK_NAME];

	for (uint32_t i = 1; i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];
		uint32_t nr[LEVELS_MAX] = { 0 };

		if (k->links.nr <= EXPANSION_ROWS_MAX)
			continue;
		for (uint32_t n = 0; n < k->links.nr; n++) {
			uint32_t level = d->components.at[k->links.at[n].upper].level;

			if (k->links.at[n].to_ns != UINT64_MAX || ++nr[level] != EXPANSION_ROWS_MAX + 1)
				continue;
			FOUND(c, FINDING_LINK_MANY, 0, "%s, at level %s", check_component_name(c, i, name), check_level_name(c, level));
		}
	}
}

static bool level_has_links_up(const struct check *c, const struct ups *u, uint32_t level)
{
	if (u->any_declared)
		return u->declared[level] != 0;
	return c->complete && u->nr[level] >= 2 && 2 * (uint64_t)u->linked[level] >= u->nr[level];
}

static double samples_of_component(const struct check *c, uint32_t component)
{
	uint32_t level = c->m->dictionary.components.at[component].level;

	return c->sums ? report_find_sum(c->sums->level[level], component)->samples : 0;
}

/* Report announced components without links, of levels whose components should have some. Shared code, the engine's runtime and classes of
 * objects need none. The example is the component with the most samples. */
static void check_unlinked_components(struct check *c, const struct ups *u)
{
	const struct dictionary *d = &c->m->dictionary;
	double best = -1;
	char name[CHECK_NAME];

	for (uint32_t i = 1; c->complete && i < d->components.nr; i++) {
		const struct component *k = &d->components.at[i];
		double samples;

		if (!k->announced || k->links.nr || k->of_objects || k->flags & (JITREG_COMPONENT_SHARED | JITREG_COMPONENT_RUNTIME) ||
		    host_levels_have(c->m, k->level) || !level_has_links_up(c, u, k->level))
			continue;
		samples = samples_of_component(c, i);
		if (k->to_ns != UINT64_MAX && samples <= 0)
			continue; /* the component has ended without a sample, perhaps before its first use */
		check_count_finding(c, FINDING_COMPONENT_UNLINKED, 1, samples);
		if (samples > best)
			check_set_example(c, FINDING_COMPONENT_UNLINKED, "%s of process %u", check_component_name(c, i, name),
					  check_pid(c, k->process));
		best = samples > best ? samples : best;
	}
}

/* Report texts with samples of which no line has a link, although a level above theirs is declared. */
static void check_unlinked_lines(struct check *c, const struct ups *u)
{
	const struct dictionary *d = &c->m->dictionary;
	const struct model *m = c->m;

	for (uint32_t i = 0; c->complete && i < m->sources.nr; i++) {
		const struct source *s = &m->sources.at[i];
		bool linked = false;
		double samples = 0;

		if (s->level == LEVELS_MAX || !u->declared[s->level])
			continue;
		for (uint64_t line = 1; line <= s->nr_lines && !linked; line++) {
			uint32_t component = dictionary_find_component(d, s->process, s->level, s->first_component + line);

			linked = component && d->components.at[component].links.nr;
			samples += component ? samples_of_component(c, component) : 0;
		}
		if (!linked && samples > 0)
			FOUND(c, FINDING_LINES_UNLINKED, samples, "'%.60s', level %s, process %u", s->name ? s->name : "",
			      check_level_name(c, s->level), check_pid(c, s->process));
	}
}

/* --------------------------------------------------------------------------------------------------------------- cycles */

/* Return whether links between components can form a cycle. They cannot if the links between levels form none. */
static bool links_may_have_cycles(const struct dictionary *d, const struct ups *u)
{
	uint32_t left = (1u << d->nr_levels) - 1, before;

	do { /* remove the levels that have no links to levels that are left, as long as there are any */
		before = left;
		for (uint32_t i = 0; i < d->nr_levels; i++) {
			bool leads = false;

			for (uint32_t up = 0; up < d->nr_levels; up++)
				leads |= u->links[i][up] && left >> up & 1;
			if (!leads)
				left &= ~(1u << i);
		}
	} while (left != before);
	return left != 0;
}

struct step {
	uint32_t component, link; /* link: index of the component's next link to follow */
};

/* Follow links that have not ended, depth first. A link to a component on the present path closes a cycle. Return 0 or -ENOMEM. */
static int check_link_cycles(struct check *c)
{
	enum { NEW, ON_THE_WAY, DONE };
	const struct dictionary *d = &c->m->dictionary;
	unsigned char *state = calloc(d->components.nr, 1);
	struct step *stack = malloc(d->components.nr * sizeof(*stack));
	char a[CHECK_NAME], b[CHECK_NAME];
	uint32_t depth;

	for (uint32_t root = 1; state && stack && root < d->components.nr; root++) {
		if (state[root] != NEW)
			continue;
		state[root] = ON_THE_WAY;
		stack[0] = (struct step){ root, 0 };
		for (depth = 1; depth;) {
			struct step *s = &stack[depth - 1];
			const struct component *k = &d->components.at[s->component];
			const struct link *l;

			if (s->link == k->links.nr) {
				state[s->component] = DONE;
				depth--;
				continue;
			}
			l = &k->links.at[s->link++];
			if (l->to_ns != UINT64_MAX || state[l->upper] == DONE) {
				continue;
			} else if (state[l->upper] == ON_THE_WAY) {
				FOUND(c, FINDING_LINK_CYCLE, 0, "%s and %s", check_component_name(c, l->upper, a),
				      check_component_name(c, s->component, b));
			} else {
				state[l->upper] = ON_THE_WAY;
				stack[depth++] = (struct step){ l->upper, 0 };
			}
		}
	}
	depth = !state || !stack;
	free(state);
	free(stack);
	return depth ? -ENOMEM : 0;
}

int check_dictionary(struct check *c)
{
	struct ups u;
	int ret = find_known_components(c);

	if (ret)
		return ret;
	count_links(c, &u);
	check_levels(c);
	check_component_names(c);
	check_counters(c);
	check_unlinked_components(c, &u);
	check_unknown_links(c);
	check_reversed_links(c, &u);
	check_link_fan_out(c);
	check_unlinked_lines(c, &u);
	return links_may_have_cycles(&c->m->dictionary, &u) ? check_link_cycles(c) : 0;
}
