/* SPDX-License-Identifier: MIT */
/*
 * The Tagging Dictionary of a process: levels, components, and the links from lower to upper ones; the plan's edges and
 * counters with them.  (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021.)
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
	uint32_t process; /* index of the last one that announced it */
	uint32_t above; /* bit per level that the host says is above it */
	uint32_t rank;	/* 0: topmost; by the links between components, and by what the host says */
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
	uint32_t before; /* 1 + index of the one before it to that level and id that had not ended; 0: none, or there are few links */
	bool same; /* the upper one is the lower one, seen otherwise: not worth saying */
};

struct component {
	uint32_t process, level; /* indexes */
	uint64_t id;
	bool common; /* to all processes (JITREG_COMPONENT_COMMON); process is the one that announced it first */
	char *name, *detail; /* "" when unknown */
	uint32_t flags;	     /* JITREG_COMPONENT_* */
	uint32_t source;     /* 1 + index of the SOURCE that it is a line of; name is that line */
	bool announced;
	bool of_objects; /* objects name it, and with it those above */
	uint64_t from_ns, to_ns; /* of this name; the first of an id is there before, too */
	uint32_t announced_at; /* its process's nr_uses then */
	struct link *links; /* upwards */
	uint32_t nr_links, links_capacity;
	uint32_t first_open; /* links before it have ended */
	uint32_t ended_seen; /* dictionary.nr_ended when all links were last compared with components that are over */
	struct counter *counters;
	uint32_t next_in_bucket;
	/* of the same id: the one before it, and one so much earlier that the search for a time takes few steps (E. Myers, An applicative
	 * random-access stack, 1983) */
	uint32_t older, much_older, nr_older;
};

struct edge {
	uint32_t from, to; /* component indexes */
	uint32_t order;
	char *label;
};

struct dictionary {
	struct level level[LEVELS_MAX];
	uint32_t level_id[LEVELS_MAX]; /* what hosts call them */
	uint32_t nr_levels;
	struct component *component; /* [0]: none */
	uint32_t nr_components, components_capacity;
	uint32_t *bucket;
	uint32_t nr_buckets;
	struct edge *edges;
	uint32_t nr_edges, edges_capacity;
	uint64_t end_steps; /* of dictionary_end_components(), all together */
	uint64_t steps; /* of searches that a host can make long, since the caller last looked */
	uint32_t nr_ended; /* components that are over */
	uint32_t nr_common; /* components */
	struct hash_map link_of; /* (lower, level and id of the upper one) -> 1 + the latest link, where a component has many */
	struct hash_map edge_of; /* (from, to) -> 1, of common components: each process may say the same */
	struct hash_map counter_of; /* (component, hash of a counter's name) -> 1 + index in counter_at */
	struct counter **counter_at;
	uint32_t nr_counters, counters_capacity;
};

/* When the same question has the same answer: [from, until). */
struct time_range {
	uint64_t from_ns, until_ns;
};
#define TIME_RANGE_ALL ((struct time_range){ 0, UINT64_MAX })

/* One way up from a component: its share, and the component at each level (COMPONENT_NONE: none). */
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

/* Index of a level by the host's number and, where two hosts differ, name; LEVELS_MAX when there are too many. */
uint32_t dictionary_get_level(struct dictionary *d, uint32_t id);
/* A level that no host numbered; LEVELS_MAX where one of that name is there already, and when there are too many. */
uint32_t dictionary_add_level(struct dictionary *d, const char *name);
/*
 * An id may be used again: what was announced under another name, or after its end, is another component.  Index of the latest one, made
 * when the id is new or its component is over; COMPONENT_NONE without memory.  process: index.
 * Here and below an id that the process has not announced itself is that of a common component, where there is one.
 */
uint32_t dictionary_get_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Likewise, but makes none: COMPONENT_NONE where the id was never named. */
uint32_t dictionary_find_component(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Whom the id named at a time, or COMPONENT_NONE; *holds is narrowed to when that is the answer. */
uint32_t dictionary_find_component_at(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, uint64_t time_ns,
				      struct time_range *holds);
/* Announced: another component from then on where the name or the detail differ; flags: JITREG_COMPONENT_*.  Takes the texts.  Index, or
 * COMPONENT_NONE. */
uint32_t dictionary_announce_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, char *name, char *detail,
				       uint32_t flags, uint64_t time_ns);
/* Components with ids [first, first + nr) of all levels are over. */
void dictionary_end_components(struct dictionary *d, uint32_t process, uint64_t first, uint64_t nr, uint64_t time_ns);

/* From time_ns on, until it is taken back or the lower component is over.  Where the upper one is over, so is the link, unless its id names
 * another component and nothing else was linked to since. */
void dictionary_link(struct dictionary *d, uint32_t lower, uint32_t upper, uint32_t weight, uint64_t time_ns);
/* The upper one is the lower one, as another level sees it: link.same. */
void dictionary_link_same(struct dictionary *d, uint32_t lower, uint32_t upper);
/* upper COMPONENT_NONE: all links to that level. */
void dictionary_unlink(struct dictionary *d, uint32_t lower, uint32_t upper_level, uint32_t upper, uint64_t time_ns);
void dictionary_add_edge(struct dictionary *d, uint32_t from, uint32_t to, uint32_t order, char *label);
void dictionary_set_counter(struct dictionary *d, uint32_t component, char *name, int64_t value, uint64_t time_ns);
/* The last value of a counter; false when there is none of that name. */
bool dictionary_find_counter(const struct dictionary *d, uint32_t component, const char *name, int64_t *value);
/* Ranks of levels, once all links are known. */
void dictionary_rank_levels(struct dictionary *d);

/* All parent paths of deciding components (of different levels) at a time, with their shares; DICTIONARY_ANY_TIME: by all links that
 * there ever were. */
#define DICTIONARY_ANY_TIME UINT64_MAX
void dictionary_expand_components(const struct dictionary *d, const uint32_t *deciding, uint32_t nr_deciding, uint64_t time_ns,
				  struct expansion *out);

#endif
