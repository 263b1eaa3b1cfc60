/* SPDX-License-Identifier: MIT */
/* Frames that an adapter declares are .eh_frame that the analyzer reads, with the same rules in it. */
#include "tests/unit/unit.h"

#define JITREG_AGENT 1 /* jitreg_emit is here */
#include "shim/hosts/hosts.h"

#include "analyzer/unwind/eh_frame.h"
#include "jitreg/trace/schema.h"

#include <stdlib.h>
#include <string.h>

#define CODE 0x7f0000001000ull

static unsigned char record[2048];
static struct schema_value value[SCHEMA_FIELDS_MAX];
static int nr_values, nr_records;

int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	uint32_t bytes = 0;

	for (int i = 0; i < nr_parts; i++) {
		assert_true(parts[i].iov_len <= sizeof(record) - bytes);
		if (parts[i].iov_len)
			memcpy(record + bytes, parts[i].iov_base, parts[i].iov_len);
		bytes += (uint32_t)parts[i].iov_len;
	}
	memcpy(record + 4, &bytes, 4);
	nr_records++;
	return schema_parse(record, bytes, value, &nr_values);
}

static bool keep(void *context, const struct eh_frame_fde *f)
{
	*(struct eh_frame_fde *)context = *f;
	return true;
}

/* The CFA's offset from rsp at an offset in the code; *row is all of it. */
static int64_t cfa_at(uint64_t offset, struct cfi_row *row)
{
	const void *frames = value[F(eh_frame, frames)].p;
	size_t bytes = value[F(eh_frame, frames)].bytes;
	struct eh_frame_fde fde = { 0 };
	struct cfi_program p;

	eh_frame_each(frames, bytes, CODE, keep, &fde);
	assert_int_equal(fde.start, CODE);
	assert_int_equal(fde.bytes, 0x1000);
	assert_true(eh_frame_read_program(frames, bytes, CODE, fde.offset, &p));
	assert_true(cfi_row_at(&p, CODE + offset, row));
	assert_int_equal(row->cfa.where, CFI_REGISTER);
	assert_int_equal(row->cfa.reg, CFI_RSP);
	return row->cfa.value;
}

static void declared_frames_are_read_as_declared(void **state)
{
	static const struct frame_rule rule[] = { { 0, 96 }, { 9, 1120 }, { 0xffb, 96 } };
	static const struct frame_saved saved[] = { { 6, 2 }, { 13, 200 } };
	struct cfi_row row;

	(void)state;
	assert_int_equal(announce_frames(CODE, 0x1000, rule, 3, saved, 2), 0);
	assert_int_equal(nr_records, 1);
	assert_int_equal(cfa_at(0, &row), 96);
	assert_int_equal(cfa_at(8, &row), 96);
	assert_int_equal(cfa_at(9, &row), 1120);
	assert_int_equal(cfa_at(0xffa, &row), 1120);
	assert_int_equal(cfa_at(0xffb, &row), 96);
	assert_int_equal(row.reg[CFI_RETURN].value, -8);
	assert_int_equal(row.reg[6].value, -16);
	assert_int_equal(row.reg[13].value, -1600);
	assert_int_equal(row.reg[12].where, CFI_SAME);
}

static void more_rules_than_there_is_room_for_are_refused(void **state)
{
	struct frame_rule rule[200];

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		rule[i] = (struct frame_rule){ i, 8 * i };
	nr_records = 0;
	assert_true(announce_frames(CODE, 0x1000, rule, 200, NULL, 0) < 0);
	assert_int_equal(nr_records, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declared_frames_are_read_as_declared),
		cmocka_unit_test(more_rules_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
