/* SPDX-License-Identifier: MIT */
/* put.h: what is put into a field is read from that field, of every record of both lists. */
#include "tests/unit/unit.h"

#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static struct trace_writer *w;
static struct trace_reader *t;
static struct trace_record r;

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_put.XXXXXX");
	close(mkstemp(path));
	return trace_writer_open(path, TRACE_PLAIN, &w, NULL) || TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
}

static int teardown(void **state)
{
	(void)state;
	trace_close(t);
	unlink(path);
	return 0;
}

static void reopen(void)
{
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.id, TRACE_HEADER);
}

/* ------------------------------------------------------------------------------------------------------- every record */

#define NR_ELEMENTS 3

/* A number that differs from field to field; of 32 bits where no more is kept. */
static uint64_t number(int record, int field, int member)
{
	return 0x80000000u + (uint64_t)record * 65536 + (uint64_t)field * 256 + (uint64_t)member;
}

static size_t text(char out[32], int record, int field, int member)
{
	return (size_t)snprintf(out, 32, "text %d %d %d", record, field, member);
}

/* What was put: 8 bytes of a number, 16 of a text or of a list, with room for all that they point to. */
struct put {
	uint64_t words[2 * SCHEMA_FIELDS_MAX];
	uint64_t element[SCHEMA_FIELDS_MAX][NR_ELEMENTS * 2 * SCHEMA_MEMBERS_MAX];
	char text[SCHEMA_FIELDS_MAX][NR_ELEMENTS * SCHEMA_MEMBERS_MAX + 1][32];
};

static uint64_t *plant_text(uint64_t *at, char room[32], int record, int field, int member)
{
	at[0] = (uintptr_t)room;
	at[1] = text(room, record, field, member);
	return at + 2;
}

static void plant(struct put *p, const struct schema_record *s, int record)
{
	uint64_t *at = p->words, *member;

	for (int i = 0; i < s->nr_fields; i++) {
		const struct schema_element *e = s->fields[i].element;

		switch (s->fields[i].kind) {
		case SCHEMA_NR:
			break;
		case SCHEMA_U32:
			*at++ = number(record, i, 0) | UINT64_C(0x1234567) << 32; /* what lies behind a field of 32 bits does not count */
			break;
		case SCHEMA_U64:
			*at++ = number(record, i, 0) << 32;
			break;
		case SCHEMA_S64:
			*at++ = -number(record, i, 0);
			break;
		case SCHEMA_ARR:
		case SCHEMA_LINES:
			member = p->element[i];
			*at++ = (uintptr_t)member;
			*at++ = NR_ELEMENTS;
			for (int n = 0; n < NR_ELEMENTS * e->nr_members; n++)
				if (e->member[n % e->nr_members].kind == SCHEMA_U64)
					*member++ = number(record, i, n);
				else
					member = plant_text(member, p->text[i][n], record, i, n);
			break;
		default:
			at = plant_text(at, p->text[i][0], record, i, 0);
		}
	}
}

static void check_text(const struct trace_value *v, enum schema_kind kind, int record, int field, int member)
{
	char expected[32];

	assert_int_equal(v->kind, kind == SCHEMA_STR || kind == SCHEMA_ZSTR ? TRACE_TEXT : TRACE_BYTES);
	assert_int_equal(v->bytes, text(expected, record, field, member));
	assert_memory_equal(v->p, expected, v->bytes);
}

static void check_field(const struct schema_field *f, const struct trace_value *v, int record, int field)
{
	switch (f->kind) {
	case SCHEMA_U32:
	case SCHEMA_U64:
		assert_int_equal(v->kind, TRACE_UINT);
		assert_int_equal(v->u, number(record, field, 0) << (f->kind == SCHEMA_U64 ? 32 : 0));
		break;
	case SCHEMA_S64:
		assert_int_equal(v->kind, TRACE_INT);
		assert_int_equal(v->u, -number(record, field, 0));
		break;
	case SCHEMA_ARR:
	case SCHEMA_LINES:
		assert_int_equal(v->kind, TRACE_LIST);
		assert_int_equal(v->u, NR_ELEMENTS);
		for (int n = 0; n < NR_ELEMENTS * f->element->nr_members; n++) {
			int m = n % f->element->nr_members;
			struct trace_value e = trace_element(v, (uint64_t)(n / f->element->nr_members), m);

			if (f->element->member[m].kind == SCHEMA_U64)
				assert_int_equal(e.u, number(record, field, n));
			else
				check_text(&e, f->element->member[m].kind, record, field, n);
		}
		break;
	default:
		check_text(v, f->kind, record, field, 0);
	}
}

