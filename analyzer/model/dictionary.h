/* SPDX-License-Identifier: MIT */
/*
 * The Tagging Dictionary has levels, components, and the links from lower to upper components, and the plan's edges and counters. (A.
 * Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021.)
 *
 * Levels and components are numbered densely over the whole trace, so that the sample table can name them by index.  If memory runs out,
 * functions without a result leave out what they were to add.
 *
 * Context: thread.
 */
#ifndef TAILOR_DICTIONARY_H
#define TAILOR_DICTIONARY_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

#define LEVELS_MAX 16
#define EXPANSION_ROWS_MAX 16
#define COMPONENT_NONE 0u /* index 0: no component */

struct level {
	char *name;
	uint32_t flags; /* JITREG_LEVEL_* */
	uint32_t process; /* index of the last process that announced it; 0 if none did */
	uint32_t above; /* bit per level that the host says is above it */
	/* 0: topmost; else larger than the ranks of all levels above it, unless links between levels form a cycle
	 * (dictionary_rank_levels()) */
	uint32_t rank;
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
	/* 1 + index of the previous link to that level and id, from which latest_link() takes out those that have ended; 0: none, or the
	 * component has at most LINKS_FEW links */
	uint32_t before;
	bool same; /* the upper component is the same thing as the lower one at another level, so views do not show the link */
};

struct component {
	uint32_t process, level; /* indexes */
	uint64_t id;
	bool common; /* common to all processes (JITREG_COMPONENT_COMMON); process is the first that announced it */
	char *name, *detail; /* NULL or "": unknown */
	uint32_t flags;	     /* JITREG_COMPONENT_* */
	uint32_t source;     /* 1 + index of the SOURCE that it is a line of; name is that line */
	bool announced;
	bool of_objects; /* an OBJECT record names it */
	uint32_t ended_levels; /* bits of the levels for which end_links_to_ended() has gone through the links since ended_seen */
	uint64_t from_ns, to_ns; /* time range of this name; the first component with an id holds before it, too */
	uint32_t announced_at; /* nr_uses of the process when it was announced */
	ARRAY(struct link) links; /* upwards */
	uint32_t first_open; /* all links before this one have ended */
	uint32_t ended_seen; /* dictionary.nr_ended when end_links_to_ended() last went through the links */
	struct counter *counters;
	uint32_t next_in_bucket;
	/* Earlier components with the same id: the previous one; another one, which lets a search by time skip most of them (E. Myers, An
	 * applicative random-access stack, 1983); and how many there are. */
	uint32_t older, much_older, nr_older;
};

struct edge {
	uint32_t from, to; /* component indexes */
	uint32_t order;
	char *label;
};

struct dictionary {
	struct level level[LEVELS_MAX];
	uint32_t level_id[LEVELS_MAX]; /* numbers that hosts, or dictionary_add_level(), gave them */
	uint32_t nr_levels;
	ARRAY(struct component) components; /* [0]: none */
	uint32_t *bucket;
	uint32_t nr_buckets;
	ARRAY(struct edge) edges;
	uint64_t end_steps; /* steps of all calls of dictionary_end_components(), which END_STEPS_MAX limits */
	uint64_t steps; /* steps of searches that a host can make long, which model_create() charges to the trace's budget and sets to 0 */
	uint32_t nr_ended; /* number of times that a component was ended */
	uint32_t nr_common; /* common components */
	/* (lower, level and id of the upper one) -> 1 + index of the latest link, for components with more than LINKS_FEW */
	struct hash_map link_of;
	struct hash_map edge_of; /* (from, to) -> 1 for common components, because each process may announce the same edge */
	struct hash_map counter_of; /* (component, hash of a counter's name) -> 1 + index in `counters` */
	ARRAY(struct counter *) counters;
};

/* The same question has the same answer in the time range [from, until). */
struct time_range {
	uint64_t from_ns, until_ns;
};
#define TIME_RANGE_ALL ((struct time_range){ 0, UINT64_MAX })

/* A parent path of a sample has its component at each level (COMPONENT_NONE: none), and the share of the sample that belongs to this
 * path. */
struct expansion_row {
	double share;
	uint32_t component[LEVELS_MAX];
};

struct expansion {
	struct time_range holds;
	uint32_t nr;
	struct expansion_row row[EXPANSION_ROWS_MAX]; /* shares add up to 1 */
};

