/* SPDX-License-Identifier: MIT */
/*
 * Stores the objects that functions work on (jitreg_object()), which are the nodes of plans that engines interpret, by process and time. An
 * object lives from its announcement until its end, or the end of an object around it, or until another object is announced at its address.
 * The order of a process's records in the trace counts, also where a record's time is earlier than that of the record before it, as of a
 * plan that is read while its query runs already. A forked child has no objects of its parent.
 *
 * objects_settle() makes the indexes once, so that no question has to examine all objects. A trace may have 200,000 of them, and 1,000
 * trees that replace one another each second. In the index `tree`, the objects of a tree stand side by side, each before those below it.
 * Context: thread.
 */
#ifndef TAILOR_OBJECTS_H
#define TAILOR_OBJECTS_H

#include "jitreg/base/grow.h"
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
	uint32_t upper, root;		  /* indexes in objects; the outermost object is its own root, and has no upper one (0) */
	uint32_t depth;
	uint32_t functions, components; /* indexes in objects.sets */
	uint32_t place, nr_below; /* tree[place] is the object, tree[place + 1] to tree[place + nr_below] are those below it */
	bool over; /* set while records are read: the end of this object was announced, or another object was announced at its address */
};

struct object_component {
	uint64_t level, id; /* level: index */
};

/* A set is a part of the array `numbers`. It has sorted addresses of functions, or components with two numbers each. Objects with equal
 * numbers share one set. */
struct object_set {
	uint32_t first, nr; /* the set is number[first] to number[first + nr - 1] */
};

/* An object executes these steps of an interpreted program, such as instructions of bytecode. Step n is at first + n * stride, and is
 * the component `component` + n. See steps.c. */
struct object_steps {
	uint64_t first, component;
	uint32_t stride, nr, level; /* level: index */
	uint32_t object;
};

struct objects {
	ARRAY_OF(struct object); /* all objects by index; index 0 is none */
	ARRAY(struct object_steps) step_programs; /* sorted by process, first and time when all are read */
	uint64_t longest_steps; /* bytes of the longest program in step_programs; limits how far objects_find_step() searches */
	struct hash_map step_words; /* (function, 0) -> offset + 1 */
	ARRAY(uint64_t) numbers; /* numbers of all sets */
	ARRAY(struct object_set) sets; /* all sets by index; set 0 is empty */
	struct hash_map set_of;	   /* hash of its numbers -> index */
	struct hash_map latest;	   /* (process, address) -> index, while records are read */
	struct hash_map functions; /* (address, 0) -> 1, for the functions of all objects, and those with a step word */
	uint64_t steps;		   /* work of searches, whose length the host's data decide, since the caller last set this to 0 */
	/* objects that were dropped, because the one above was unknown, had ended or is the same, or because they were too deep */
	uint64_t lost;
	/* The members below are indexes, which objects_settle() makes. */
	uint32_t *tree, *by_address; /* tree: all objects, tree by tree; by_address: all objects by process, address and time */
	/* an entry for each function of each class and outermost object, and entries with function 0 for outermost objects and classes with
	 * JITREG_OBJECT_EVERYWHERE; by process, function, kind and time */
	struct object_entry *entry;
	uint32_t nr_entries;
	uint64_t *last; /* a binary tree of the latest ends of entries: node 1 is for all entries, node nr_leaves + i for entry i */
	uint32_t nr_leaves;
	struct object_answer *known; /* cache of answers of objects_find_below() */
};

/* Add an object. An object with the same contents that is there already is kept. Return the index, or OBJECT_NONE if memory runs out, if
 * address is 0, or if the object at upper_address is unknown, has ended, is OBJECT_DEPTH_MAX deep or has the same address. functions is
 * sorted in place. The caller keeps its memory. */
uint32_t objects_add(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address, uint64_t upper_address, uint32_t flags,
		     uint64_t *functions, size_t nr_functions, const struct object_component *components, size_t nr_components);
/* End the object that was last announced at the address, and with it all objects below it. Nothing happens if there is none, or if it has
 * ended already. */
