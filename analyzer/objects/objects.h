/* SPDX-License-Identifier: MIT */
/*
 * The objects that functions work on (jitreg_object()): the nodes of plans that engines interpret, by process and time. An object lives
 * from its announcement until its end, or the end of an object around it, or until another object has its address. Records of a process
 * count in their order in the trace, although their times may be earlier (a plan that was read while its query ran). A forked child has no
 * objects of its parent.
 *
 * objects_settle() makes the indexes once, and no question examines all objects: 200,000 objects, and 1,000 trees that replace one another
 * each second, are ordinary. Objects of a tree stand side by side, each before those below it.
 * Context: thread.
 */
#ifndef TAILOR_OBJECTS_H
#define TAILOR_OBJECTS_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_NONE 0u /* index 0: no object */
#define OBJECT_DEPTH_MAX 1024u

struct object {
	uint64_t address, from_ns, to_ns; /* the object lives in [from, to) */
	uint32_t process;		  /* index */
	uint32_t flags;			  /* JITREG_OBJECT_* */
	uint32_t upper, root;		  /* indexes; the outermost object is its own root, and has no upper one */
	uint32_t depth;
	uint32_t functions, components; /* sets */
	uint32_t place, nr_below; /* tree[place] is the object, tree[place + 1] to tree[place + nr_below] are those below it */
	bool over;		  /* while records are read: its end was announced, or another object has its address */
};

struct object_component {
	uint64_t level, id; /* level: index */
};

/* Numbers that many objects share: sorted addresses of functions, or components, two numbers each. */
struct object_set {
	uint32_t first, nr; /* in numbers */
};

/* Steps that an object executes, side by side (see steps.c). */
struct object_steps {
	uint64_t first, component;
	uint32_t stride, nr, level; /* level: index */
	uint32_t object;
};

struct objects {
	struct object *object; /* [0]: none */
	struct object_steps *step; /* sorted by process, first and time when all are read */
	uint32_t nr_steps, steps_capacity;
	uint64_t longest_steps; /* bytes */
	struct hash_map step_words; /* (function, 0) -> offset + 1 */
	uint32_t nr, capacity;
	uint64_t *number; /* numbers of all sets */
	uint32_t nr_numbers, numbers_capacity;
	struct object_set *set; /* [0]: empty */
	uint32_t nr_sets, sets_capacity;
	struct hash_map set_of;	   /* hash of its numbers -> index */
	struct hash_map latest;	   /* (process, address) -> index, while records are read */
	struct hash_map functions; /* (address, 0) -> 1, for the functions of all objects */
	uint64_t steps;		   /* cost of searches that a host can make long, since the caller last read it */
	uint64_t lost;		   /* objects whose upper one was unknown, or that were too deep */
	/* Indexes. */
	uint32_t *tree, *by_address; /* objects; by process, address and time */
	struct object_entry *entry;  /* entries of classes and roots, by process, function and time */
	uint32_t nr_entries;
	uint64_t *last; /* time when the last of some entries ends: node 1 covers all, node nr_leaves + i is entry i */
	uint32_t nr_leaves;
	struct object_answer *known; /* earlier answers of objects_find_below() */
};

/* Add an object. components: nr pairs. Return its index, or OBJECT_NONE without memory, or if upper_address is not an object's. functions
 * is sorted in place, and the caller keeps all memory. */
uint32_t objects_add(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address, uint64_t upper_address, uint32_t flags,
		     uint64_t *functions, size_t nr_functions, const struct object_component *components, size_t nr_components);
void objects_end(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address);
/* Functions of steps.c. The steps belong to the object that is at the address now. s->object is not read. */
void objects_add_steps(struct objects *o, uint32_t process, uint64_t address, const struct object_steps *s);
void objects_add_step_word(struct objects *o, uint64_t function, uint32_t offset);
/* Sort the steps. objects_settle() calls this. */
bool objects_settle_steps(struct objects *o);
/* Functions of objects.c. */
/* Call this after the last record. Return 0 or -ENOMEM. */
int objects_settle(struct objects *o);
void objects_fini(struct objects *o);

/* Questions. Each is one comparison if nothing was announced. */

/* Does any object have a function that begins at the address? */
static inline bool objects_has_function(const struct objects *o, uint64_t function)
{
	return o->nr > 1 && hash_map_find(&o->functions, function, 0);
}
bool object_has_function(const struct objects *o, uint32_t object, uint64_t function);
/* Return the object at an address at a time, or OBJECT_NONE. */
uint32_t objects_find(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns);
/* Find classes, or objects without an upper one, that have the function and live at the time: the latest ones, at most max. Return how
 * many. Function 0: any objects without an upper one, or classes everywhere. */
uint32_t objects_find_outermost(const struct objects *o, uint32_t process, uint64_t function, bool is_class, uint64_t time_ns,
				uint32_t *object, uint32_t max);
/* object_is_node(): the object is not a class. object_is_outermost(): the object is a node without an upper one. */
bool object_is_node(const struct objects *o, uint32_t object);
bool object_is_outermost(const struct objects *o, uint32_t object);

/* The objects below an object: only those nearest to it, or the object itself and all below it. */
enum objects_below { OBJECTS_NEAREST, OBJECTS_ALL };
struct object_answer {
	uint64_t function, from_ns, until_ns; /* the same question has the same answer in [from, until) */
	uint32_t of;
	enum objects_below which;
	uint32_t first; /* OBJECT_NONE: there is none */
	uint32_t depth; /* depth of the nearest ones */
	bool several;
	uint32_t whole; /* the object with the fewest components, if all have the same first one, as an operator and its parts have */
};
struct object_answer objects_find_below(struct objects *o, uint32_t object, enum objects_below which, uint64_t function, uint64_t time_ns);
/* Is an object one of those that the answer is about? */
bool objects_is_one_of(const struct objects *o, const struct object_answer *a, uint32_t object);

/* Return the only object of the answer whose first component is that of another object, which is the other object's part within one
 * pipeline. OBJECT_NONE: there is none, or there are several. */
uint32_t objects_find_alike(struct objects *o, const struct object_answer *a, uint32_t object, uint64_t time_ns);

/* Functions of steps.c. */
/* Get the distance from a frame's stack pointer up to the address of its step, for frames of the function. Return false if they have
 * none. */
bool objects_step_word(const struct objects *o, uint64_t function, uint32_t *offset);
/* Return the object whose step is at an address at a time, and the step. OBJECT_NONE: none. */
uint32_t objects_find_step(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns, struct object_component *step);

/* Functions of objects.c. */
const struct object_component *object_components(const struct objects *o, uint32_t object, uint32_t *nr);

#endif
