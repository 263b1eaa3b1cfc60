/* SPDX-License-Identifier: MIT */
/*
 * Reads one msgpack object after another from untrusted bytes, as a tree whose memory is reused.  A record of generated code holds a list
 * for each instruction, and building the tree takes most of the time of reading it.  So the tree is one array, and text is not copied.
 * Context: thread.
 */
#ifndef TAILOR_MSGPACK_TREE_H
#define TAILOR_MSGPACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack_node {
	enum { NODE_OTHER, NODE_UINT, NODE_INT, NODE_TEXT, NODE_BYTES, NODE_ARRAY } kind; /* OTHER: object of an unused type */
	uint32_t nr;	/* TEXT, BYTES: bytes; ARRAY: elements */
	union {
		uint64_t u;	/* UINT; INT, which is negative, as two's complement */
		const char *p;	/* TEXT, BYTES: pointer into the bytes that were read */
		size_t children; /* ARRAY: distance of the first child from this node, in nodes */
	};
};

struct msgpack_tree {
	struct msgpack_node *node; /* [0]: the object */
	size_t nr, capacity;
	size_t most;  /* limit of nodes; 0: none */
	bool refused; /* the last object needs more nodes */
};

/* Read the object at bytes[*at], and move *at behind it.  Returns false if there is no complete object, if it has more than 32 levels or
 * too many nodes, or if memory runs out. */
bool msgpack_tree_read(struct msgpack_tree *t, const char *bytes, size_t nr, size_t *at);
/* Move *at behind the object at bytes[*at].  Returns false if there is no complete object. */
bool msgpack_skip_object(const char *bytes, size_t nr, size_t *at);
/* Read the number that an array at bytes[at] begins with.  Returns false if there is none. */
bool msgpack_first_number(const char *bytes, size_t nr, size_t at, uint64_t *number);
void msgpack_tree_fini(struct msgpack_tree *t);

#endif
