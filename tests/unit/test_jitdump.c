/* SPDX-License-Identifier: MIT */
/* jitdump.c: records in pieces, V8's line tables, clocks, and bytes that are no jitdump. */
#include "agent/recorder/jit_files/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define START 0x7f0000001000ull
#define NOW_NS 5000000000ull
#define MAPPED_NS 4000000000ull

struct file {
	unsigned char bytes[8192];
	size_t nr;
};

struct seen {
	int nr;
	uint32_t id[16];
	uint64_t time_ns[16];
	uint64_t line_address[16]; /* of the last DEBUG_INFO */
	char line_file[16][64], name[64];
	uint64_t nr_lines;
};

static void put(struct file *f, const void *p, size_t n)
{
	assert_true(f->nr + n <= sizeof(f->bytes));
	memcpy(f->bytes + f->nr, p, n);
	f->nr += n;
}

static void put_u32(struct file *f, uint32_t v)
{
	put(f, &v, 4);
}

static void put_u64(struct file *f, uint64_t v)
{
	put(f, &v, 8);
}

static void put_header(struct file *f, uint64_t flags)
{
	put_u32(f, 0x4a695444);
	put_u32(f, 1);
	put_u32(f, 40);
	put_u32(f, 62);
	put_u32(f, 0);
	put_u32(f, 77);
	put_u64(f, 123);
	put_u64(f, flags);
}

static void put_load(struct file *f, uint64_t time, uint64_t address, uint64_t bytes, const char *name)
{
	put_u32(f, JITREG_LOAD);
	put_u32(f, (uint32_t)(16 + 40 + strlen(name) + 1 + bytes));
	put_u64(f, time);
	put_u32(f, 77);
	put_u32(f, 78);
	put_u64(f, address);
	put_u64(f, address);
	put_u64(f, bytes);
	put_u64(f, 1);
	put(f, name, strlen(name) + 1);
	for (uint64_t i = 0; i < bytes; i++)
		put(f, "\x90", 1);
}

/* offsets[] of a table; names[] as written, each taking name_bytes + 1 where that is not 0. */
static void put_lines(struct file *f, uint64_t time, const uint64_t *offsets, const char *const *names, int nr, size_t name_bytes,
		      size_t padding)
{
	size_t at = f->nr;
	uint32_t size;

	put_u32(f, JITREG_DEBUG_INFO);
	put_u32(f, 0);
	put_u64(f, time);
	put_u64(f, START);
	put_u64(f, (uint64_t)nr);
	for (int i = 0; i < nr; i++) {
		put_u64(f, START + offsets[i]);
		put_u32(f, 10u + (uint32_t)i);
		put_u32(f, 0);
		put(f, names[i], (name_bytes && strcmp(names[i], "\xff") != 0 ? name_bytes : strlen(names[i])) + 1);
	}
	put(f, "\0\0\0\0\0\0\0", padding);
	size = (uint32_t)(f->nr - at);
	memcpy(f->bytes + at + 4, &size, 4);
}

static void on_record(void *context, uint32_t id, uint64_t time_ns, uint32_t tid, const struct schema_value *v, int nr)
{
	struct seen *s = context;

	(void)nr;
	assert_true(s->nr < 16);
	s->id[s->nr] = id;
	s->time_ns[s->nr++] = time_ns;
	if (id == JITREG_LOAD) {
		assert_int_equal(tid, 78);
		assert_true(v[F(load, name)].bytes < sizeof(s->name));
		memcpy(s->name, v[F(load, name)].p, v[F(load, name)].bytes);
		s->name[v[F(load, name)].bytes] = 0;
	} else if (id == JITREG_DEBUG_INFO) {
		const char *at = v[F(debug_info, entries)].p;

		s->nr_lines = v[F(debug_info, entries)].u;
		for (uint64_t i = 0; i < s->nr_lines; i++) {
			memcpy(&s->line_address[i], at, 8);
			assert_true(strlen(at + 16) < 64);
			strcpy(s->line_file[i], at + 16);
			at += 16 + strlen(at + 16) + 1;
		}
		assert_ptr_equal(at, (const char *)v[F(debug_info, entries)].p + v[F(debug_info, entries)].bytes);
	}
}

static int read_all(const struct file *f, struct seen *s)
{
	struct jitdump_clock now = { 0, NOW_NS };
	struct jitdump *j = jitdump_create(&(struct jitdump_writer){ .mapped_ns = MAPPED_NS });
	int ret = jitdump_feed(j, f->bytes, f->nr, &now, on_record, s);

	jitdump_destroy(j);
	return ret;
}

