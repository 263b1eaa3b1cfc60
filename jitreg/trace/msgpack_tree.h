/* SPDX-License-Identifier: MIT */
/*
 * Reads one msgpack object after another from untrusted bytes, as a tree whose memory is reused.  Building trees takes most of the time of
 * reading a trace, because line tables of generated code have a list for each line.  So the tree is one array, and text is not copied.
 * Context: thread.
 */
#ifndef TAILOR_MSGPACK_TREE_H
#define TAILOR_MSGPACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack_node {
	/* OTHER: nil, booleans, floating-point numbers, maps and extensions, which records do not have */
	enum { NODE_OTHER, NODE_UINT, NODE_INT, NODE_TEXT, NODE_BYTES, NODE_ARRAY } kind;
	uint32_t nr;	/* TEXT, BYTES: bytes; ARRAY: elements */
	union {
		uint64_t u;	/* UINT; INT, which is negative, as two's complement */
		const char *p;	/* TEXT, BYTES: pointer into the bytes that were read */
		size_t children; /* ARRAY: distance of the first child from this node, in nodes */
	};
};

struct msgpack_tree {
	struct msgpack_node *node; /* [0] is the object that was read */
	size_t nr, capacity;
	size_t most;  /* set by the caller: the maximum number of nodes; 0: no limit */
	bool refused; /* reading the last object failed because it needs more than `most` nodes */
};

/* Read the object at bytes[*at] to t, which replaces the one before, and move *at behind it. Returns false, with *at unchanged, if there
 * is no complete object, if it has more than 32 levels or too many nodes, or if memory runs out. */
bool msgpack_tree_read(struct msgpack_tree *t, const char *bytes, size_t nr, size_t *at);
/* Move *at behind the object at bytes[*at], without building a tree.  Returns false, with *at unchanged, if there is no complete object. */
bool msgpack_skip_object(const char *bytes, size_t nr, size_t *at);
/* Read the first element of the array at bytes[at] if it is an unsigned number, as a record's id.  Returns false if it is not, or if there
 * is no array. */
bool msgpack_first_number(const char *bytes, size_t nr, size_t at, uint64_t *number);
void msgpack_tree_fini(struct msgpack_tree *t);

#endif
