/* SPDX-License-Identifier: MIT */
/*
 * The Tagging Dictionary has levels, components, and the links from lower to upper components, and the plan's edges and counters.
 * (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021.)
 *
 * Levels and components are numbered densely over the whole trace, so that samples can name them by index.
 * Context: thread.
 */
#ifndef TAILOR_DICTIONARY_H
#define TAILOR_DICTIONARY_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

#define LEVELS_MAX 16
#define EXPANSION_ROWS_MAX 16
#define COMPONENT_NONE 0u /* index 0: no component */

struct level {
	char *name;
	uint32_t flags; /* JITREG_LEVEL_* */
	uint32_t process; /* index of the last process that announced it */
	uint32_t above; /* bit per level that the host says is above it */
	uint32_t rank;	/* 0: topmost; by links between components, and by what the host declares */
};

struct counter {
	char *name;
	int64_t value;
	uint64_t time_ns;
	struct counter *next;
};

struct link {
	uint32_t upper; /* component index */
	uint32_t weight;
	uint64_t from_ns, to_ns;
	uint32_t before; /* 1 + index of the previous link to that level and id that had not ended; 0: none, or there are few links */
	bool same; /* the upper component is the lower one at another level, so views do not show the link */
};

struct component {
	uint32_t process, level; /* indexes */
	uint64_t id;
	bool common; /* common to all processes (JITREG_COMPONENT_COMMON); process is the first that announced it */
	char *name, *detail; /* "" when unknown */
	uint32_t flags;	     /* JITREG_COMPONENT_* */
	uint32_t source;     /* 1 + index of the SOURCE that it is a line of; name is that line */
	bool announced;
	bool of_objects; /* objects name it, or a component below it */
	uint64_t from_ns, to_ns; /* time range of this name; the first component with an id holds before it, too */
	uint32_t announced_at; /* nr_uses of the process when it was announced */
	struct link *links; /* upwards */
	uint32_t nr_links, links_capacity;
	uint32_t first_open; /* all links before this one have ended */
	uint32_t ended_seen; /* dictionary.nr_ended when all links were last compared with components that are over */
	struct counter *counters;
	uint32_t next_in_bucket;
	/* Earlier components with the same id: the previous one, one so much earlier that the search for a time takes few steps (E.
	 * Myers, An applicative random-access stack, 1983), and how many there are. */
	uint32_t older, much_older, nr_older;
};

struct edge {
	uint32_t from, to; /* component indexes */
	uint32_t order;
	char *label;
};

struct dictionary {
	struct level level[LEVELS_MAX];
	uint32_t level_id[LEVELS_MAX]; /* numbers that hosts gave them */
	uint32_t nr_levels;
	struct component *component; /* [0]: none */
	uint32_t nr_components, components_capacity;
	uint32_t *bucket;
	uint32_t nr_buckets;
	struct edge *edges;
	uint32_t nr_edges, edges_capacity;
	uint64_t end_steps; /* all steps of dictionary_end_components() */
	uint64_t steps; /* steps of searches that a host can make long, since the caller last took them */
	uint32_t nr_ended; /* components that are over */
	uint32_t nr_common; /* common components */
	struct hash_map link_of; /* (lower, level and id of the upper one) -> 1 + the latest link, for components with many links */
	struct hash_map edge_of; /* (from, to) -> 1 for common components, because each process may announce the same edge */
	struct hash_map counter_of; /* (component, hash of a counter's name) -> 1 + index in counter_at */
	struct counter **counter_at;
	uint32_t nr_counters, counters_capacity;
};

/* The time range [from, until) in which the same question has the same answer. */
struct time_range {
	uint64_t from_ns, until_ns;
};
#define TIME_RANGE_ALL ((struct time_range){ 0, UINT64_MAX })

/* A way up from a component, with its share: the component at each level (COMPONENT_NONE: none). */
struct expansion_row {
	double share;
	uint32_t component[LEVELS_MAX];
};

struct expansion {
	struct time_range holds;
	uint32_t nr;
	struct expansion_row row[EXPANSION_ROWS_MAX]; /* shares add up to 1 */
};

int dictionary_init(struct dictionary *d);
void dictionary_fini(struct dictionary *d);

/* Returns the index of a level by the host's number, and adds the level if it is new.  LEVELS_MAX: there are too many. */
uint32_t dictionary_get_level(struct dictionary *d, uint32_t id);
/* Adds a level that no host numbered.  LEVELS_MAX: one with that name exists, or there are too many. */
uint32_t dictionary_add_level(struct dictionary *d, const char *name);
/*
 * Returns the index of the latest component with an id, and adds one if the id is new or its component is over.  An id can be used again:
 * what was announced under another name, or after its end, is another component.  process: an index.  COMPONENT_NONE: out of memory.  Here
 * and below, an id that the process has not announced itself is that of a common component, if there is one.
 */
uint32_t dictionary_get_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Does the same, but adds none.  COMPONENT_NONE: the id never named one. */
uint32_t dictionary_find_component(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Returns the component that the id named at a time, or COMPONENT_NONE.  *holds is narrowed to the time range of the answer. */
uint32_t dictionary_find_component_at(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, uint64_t time_ns,
				      struct time_range *holds);
/* Takes an announcement.  If name or detail differ from before, the id names another component from then on.  flags: JITREG_COMPONENT_*.
 * Takes over the texts.  Returns the index, or COMPONENT_NONE. */
uint32_t dictionary_announce_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, char *name, char *detail,
				       uint32_t flags, uint64_t time_ns);
/* Ends the components with ids [first, first + nr) at all levels. */
void dictionary_end_components(struct dictionary *d, uint32_t process, uint64_t first, uint64_t nr, uint64_t time_ns);

/* Links two components from time_ns on, until the link is taken back or the lower component is over.  If the upper component is over, so
 * is the link, unless its id names another component and no other link to that level was made since. */
void dictionary_link(struct dictionary *d, uint32_t lower, uint32_t upper, uint32_t weight, uint64_t time_ns);
/* Links a component to itself as another level sees it (link.same). */
void dictionary_link_same(struct dictionary *d, uint32_t lower, uint32_t upper);
/* Ends the links to upper.  COMPONENT_NONE: those to all components of upper_level. */
void dictionary_unlink(struct dictionary *d, uint32_t lower, uint32_t upper_level, uint32_t upper, uint64_t time_ns);
void dictionary_add_edge(struct dictionary *d, uint32_t from, uint32_t to, uint32_t order, char *label);
void dictionary_set_counter(struct dictionary *d, uint32_t component, char *name, int64_t value, uint64_t time_ns);
/* Finds the last value of a counter.  false: there is none of that name. */
bool dictionary_find_counter(const struct dictionary *d, uint32_t component, const char *name, int64_t *value);
/* Ranks the levels.  All links must be known. */
void dictionary_rank_levels(struct dictionary *d);

/* Finds all parent paths of deciding components (of different levels) at a time, with their shares.  DICTIONARY_ANY_TIME: by all links
 * that there ever were. */
#define DICTIONARY_ANY_TIME UINT64_MAX
void dictionary_expand_components(const struct dictionary *d, const uint32_t *deciding, uint32_t nr_deciding, uint64_t time_ns,
				  struct expansion *out);

#endif