static void records_arrive_in_any_pieces(void **state)
{
	const char *names[] = { "a.c", "\xff" };
	struct file f = { .nr = 0 };

	(void)state;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0, 4 }, names, 2, 0, 3);
	put_load(&f, 4100000000u, START, 100, "fib");
	put_u32(&f, 99); /* of a later version */
	put_u32(&f, 20);
	put_u64(&f, 0);
	put_u32(&f, 0);
	put_load(&f, 4200000000u, START + 256, 16, "end");
	for (size_t cut = 1; cut < f.nr; cut++) {
		struct jitdump_clock now = { 0, NOW_NS };
		struct jitdump *j = jitdump_create(&(struct jitdump_writer){ .mapped_ns = MAPPED_NS });
		struct seen s = { 0 };

		assert_int_equal(jitdump_feed(j, f.bytes, cut, &now, on_record, &s), 0);
		assert_int_equal(jitdump_feed(j, f.bytes + cut, f.nr - cut, &now, on_record, &s), 0);
		assert_int_equal(s.nr, 3);
		assert_true(s.id[0] == JITREG_DEBUG_INFO && s.id[1] == JITREG_LOAD && s.time_ns[1] == 4100000000u);
		assert_true(s.nr_lines == 2 && s.line_address[1] == START + 4);
		assert_string_equal(s.line_file[1], "a.c"); /* "as before" */
		assert_string_equal(s.name, "end");
		jitdump_destroy(j);
	}
}

static void tables_behind_an_elf_header_are_shifted_back(void **state)
{
	const char *names[] = { "a.js", "a.js" };
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0x40, 0x90 }, names, 2, 0, 0);
	put_load(&f, 4100000000u, START, 100, "fib");
	assert_int_equal(read_all(&f, &s), 0);
	assert_true(s.line_address[0] == START && s.line_address[1] == START + 0x50);

	/* but not where one table of the writer's starts at 0 */
	memset(&s, 0, sizeof(s));
	f.nr = 0;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0, 0x50 }, names, 2, 0, 0);
	put_load(&f, 4100000000u, START, 100, "fib");
	put_lines(&f, 4100000000u, (uint64_t[]){ 0x40, 0x50 }, names, 2, 0, 0);
	put_load(&f, 4100000000u, START, 200, "fib");
	assert_int_equal(read_all(&f, &s), 0);
	assert_true(s.line_address[0] == START + 0x40);
}

static void names_that_were_freed_are_taken_from_the_function(void **state)
{
	const char *names[] = { "m\x90\0\0\1\2\3\4\5", "m\x90\0\0\1\2\3\4\5", "m\x90\0\0\1\2\3\4\5" };
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0x40, 0x44, 0x48 }, names, 3, 9, 2);
	put_load(&f, 4100000000u, START, 100, "JS:^fib /tmp/n.js:1:13");
	assert_int_equal(read_all(&f, &s), 0);
	assert_int_equal(s.nr, 2);
	assert_true(s.nr_lines == 3 && s.line_address[2] == START + 8);
	for (int i = 0; i < 3; i++)
		assert_string_equal(s.line_file[i], "/tmp/n.js");
}

/* V8 10 writes each name once; one that is still there is kept. */
static void one_name_that_was_freed_is_taken_from_the_function(void **state)
{
	const char *names[] = { "m\x90\0\0\1\2\3\4\5", "\xff", "/tmp/o.js", "\xff" };
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0x40, 0x44, 0x48, 0x4c }, names, 4, 9, 5);
	put_load(&f, 4100000000u, START, 100, "LazyCompile:*fib /tmp/n.js:1");
	assert_int_equal(read_all(&f, &s), 0);
	assert_int_equal(s.nr, 2);
	assert_true(s.nr_lines == 4 && s.line_address[3] == START + 12);
	for (int i = 0; i < 4; i++)
		assert_string_equal(s.line_file[i], i < 2 ? "/tmp/n.js" : "/tmp/o.js");
}

static void tables_that_make_no_sense_cost_the_table_only(void **state)
{
	const char *names[] = { "a", "b" };
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	put_lines(&f, 4100000000u, (uint64_t[]){ 0, 1ull << 40 }, names, 2, 0, 0);
	put_load(&f, 4100000000u, START, 100, "fib");
	assert_int_equal(read_all(&f, &s), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.name, "fib");
}