static void each_field_of_each_record_comes_back(void **state)
{
	const struct schema_record *s;
	static struct put p;

	(void)state;
	for (int n = 0; (s = schema_at(n)); n++) {
		plant(&p, s, n);
		assert_int_equal(trace_put_fields(w, s->id, 100 + (uint64_t)n, 200, 300, p.words), 0);
		assert_int_equal(trace_writer_flush(w, schema_chunk_type_of(s->id)), 0); /* in this order */
	}
	reopen();
	for (int n = 0; (s = schema_at(n)); n++) {
		assert_int_equal(trace_next(t, &r), 1);
		assert_int_equal(r.id, s->id);
		assert_int_equal(r.time_ns, 100 + n);
		assert_int_equal(r.pid, 200);
		assert_int_equal(r.tid, 300);
		assert_int_equal(r.nr_values, s->nr_values);
		for (int i = 0, value = 0; i < s->nr_fields; i++)
			if (s->fields[i].kind != SCHEMA_NR)
				check_field(&s->fields[i], &r.values[value++], n, i);
	}
	assert_int_equal(trace_next(t, &r), 0);
}

/* ------------------------------------------------------------------------------------------------- every struct of one */

struct member {
	const char *name; /* "": behind the last one */
	size_t offset;
};

static void check_layout(uint32_t id, const struct member *m)
{
	const struct schema_record *s = schema_find(id);
	size_t at = 0;

	for (int i = 0; i < s->nr_fields; i++) {
		const struct schema_field *f = &s->fields[i];

		if (f->kind == SCHEMA_NR)
			continue;
		assert_string_equal(m->name, f->name);
		assert_int_equal(m->offset, at);
		at += f->kind == SCHEMA_U32 || f->kind == SCHEMA_U64 || f->kind == SCHEMA_S64 ? 8 : 16;
		m++;
	}
	assert_string_equal(m->name, "");
	assert_int_equal(m->offset, at);
}

#define MEMBER(f) { #f, offsetof(of, f) },
#define MEMBER_OF(f, element) MEMBER(f)
#define NO_MEMBER(f)
#define MEMBERS(FIELDS) FIELDS(MEMBER, MEMBER, MEMBER, NO_MEMBER, MEMBER, MEMBER, MEMBER_OF, MEMBER, MEMBER, MEMBER)
#define CHECK_LAYOUT(name, id, ...) \
	{ \
		typedef struct trace_put_##name of; \
		static const struct member members[] = { __VA_ARGS__ { "", sizeof(of) } }; \
		check_layout(id, members); \
	}
#define CHECK_JITREG(NAME, name, id) CHECK_LAYOUT(name, id, MEMBERS(JITREG_FIELDS_##NAME) JITREG_TRAILING_##NAME(MEMBER, MEMBER))
#define CHECK_TRACE(NAME, name, id) CHECK_LAYOUT(name, id, MEMBERS(TRACE_FIELDS_##NAME))

static void each_field_is_where_its_record_has_it(void **state)
{
	(void)state;
	JITREG_RECORDS(CHECK_JITREG)
	TRACE_RECORDS(CHECK_TRACE)
}

/* ------------------------------------------------------------------------------------------------------------ by name */

static void fields_that_are_not_named_are_0_and_empty(void **state)
{
	const struct jitreg_level_ref upper[] = { { 4 }, { 5 } };

	(void)state;
	assert_int_equal(TRACE_PUT(w, level, 5, 6, 7, .upper = { upper, 2 }, .name = trace_string("node"), .level = 9), 0);
	assert_int_equal(TRACE_PUT(w, image, 5, 6, 7), 0);
	assert_int_equal(TRACE_PUT(w, close, 5, 6, 7), 0);
	reopen();
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.time_ns, 5);
	assert_int_equal(r.pid, 6);
	assert_int_equal(r.tid, 7);
	assert_int_equal(trace_u64(&r, F(level, level)), 9);
	assert_int_equal(trace_u64(&r, F(level, flags)), 0);
	assert_true(trace_text_is(&r, F(level, name), "node"));
	assert_int_equal(r.values[F(level, upper)].u, 2);
	assert_int_equal(trace_element(&r.values[F(level, upper)], 1, 0).u, 5);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.nr_values, F_COUNT(image));
	assert_int_equal(r.values[F(image, segments)].kind, TRACE_LIST);
	assert_int_equal(r.values[F(image, segments)].u, 0);
	assert_int_equal(r.values[F(image, path)].kind, TRACE_TEXT);
	assert_int_equal(r.values[F(image, bytes)].kind, TRACE_BYTES);
	assert_int_equal(r.values[F(image, bytes)].bytes, 0);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.id, JITREG_CLOSE);
	assert_int_equal(r.nr_values, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_field_of_each_record_comes_back, setup, teardown),
		cmocka_unit_test(each_field_is_where_its_record_has_it),
		cmocka_unit_test_setup_teardown(fields_that_are_not_named_are_0_and_empty, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
