/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/msgpack_tree.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX_ 32

struct cursor {
	const unsigned char *at, *end;
};

/* Read a big-endian number of 1, 2, 4 or 8 bytes.  Returns false if fewer bytes are left. */
static bool read_big_endian(struct cursor *c, unsigned bytes, uint64_t *v)
{
	uint64_t n = 0;

	if ((size_t)(c->end - c->at) < bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		n = n << 8 | c->at[i];
	c->at += bytes;
	*v = n;
	return true;
}

static bool skip_bytes(struct cursor *c, uint64_t bytes)
{
	if ((uint64_t)(c->end - c->at) < bytes)
		return false;
	c->at += bytes;
	return true;
}

/* Allocate nr adjacent nodes.  Returns the index of the first one, or SIZE_MAX if memory runs out or the limit is reached. */
static size_t allocate_nodes(struct msgpack_tree *t, size_t nr)
{
	size_t first = t->nr;

	if (nr > t->capacity - t->nr) {
		size_t capacity = 2 * t->capacity + nr + 64;
		struct msgpack_node *bigger;

		if (t->most && nr > t->most - (t->nr < t->most ? t->nr : t->most)) {
			t->refused = true;
			return SIZE_MAX;
		}
		if (t->most && capacity > t->most)
			capacity = t->most > t->nr + nr ? t->most : t->nr + nr;
		bigger = realloc(t->node, capacity * sizeof(*bigger));

		if (!bigger)
			return SIZE_MAX;
		t->node = bigger;
		t->capacity = capacity;
	}
	t->nr += nr;
	return first;
}

/* Read an unsigned number that is encoded in one to three bytes, which most elements of lists are.  Returns false for other objects, which
 * read_other_object() reads. */
static bool read_small_number(struct cursor *c, struct msgpack_node *n)
{
	const unsigned char *at = c->at;
	const size_t left = (size_t)(c->end - at);

	if (left >= 1 && *at < 0x80) {
		*n = (struct msgpack_node){ .kind = NODE_UINT, .u = *at };
		c->at += 1;
		return true;
	}
	if (left >= 2 && *at == 0xcc) {
		*n = (struct msgpack_node){ .kind = NODE_UINT, .u = at[1] };
		c->at += 2;
		return true;
	}
	if (left >= 3 && *at == 0xcd) {
		*n = (struct msgpack_node){ .kind = NODE_UINT, .u = (uint64_t)at[1] << 8 | at[2] };
		c->at += 3;
		return true;
	}
	return false;
}

static bool read_other_object(struct msgpack_tree *t, struct cursor *c, size_t node, unsigned level);

static bool read_node(struct msgpack_tree *t, struct cursor *c, size_t node, unsigned level)
{
	return read_small_number(c, &t->node[node]) || read_other_object(t, c, node, level);
}

static bool read_children(struct msgpack_tree *t, struct cursor *c, size_t node, uint64_t nr, unsigned level)
{
	size_t first;

	if (level == LEVELS_MAX_ || nr > (uint64_t)(c->end - c->at)) /* each child has at least one byte */
		return false;
	first = allocate_nodes(t, nr);
	if (first == SIZE_MAX)
		return false;
	t->node[node].children = first - node;
	for (uint64_t i = 0; i < nr; i++)
		if (!read_node(t, c, first + i, level + 1))
			return false;
	return true;
}

static bool read_bytes(struct cursor *c, struct msgpack_node *n, uint64_t bytes, int kind)
{
	n->kind = kind;
	n->nr = (uint32_t)bytes;
	n->p = (const char *)c->at;
	return skip_bytes(c, bytes);
}

static void set_integer_node(struct msgpack_node *n, int64_t v)
{
	n->kind = v < 0 ? NODE_INT : NODE_UINT;
	n->u = (uint64_t)v;
}

static bool read_array(struct msgpack_tree *t, struct cursor *c, size_t node, uint64_t nr, unsigned level)
{
	t->node[node].kind = NODE_ARRAY;
	t->node[node].nr = (uint32_t)nr;
	return read_children(t, c, node, nr, level);
}

/* Read the rest of an object whose first byte, type, is 0xc0 to 0xdf.  Most have a number or a length behind that byte. */
static bool read_typed_object(struct msgpack_tree *t, struct cursor *c, size_t node, unsigned char type, unsigned level)
{
	struct msgpack_node *n = &t->node[node];
	uint64_t v = 0;

	switch (type) {
	case 0xc0: /* the values nil, false and true have no further bytes */
	case 0xc2:
	case 0xc3:
		return true;
	case 0xc4 ... 0xc6:
		return read_big_endian(c, 1u << (type - 0xc4), &v) && read_bytes(c, n, v, NODE_BYTES);
	case 0xc7 ... 0xc9: /* an extension has a byte for its type, and the bytes counted */
		return read_big_endian(c, 1u << (type - 0xc7), &v) && skip_bytes(c, v + 1);
	case 0xca: /* float, double */
		return skip_bytes(c, 4);
	case 0xcb:
		return skip_bytes(c, 8);
	case 0xcc ... 0xcf:
		n->kind = NODE_UINT;
		return read_big_endian(c, 1u << (type - 0xcc), &n->u);
	case 0xd0 ... 0xd3:
		if (!read_big_endian(c, 1u << (type - 0xd0), &v))
			return false;
		set_integer_node(n, (int64_t)(v << (64 - (8u << (type - 0xd0)))) >> (64 - (8u << (type - 0xd0))));
		return true;
	case 0xd4 ... 0xd8:
		return skip_bytes(c, 1 + (1u << (type - 0xd4)));
	case 0xd9 ... 0xdb:
		return read_big_endian(c, 1u << (type - 0xd9), &v) && read_bytes(c, n, v, NODE_TEXT);
	case 0xdc:
	case 0xdd:
		return read_big_endian(c, 2u << (type - 0xdc), &v) && read_array(t, c, node, v, level);
	case 0xde:
	case 0xdf:
		return read_big_endian(c, 2u << (type - 0xde), &v) && read_children(t, c, node, 2 * v, level);
	default: /* 0xc1 is never used */
		return false;
	}
}

static bool read_other_object(struct msgpack_tree *t, struct cursor *c, size_t node, unsigned level)
{
	struct msgpack_node *n = &t->node[node];
	unsigned char type;

	if (c->at == c->end)
		return false;
	type = *c->at++;
	n->kind = NODE_OTHER;
	n->nr = 0;
	if (type >= 0xe0) {
		set_integer_node(n, (int8_t)type);
		return true;
	}
	if (type >= 0xc0)
		return read_typed_object(t, c, node, type, level);
	if (type >= 0xa0)
		return read_bytes(c, n, type & 0x1f, NODE_TEXT);
	return type >= 0x90 ? read_array(t, c, node, type & 0xf, level) : read_children(t, c, node, 2 * (type & 0xfu), level);
}

bool msgpack_tree_read(struct msgpack_tree *t, const char *bytes, size_t nr, size_t *at)
{
	struct cursor c = { (const unsigned char *)bytes + *at, (const unsigned char *)bytes + nr };

	t->nr = 0;
	t->refused = false;
	if (allocate_nodes(t, 1) == SIZE_MAX || !read_node(t, &c, 0, 0))
		return false;
	*at = (size_t)(c.at - (const unsigned char *)bytes);
	return true;
}

/* Skip an object, but not the elements of an array or the keys and values of a map, whose number is added to *left.  Returns false if the
 * object is incomplete. */
static bool skip_object_head(struct cursor *c, uint64_t *left)
{
	static const unsigned char fixed[] = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 }; /* sizes of types 0xca to 0xd3 */
	uint64_t n = 0;
	unsigned char type;

	if (c->at == c->end)
		return false;
	type = *c->at++;
	switch (type) {
	case 0x00 ... 0x7f: /* small numbers, nil, false, true */
	case 0xe0 ... 0xff:
	case 0xc0:
	case 0xc2:
	case 0xc3:
		return true;
	case 0x80 ... 0x8f:
		*left += 2 * (type & 15u);
		return true;
	case 0x90 ... 0x9f:
		*left += type & 15u;
		return true;
	case 0xa0 ... 0xbf:
		return skip_bytes(c, type & 31u);
	case 0xca ... 0xd3:
		return skip_bytes(c, fixed[type - 0xca]);
	case 0xd4 ... 0xd8:
		return skip_bytes(c, 1 + (1u << (type - 0xd4)));
	case 0xc4 ... 0xc6:
		return read_big_endian(c, 1u << (type - 0xc4), &n) && skip_bytes(c, n);
	case 0xc7 ... 0xc9:
		return read_big_endian(c, 1u << (type - 0xc7), &n) && skip_bytes(c, n + 1);
	case 0xd9 ... 0xdb:
		return read_big_endian(c, 1u << (type - 0xd9), &n) && skip_bytes(c, n);
	case 0xdc ... 0xdf:
		if (!read_big_endian(c, type & 1 ? 4 : 2, &n) || n > (uint64_t)(c->end - c->at))
			return false;
		*left += type >= 0xde ? 2 * n : n;
		return true;
	default:
		return false;
	}
}