/* Returns 0 or -ENOMEM, after which nothing need be freed. */
int dictionary_init(struct dictionary *d);
void dictionary_fini(struct dictionary *d);

/* Returns the index of a level by the host's number, and adds the level if it is new. Returns LEVELS_MAX if it is new, and there are
 * LEVELS_MAX already. */
uint32_t dictionary_get_level(struct dictionary *d, uint32_t id);
/* Adds a level that no host numbered, and returns its index. Returns LEVELS_MAX if one with that name exists, or if there are LEVELS_MAX
 * already. */
uint32_t dictionary_add_level(struct dictionary *d, const char *name);
/*
 * Returns the index of the latest component with an id, and adds one if the id is new or its component is over.  An id can be used again:
 * what was announced under another name, or after its end, is another component. process: an index. Returns COMPONENT_NONE if memory ran
 * out, or if level is LEVELS_MAX. Here and in the two functions that follow, an id that the process has not announced itself is that of a
 * common component, if there is one.
 */
uint32_t dictionary_get_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Returns the index of the latest component with an id, also if it is over.  Returns COMPONENT_NONE if the id never named one. */
uint32_t dictionary_find_component(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id);
/* Returns the component that the id named at a time, or COMPONENT_NONE.  *holds is narrowed to the time range of the answer. */
uint32_t dictionary_find_component_at(const struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, uint64_t time_ns,
				      struct time_range *holds);
/* Reads an announcement, and returns the index of its component. If name differs from before, or a detail that is not empty does, the id
 * names another component from then on. A common component keeps its first detail that is not empty, and is another one only if the detail
 * differs in more than literals (sql_text_identity()). name and detail (either may be NULL) are freed by the dictionary. flags:
 * JITREG_COMPONENT_*. Returns COMPONENT_NONE if memory ran out, or if level is LEVELS_MAX. */
uint32_t dictionary_announce_component(struct dictionary *d, uint32_t process, uint32_t level, uint64_t id, char *name, char *detail,
				       uint32_t flags, uint64_t time_ns);
/* Ends the process's own components with ids [first, first + nr) at all levels, but not common ones.  Does nothing once END_STEPS_MAX is
 * exceeded. */
void dictionary_end_components(struct dictionary *d, uint32_t process, uint64_t first, uint64_t nr, uint64_t time_ns);

/* Links two components from time_ns on, until dictionary_unlink(). A later call with another weight ends this link and makes another. If
 * the upper component ends and its id names another one later, the link leads to that one, unless lower has got a new link to that level by
 * then. */
void dictionary_link(struct dictionary *d, uint32_t lower, uint32_t upper, uint32_t weight, uint64_t time_ns);
/* Links a component, for all times, to the component of another level that stands for the same thing (link.same). */
void dictionary_link_same(struct dictionary *d, uint32_t lower, uint32_t upper);
/* Ends the links of lower to all components with upper's level and id. If upper is COMPONENT_NONE, ends those to all components of
 * upper_level. */
void dictionary_unlink(struct dictionary *d, uint32_t lower, uint32_t upper_level, uint32_t upper, uint64_t time_ns);
/* Adds an edge of a plan. label is freed by the dictionary. From a common component, the same edge is added once. */
void dictionary_add_edge(struct dictionary *d, uint32_t from, uint32_t to, uint32_t order, char *label);
/* Sets the value of a counter, unless it has one of a later time.  name is freed by the dictionary. */
void dictionary_set_counter(struct dictionary *d, uint32_t component, char *name, int64_t value, uint64_t time_ns);
/* Finds the value that a counter was last set to by time.  Returns false if the component has no counter of that name. */
bool dictionary_find_counter(const struct dictionary *d, uint32_t component, const char *name, int64_t *value);
/* Ranks the levels (level.rank) by the links between their components, and by what hosts declare. The model calls this after the last
 * record. */
void dictionary_rank_levels(struct dictionary *d);

/* Finds the parent paths of deciding components (of different levels) at a time, with their shares. Beyond EXPANSION_ROWS_MAX paths, the
 * rest is left out and the shares of the others grow. With DICTIONARY_ANY_TIME, all links that there ever were count. */
#define DICTIONARY_ANY_TIME UINT64_MAX
void dictionary_expand_components(const struct dictionary *d, const uint32_t *deciding, uint32_t nr_deciding, uint64_t time_ns,
				  struct expansion *out);

#endif