static void another_clock_is_moved_to_ours(void **state)
{
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	put_load(&f, 1795247432812856000u, START, 100, "first"); /* the time of day */
	put_load(&f, 1795247432812856500u, START, 100, "second");
	assert_int_equal(read_all(&f, &s), 0);
	assert_true(s.time_ns[0] == MAPPED_NS && s.time_ns[1] == MAPPED_NS + 500);
}

static void read_one(struct jitdump_writer w, uint64_t time_ns, uint64_t expected_ns)
{
	struct jitdump_clock now = { 0, NOW_NS };
	struct jitdump *j = jitdump_create(&w);
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	put_header(&f, 0);
	put_load(&f, time_ns, START, 100, "first");
	put_load(&f, time_ns + 500, START, 100, "second");
	assert_int_equal(jitdump_feed(j, f.bytes, f.nr, &now, on_record, &s), 0);
	assert_true(s.time_ns[0] == expected_ns && s.time_ns[1] == expected_ns + 500);
	jitdump_destroy(j);
}

static void a_time_namespace_moves_the_clock(void **state)
{
	const uint64_t day_ns = 86400000000000;

	(void)state;
	read_one((struct jitdump_writer){ MAPPED_NS, false, (int64_t)day_ns }, day_ns + 4100000000, 4100000000);
	read_one((struct jitdump_writer){ MAPPED_NS, false, -2000000000 }, 2100000000, 4100000000);
}

/* A file has no record that is older than its mapping, unless the mapping was found later. */
static void a_clock_that_is_behind_is_moved_to_ours(void **state)
{
	(void)state;
	read_one((struct jitdump_writer){ MAPPED_NS, true, 0 }, 1000000000, MAPPED_NS);
	read_one((struct jitdump_writer){ MAPPED_NS, false, 0 }, 1000000000, 1000000000);
	read_one((struct jitdump_writer){ MAPPED_NS, true, 0 }, MAPPED_NS - 1000000, MAPPED_NS - 1000000);
}

static void the_processors_counter_is_converted(void **state)
{
	struct jitdump *j = jitdump_create(&(struct jitdump_writer){ .mapped_ns = MAPPED_NS });
	struct jitdump_clock first = jitdump_clock_now(), now = { first.counter + 2000000000ull, first.ns + 1000000000ull };
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 1);
	put_load(&f, now.counter - 1000000000ull, START, 100, "half a second ago");
	assert_int_equal(jitdump_feed(j, f.bytes, f.nr, &now, on_record, &s), 0);
	assert_int_equal(s.nr, 1);
	/* j's own first clock was read a little earlier than ours: 1 ms is far more than that */
	assert_true(s.time_ns[0] > first.ns + 499000000 && s.time_ns[0] < first.ns + 501000000);
	jitdump_destroy(j);
}

static void what_is_no_jitdump_is_refused(void **state)
{
	struct file f = { .nr = 0 };
	struct seen s = { 0 };

	(void)state;
	put_header(&f, 0);
	f.bytes[0] ^= 1;
	assert_int_equal(read_all(&f, &s), -EBADMSG);
	f.bytes[0] ^= 1;
	f.bytes[8] = 39; /* a header shorter than its fields */
	assert_int_equal(read_all(&f, &s), -EBADMSG);
	f.bytes[8] = 40;
	put_u32(&f, JITREG_LOAD);
	put_u32(&f, 15); /* a record shorter than its prefix */
	put_u64(&f, 0);
	assert_int_equal(read_all(&f, &s), -EBADMSG);
	memset(f.bytes + f.nr - 12, 0xff, 4); /* a record of 4 GiB */
	assert_int_equal(read_all(&f, &s), -EBADMSG);
	assert_int_equal(s.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_arrive_in_any_pieces),
		cmocka_unit_test(tables_behind_an_elf_header_are_shifted_back),
		cmocka_unit_test(names_that_were_freed_are_taken_from_the_function),
		cmocka_unit_test(one_name_that_was_freed_is_taken_from_the_function),
		cmocka_unit_test(tables_that_make_no_sense_cost_the_table_only),
		cmocka_unit_test(another_clock_is_moved_to_ours),
		cmocka_unit_test(a_time_namespace_moves_the_clock),
		cmocka_unit_test(a_clock_that_is_behind_is_moved_to_ours),
		cmocka_unit_test(the_processors_counter_is_converted),
		cmocka_unit_test(what_is_no_jitdump_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
