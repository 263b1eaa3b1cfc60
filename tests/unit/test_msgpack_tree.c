/* SPDX-License-Identifier: MIT */
/* The tree of a record against msgpack-c's: of objects that msgpack-c packed, cut anywhere, and of bytes that nobody packed. */
#include "tests/unit/unit.h"

#include "jitreg/trace/msgpack_tree.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 32 /* more are refused here, and not there */

static void pack(struct msgpack_packer *p, int level)
{
	static const char text[70000];
	const uint64_t number = next_random() >> next_random() % 64;
	const size_t many = level ? 1000 : 70000, nr = next_random() % 20 ? next_random() % 5 : next_random() % many;

	switch (next_random() % (level > 6 ? 7 : 10)) {
	case 0:
		msgpack_pack_uint64(p, number);
		break;
	case 1:
		msgpack_pack_int64(p, -(int64_t)(number >> 1));
		break;
	case 2:
		msgpack_pack_str_with_body(p, text, nr);
		break;
	case 3:
		msgpack_pack_bin_with_body(p, text, nr);
		break;
	case 4:
		msgpack_pack_nil(p);
		break;
	case 5:
		msgpack_pack_double(p, 0.1);
		break;
	case 6:
		msgpack_pack_ext_with_body(p, text, nr % 300, 1);
		break;
	case 7:
		msgpack_pack_map(p, nr % 20);
		for (size_t i = 0; i < 2 * (nr % 20); i++)
			pack(p, level + 1);
		break;
	default:
		msgpack_pack_array(p, nr % 20);
		for (size_t i = 0; i < nr % 20; i++)
			pack(p, level + 1);
	}
}

static int levels_of(const msgpack_object *o)
{
	int most = 0;

	for (uint32_t i = 0; o->type == MSGPACK_OBJECT_ARRAY && i < o->via.array.size; i++) {
		int levels = 1 + levels_of(&o->via.array.ptr[i]);

		most = levels > most ? levels : most;
	}
	for (uint32_t i = 0; o->type == MSGPACK_OBJECT_MAP && i < o->via.map.size; i++)
		for (int n = 0; n < 2; n++) {
			int levels = 1 + levels_of(n ? &o->via.map.ptr[i].val : &o->via.map.ptr[i].key);

			most = levels > most ? levels : most;
		}
	return most;
}

static void compare(const struct msgpack_node *n, const msgpack_object *o)
{
	switch (o->type) {
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		assert_int_equal(n->kind, NODE_UINT);
		assert_true(n->u == o->via.u64);
		break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		assert_int_equal(n->kind, NODE_INT);
		assert_true((int64_t)n->u == o->via.i64);
		break;
	case MSGPACK_OBJECT_STR:
	case MSGPACK_OBJECT_BIN:
		assert_int_equal(n->kind, o->type == MSGPACK_OBJECT_STR ? NODE_TEXT : NODE_BYTES);
		assert_int_equal(n->nr, o->via.bin.size);
		assert_memory_equal(n->p, o->via.bin.ptr, n->nr);
		break;
	case MSGPACK_OBJECT_ARRAY:
		assert_int_equal(n->kind, NODE_ARRAY);
		assert_int_equal(n->nr, o->via.array.size);
		for (uint32_t i = 0; i < n->nr; i++)
			compare(n + n->children + i, &o->via.array.ptr[i]);
		break;
	default:
		assert_int_equal(n->kind, NODE_OTHER);
	}
}

/* Both say the same about bytes; returns whether there was an object. */
static bool agree(struct msgpack_tree *t, const char *bytes, size_t nr)
{
	/* where they end, nothing is to be read behind them */
	char *copy = guarded(bytes, nr);
	msgpack_unpacked u;
	size_t at = 0, theirs = 0, behind = 0;
	bool is_there, ours;

	msgpack_unpacked_init(&u);
	is_there = msgpack_unpack_next(&u, copy, nr, &theirs) == MSGPACK_UNPACK_SUCCESS;
	if (is_there && levels_of(&u.data) > LEVELS_MAX)
		is_there = false;
	ours = msgpack_tree_read(t, copy, nr, &at);
	assert_int_equal(ours, is_there);
	if (ours) {
		assert_int_equal(at, theirs);
		compare(t->node, &u.data);
	}
	if (msgpack_skip_object(copy, nr, &behind)) /* which builds nothing, so depth is no matter */
		assert_true(ours ? behind == theirs : nr > LEVELS_MAX);
	else
		assert_true(!ours && behind == 0);
	msgpack_unpacked_destroy(&u);
	guarded_free(copy, nr);
	return ours;
}

