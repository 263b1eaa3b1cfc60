/* SPDX-License-Identifier: MIT */
/*
 * One msgpack object after another, out of bytes that may hold anything, as a tree in memory that is used again and again.  A record of
 * generated code holds a list for each instruction: building it is most of what reading them costs, so it is one array, and text stays
 * where it is.  Context: thread.
 */
#ifndef TAILOR_MSGPACK_TREE_H
#define TAILOR_MSGPACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack_node {
	enum { NODE_OTHER, NODE_UINT, NODE_INT, NODE_TEXT, NODE_BYTES, NODE_ARRAY } kind; /* OTHER: not used */
	uint32_t nr;	/* TEXT, BYTES: bytes; ARRAY: elements */
	union {
		uint64_t u;	/* UINT; INT, which is negative, as two's complement */
		const char *p;	/* TEXT, BYTES: in the bytes that were read */
		size_t children; /* ARRAY: so many nodes behind this one */
	};
};

struct msgpack_tree {
	struct msgpack_node *node; /* [0]: the object */
	size_t nr, capacity;
	size_t most;  /* nodes; 0: any number */
	bool refused; /* the last object has more */
};

/* The object at bytes[*at], which then stands behind it.  false: there is none, or not all of it, or one of more than 32 levels, or
 * there is no memory for it. */
bool msgpack_tree_read(struct msgpack_tree *t, const char *bytes, size_t nr, size_t *at);
/* bytes[*at] behind the object there, which is skipped.  false: there is none, or not all of it. */
bool msgpack_skip_object(const char *bytes, size_t nr, size_t *at);
/* The number that an array at bytes[at] begins with; false: there is none. */
bool msgpack_first_number(const char *bytes, size_t nr, size_t at, uint64_t *number);
void msgpack_tree_fini(struct msgpack_tree *t);

#endif