void objects_end(struct objects *o, uint32_t process, uint64_t time_ns, uint64_t address);
/* Add steps (addresses of the instructions of an interpreted plan, see steps.c) to the object that was last announced at the address, in
 * the order of records. They are dropped if there is none, if it has ended, if their number or stride is 0, if they are too many or reach
 * beyond the last address, or if memory runs out. s->object is ignored. These two functions are in steps.c. */
void objects_add_steps(struct objects *o, uint32_t process, uint64_t address, const struct object_steps *s);
void objects_add_step_word(struct objects *o, uint64_t function, uint32_t offset);
/* Sort the steps, and add the functions with a step word to those that objects_has_function() knows. objects_settle() calls this. Return
 * false if memory runs out. */
bool objects_settle_steps(struct objects *o);
/* Make the indexes, after the last record and before any question. Return 0 or -ENOMEM. */
int objects_settle(struct objects *o);
void objects_fini(struct objects *o);

/* The functions below answer questions about the objects, after objects_settle(). They are cheap if no object was announced. */

/* Return whether any object has a function that begins at the address, or a function with a step word begins there. Return false if no
 * object was announced. */
static inline bool objects_has_function(const struct objects *o, uint64_t function)
{
	return o->nr > 1 && hash_map_find(&o->functions, function, 0);
}
bool object_has_function(const struct objects *o, uint32_t object, uint64_t function);
/* Return the object that lives at an address at a time, or OBJECT_NONE. */
uint32_t objects_find(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns);
/* Find the classes (is_class), or else the objects without an upper one, that have the function and live at the time. List the latest ones,
 * at most max, and return how many. With function 0, find all objects without an upper one, or all classes with
 * JITREG_OBJECT_EVERYWHERE. */
uint32_t objects_find_outermost(const struct objects *o, uint32_t process, uint64_t function, bool is_class, uint64_t time_ns,
				uint32_t *object, uint32_t max);
/* object_is_node(): the object is not a class. object_is_outermost(): the object is a node without an upper one. object_is_called(): it is
 * a function that nodes call (JITREG_OBJECT_CALLED). */
bool object_is_node(const struct objects *o, uint32_t object);
bool object_is_outermost(const struct objects *o, uint32_t object);
bool object_is_called(const struct objects *o, uint32_t object);

/* objects_find_below() looks at these objects. OBJECTS_NEAREST: those below the object that have the function at the least depth.
 * OBJECTS_ALL: the object itself and all below it. */
enum objects_below { OBJECTS_NEAREST, OBJECTS_ALL };
struct object_answer {
	uint64_t function, from_ns, until_ns; /* the same question has the same answer in [from_ns, until_ns) */
	uint32_t of;
	enum objects_below which;
	uint32_t first; /* the first object that was found; OBJECT_NONE: there is none */
	uint32_t depth; /* with OBJECTS_NEAREST, the depth of the objects that were found */
	bool several;
	/* if all objects that were found have the same first component, as an operator and its parts have: the one with the fewest
	 * components; else OBJECT_NONE */
	uint32_t whole;
};
struct object_answer objects_find_below(struct objects *o, uint32_t object, enum objects_below which, uint64_t function, uint64_t time_ns);
/* Return whether an object is one of those that the answer is about. Whether it lives at the time is not checked. */
bool objects_is_one_of(const struct objects *o, const struct object_answer *a, uint32_t object);

/* Return the only object of the answer, alive at the time, whose first component is also that of `object`. This is how the part of an
 * operator within one pipeline is found, which is an object of its own. Return OBJECT_NONE if there is none, if there are several, or if
 * the tree is too large to be searched. */
uint32_t objects_find_alike(struct objects *o, const struct object_answer *a, uint32_t object, uint64_t time_ns);

/* Set *offset to the distance (bytes) from a frame's stack pointer up to the word with the address of its step, for frames of the function.
 * Return false if its frames have no such word, or if no steps were announced. This function is in steps.c. */
bool objects_step_word(const struct objects *o, uint64_t function, uint32_t *offset);
/* Return the object whose step is at an address at a time, and set *step to the step's component. Return OBJECT_NONE if there is none. This
 * function is in steps.c. */
uint32_t objects_find_step(const struct objects *o, uint32_t process, uint64_t address, uint64_t time_ns, struct object_component *step);

const struct object_component *object_components(const struct objects *o, uint32_t object, uint32_t *nr);

#endif