static void whatever_was_packed_is_read(void **state)
{
	struct msgpack_tree t = { 0 };
	msgpack_sbuffer b;

	(void)state;
	msgpack_sbuffer_init(&b);
	for (int i = 0; i < 3000; i++) {
		msgpack_packer p;

		msgpack_packer_init(&p, &b, msgpack_sbuffer_write);
		msgpack_sbuffer_clear(&b);
		pack(&p, 0);
		assert_true(agree(&t, b.data, b.size));
		for (int cut = 0; cut < 10; cut++)
			assert_false(agree(&t, b.data, next_random() % b.size));
	}
	msgpack_sbuffer_destroy(&b);
	msgpack_tree_fini(&t);
}

static void bytes_that_nobody_packed_are_read_alike(void **state)
{
	struct msgpack_tree t = { 0 };
	int read = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		char bytes[64];
		size_t nr = next_random() % sizeof(bytes);

		for (size_t n = 0; n < nr; n++)
			bytes[n] = (char)(next_random() % 4 ? next_random() % 0xa8 : next_random());
		for (size_t n = 0; n < nr; n++) /* msgpack-c would make room for what lists of 32-bit lengths promise */
			bytes[n] = (char)((bytes[n] & 0xfd) == 0xdd ? bytes[n] - 1 : bytes[n]);
		read += agree(&t, bytes, nr);
	}
	assert_true(read > 100000 && read < 299000);
	msgpack_tree_fini(&t);
}

static void a_lists_first_number_is_known_without_reading_it(void **state)
{
	struct msgpack_tree t = { 0 };
	int numbers = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char bytes[16];
		size_t at = 0, nr = next_random() % sizeof(bytes);
		uint64_t number = 0;
		bool is, ours;

		for (size_t n = 0; n < nr; n++)
			bytes[n] = (char)(next_random() % 2 ? next_random() : 0x91 + next_random() % 0x40);
		if (nr)
			bytes[0] = (char)(next_random() % 2 ? 0x90 + next_random() % 4 : 0xdc + next_random() % 2);
		ours = msgpack_first_number(bytes, nr, 0, &number);
		if (!msgpack_tree_read(&t, bytes, nr, &at))
			continue;
		is = t.node->kind == NODE_ARRAY && t.node->nr && t.node[t.node->children].kind == NODE_UINT;
		if (ours)
			assert_true(is && t.node[t.node->children].u == number);
		numbers += ours;
	}
	assert_true(numbers > 1000);
	msgpack_tree_fini(&t);
}

static void lists_in_lists_end_somewhere(void **state)
{
	struct msgpack_tree t = { 0 };
	char bytes[100000];
	size_t at = 0;

	(void)state;
	memset(bytes, 0x91, sizeof(bytes));
	for (size_t levels = 0; levels < 40; levels++) {
		bytes[levels] = 0;
		assert_int_equal(agree(&t, bytes, levels + 1), levels <= LEVELS_MAX);
		bytes[levels] = (char)0x91;
	}
	assert_false(msgpack_tree_read(&t, bytes, sizeof(bytes), &at));
	/* four thousand million elements, of which none is there */
	memcpy(bytes, "\xdd\xff\xff\xff\xff\x00", 6);
	assert_false(msgpack_tree_read(&t, bytes, 6, &at));
	memcpy(bytes, "\xdf\xff\xff\xff\xff\x00", 6);
	assert_false(msgpack_tree_read(&t, bytes, 6, &at));
	assert_int_equal(at, 0);
	assert_true(t.capacity < 10000);
	msgpack_tree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_was_packed_is_read),
		cmocka_unit_test(bytes_that_nobody_packed_are_read_alike),
		cmocka_unit_test(a_lists_first_number_is_known_without_reading_it),
		cmocka_unit_test(lists_in_lists_end_somewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