bool msgpack_skip_object(const char *bytes, size_t nr, size_t *at)
{
	struct cursor c = { (const unsigned char *)bytes + *at, (const unsigned char *)bytes + nr };

	for (uint64_t left = 1; left; left--) /* this does not recurse, since untrusted bytes could make a recursion deep */
		if (!skip_object_head(&c, &left))
			return false;
	*at = (size_t)(c.at - (const unsigned char *)bytes);
	return true;
}

bool msgpack_first_number(const char *bytes, size_t nr, size_t at, uint64_t *number)
{
	struct cursor c = { (const unsigned char *)bytes + at, (const unsigned char *)bytes + nr };
	uint64_t length;

	if (c.at == c.end)
		return false;
	length = *c.at++;
	if (length == 0xdc || length == 0xdd) {
		if (!read_big_endian(&c, 2u << (length - 0xdc), &length) || !length)
			return false;
	} else if (length <= 0x90 || length > 0x9f) {
		return false;
	}
	if (c.at == c.end)
		return false;
	*number = *c.at++;
	return *number < 0x80 || (*number >= 0xcc && *number <= 0xcf && read_big_endian(&c, 1u << (*number - 0xcc), number));
}

void msgpack_tree_fini(struct msgpack_tree *t)
{
	free(t->node);
	memset(t, 0, sizeof(*t));
}
