/* SPDX-License-Identifier: MIT */
/* What a reader of this version makes of other versions' bytes: format 1 as it was, records and chunks of later ones, and broken chunks. */
#include "tests/unit/unit.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/record_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static struct trace_writer *begin(uint32_t version)
{
	struct trace_writer *w;

	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, TRACE_PLAIN, &w, NULL), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = version);
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	return w;
}

static void put_exit(struct trace_writer *w, uint32_t pid)
{
	TRACE_PUT(w, exit, 2, pid, pid, .ppid = 1, .ptid = 1);
}

static void end(struct trace_writer *w)
{
	trace_writer_flush_all(w);
	TRACE_PUT(w, end, 5, 0, 0);
	assert_int_equal(trace_writer_close(w), 0);
}

static struct trace_reader *reopen(void)
{
	struct trace_reader *t;

	assert_int_equal(trace_open(path, &t, NULL), 0);
	return t;
}

/* One chunk, by hand, at the file's end. */
static void append_chunk(uint16_t type, const void *body, uint32_t bytes, uint32_t flip)
{
	struct trace_chunk c = { .magic = TRACE_MAGIC, .type = type, .stored_bytes = bytes, .body_bytes = bytes };
	FILE *f = fopen(path, "ab");

	c.crc32c = crc32c(crc32c(0, &c, sizeof(c) - 4), body, bytes) ^ flip;
	fwrite(&c, sizeof(c), 1, f);
	fwrite(body, 1, bytes, f);
	fclose(f);
}

/* Format 1: columns as u64 or as differences, all of them there, stacks as they are; no encoding above 2. */
static void samples_of_format_1_are_read(void **state)
{
	static const uint64_t ip[] = { 0x400000, 0x400010, 0x400000 }, sp[] = { 64, 32, 96 };
	static const unsigned char time_deltas[] = { 200, 1, 2, 4 }; /* 100, 101, 103 */
	static const unsigned char lengths[] = { 6, 2, 7 };	     /* 3, 4, 0 */
	static const struct trace_column columns[] = {
		{ SAMPLE_COLUMN_TIME, SAMPLE_ENCODING_DELTA, { time_deltas, 4 } },
		{ SAMPLE_COLUMN_IP, SAMPLE_ENCODING_U64, { ip, sizeof(ip) } },
		{ SAMPLE_COLUMN_ADDRESS, SAMPLE_ENCODING_DELTA, { "\0\0\0", 3 } },
		{ SAMPLE_COLUMN_REGISTER_0 + 7, SAMPLE_ENCODING_U64, { sp, sizeof(sp) } },
		{ SAMPLE_COLUMN_STACK_BYTES, SAMPLE_ENCODING_DELTA, { lengths, 3 } },
		{ SAMPLE_COLUMN_STACK, SAMPLE_ENCODING_BYTES, { "abcdefg", 7 } },
	};
	struct trace_writer *w = begin(1);
	struct sample_block b = { 0 };
	struct trace_reader *t;
	struct trace_record r;
	size_t bytes;

	(void)state;
	TRACE_PUT(w, samples, 1, 0, 0, .nr = 3, .columns = { columns, sizeof(columns) / sizeof(columns[0]) });
	end(w);
	t = reopen();
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(sample_block_decode(&r, &b), 0);
	assert_int_equal(b.nr, 3);
	assert_int_equal(b.column[SAMPLE_COLUMN_TIME][2], 103);
	assert_int_equal(b.column[SAMPLE_COLUMN_ADDRESS][1], 0);
	assert_memory_equal(b.column[SAMPLE_COLUMN_IP], ip, sizeof(ip));
	assert_memory_equal(b.registers[7], sp, sizeof(sp));
	assert_memory_equal(sample_block_stack(&b, 0, &bytes), "abc", 3);
	assert_int_equal(bytes, 3);
	assert_memory_equal(sample_block_stack(&b, 1, &bytes), "defg", 4);
	assert_int_equal(bytes, 4);
	sample_block_stack(&b, 2, &bytes);
	assert_int_equal(bytes, 0);
	assert_null(b.column[SAMPLE_COLUMN_WEIGHT]);
	sample_block_fini(&b);
	trace_close(t);
	unlink(path);
}

/* A COUNT of format 1 ends before the fields that came later: those are 0. */
static void fields_that_a_version_did_not_have_are_0(void **state)
{
	struct trace_writer *w = begin(1);
	struct trace_reader *t;
	struct trace_record r;

	(void)state;
	trace_record_begin(w, TRACE_COUNT, 2, 3, 3, 7);
	for (uint64_t i = 1; i <= 7; i++)
		trace_record_u64(w, i);
	trace_record_end(w);
	end(w);
	t = reopen();
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(trace_u64(&r, F(count, lost)), 7);
	assert_int_equal(trace_u64(&r, F(count, on_cpu_ns)), 0);
	assert_int_equal(trace_u64(&r, F(count, weight)), 0);
	trace_close(t);
	unlink(path);
}

/* Records of unknown ids and fields behind the known ones are delivered, and copied byte for byte; they are no damage. */
static void what_a_later_version_adds_is_kept(void **state)
{
	static const uint32_t only[] = { TRACE_EXIT };
	char copy[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w = begin(TRACE_FORMAT_VERSION);
	struct trace_reader *t, *copied;
	struct trace_record r, c;

	(void)state;
	trace_record_begin(w, 255, 2, 3, 4, 30); /* also more fields than a reader keeps */
	for (int i = 0; i < 29; i++)
		trace_record_text(w, "new", 3);
	trace_record_array(w, 2);
	trace_record_nil(w);
	trace_record_s64(w, -1);
	trace_record_end(w);
	put_exit(w, 9);
	end(w);

	close(mkstemp(copy));
	assert_int_equal(trace_writer_open(copy, TRACE_SMALL, &w, NULL), 0);
	t = reopen();
	while (trace_next(t, &r) == 1)
		assert_int_equal(trace_record_copy(w, &r), 0);
	assert_int_equal(trace_get_damage(t)->bad_chunks, 0);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(copy, &copied, NULL), 0);
	trace_rewind(t);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(trace_next(t, &r), 1);
		assert_int_equal(trace_next(copied, &c), 1);
		assert_int_equal(c.id, r.id);
		assert_int_equal(c.packed_bytes, r.packed_bytes);
		assert_memory_equal(c.packed, r.packed, r.packed_bytes);
	}
	assert_int_equal(trace_next(copied, &c), 0);
	trace_close(copied);
	unlink(copy);

	/* who wants one kind steps over the others */
	trace_rewind(t);
	trace_select_ids(t, only, 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.pid, 9);
	assert_int_equal(trace_next(t, &r), 0);
	assert_false(trace_get_damage(t)->truncated);
	trace_close(t);
	unlink(path);
}

static void chunks_of_a_later_version_are_skipped_whole(void **state)
{
	struct trace_writer *w = begin(TRACE_FORMAT_VERSION);
	struct trace_reader *t;
	struct trace_record r;

	(void)state;
	put_exit(w, 9);
	assert_int_equal(trace_writer_close(w), 0);
	append_chunk(77, "TLRC is no chunk in here", 24, 0);
	append_chunk(TRACE_CHUNK_END, "\x95\xcc\x8c\x01\x00\x00\x00", 7, 0);
	t = reopen();
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.id, TRACE_END);
	assert_int_equal(trace_next(t, &r), 0);
	assert_int_equal(trace_get_damage(t)->bad_chunks, 0);
	assert_false(trace_get_damage(t)->truncated);
	trace_close(t);
	unlink(path);
}

/* A wrong checksum costs its chunk, by whichever way it is read; what stands behind is read. */
static void a_wrong_checksum_costs_its_chunk(void **state)
{
	static const char exit_record[] = "\x96\xcc\x86\x02\x05\x05\x01\x01";
	struct trace_writer *w = begin(TRACE_FORMAT_VERSION);
	struct trace_reader *t;
	struct trace_record r;
	uint64_t bytes;

	(void)state;
	put_exit(w, 1);
	assert_int_equal(trace_writer_flush(w, TRACE_CHUNK_RECORDS), 0);
	bytes = trace_writer_bytes(w);
	assert_int_equal(trace_writer_close(w), 0);
	append_chunk(TRACE_CHUNK_RECORDS, exit_record, 8, 1);
	append_chunk(TRACE_CHUNK_RECORDS, exit_record, 8, 0);
	append_chunk(TRACE_CHUNK_END, "\x95\xcc\x8c\x01\x00\x00\x00", 7, 1);
	t = reopen();
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.pid, 1);
	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(r.pid, 5);
	assert_int_equal(trace_get_place(t).chunk, bytes + sizeof(struct trace_chunk) + 8);
	assert_int_equal(trace_next(t, &r), 0);
	assert_int_equal(trace_get_damage(t)->bad_chunks, 2);
	assert_int_equal(trace_get_damage(t)->first_byte, bytes);
	assert_true(trace_get_damage(t)->truncated); /* an end that cannot be believed is none */
	assert_false(trace_read_record_at(t, (struct trace_place){ bytes, 0 }, &r));
	assert_true(trace_read_record_at(t, (struct trace_place){ bytes + sizeof(struct trace_chunk) + 8, 0 }, &r));
	assert_int_equal(r.pid, 5);

	/* a pass that does not want the end checks it, too */
	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	assert_int_equal(trace_next(t, &r), 0);
	assert_true(trace_get_damage(t)->truncated);
	trace_close(t);
	unlink(path);
}

/* Wherever a trace is cut, what stands before is read, and that something is missing is known. */
static void a_chunk_that_is_cut_anywhere_is_missed(void **state)
{
	struct trace_writer *w = begin(TRACE_FORMAT_VERSION);
	struct trace_reader *t;
	struct trace_record r;
	uint64_t first, all;

	(void)state;
	first = trace_writer_bytes(w);
	put_exit(w, 1);
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	all = trace_writer_bytes(w);
	end(w);
	for (uint64_t bytes = all; bytes-- > first;) {
		assert_int_equal(truncate(path, (off_t)bytes), 0);
		t = reopen();
		assert_int_equal(trace_next(t, &r), 1);
		assert_int_equal(r.id, TRACE_HEADER);
		assert_int_equal(trace_next(t, &r), 0);
		assert_true(trace_get_damage(t)->truncated);
		assert_int_equal(trace_get_damage(t)->skipped_bytes, bytes - first);
		assert_int_equal(trace_get_damage(t)->bad_chunks, 0); /* a cut is no damage */
		assert_int_equal(trace_get_damage(t)->cut_byte, bytes > first ? first : 0);
		assert_false(trace_read_record_at(t, (struct trace_place){ first, 0 }, &r));
		trace_close(t);
	}
	unlink(path);
}

/* A pipe that nobody writes into is not waited for. */
static void what_is_no_file_is_refused_at_once(void **state)
{
	struct trace_reader *t;
	struct diag d;

	(void)state;
	strcpy(path, "/tmp/tailor-test-XXXXXX");
	assert_non_null(mkdtemp(path));
	assert_int_equal(trace_open(path, &t, &d), -EBADMSG);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(trace_open(path, &t, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "not a regular file"));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_format_1_are_read),
		cmocka_unit_test(fields_that_a_version_did_not_have_are_0),
		cmocka_unit_test(what_a_later_version_adds_is_kept),
		cmocka_unit_test(chunks_of_a_later_version_are_skipped_whole),
		cmocka_unit_test(a_wrong_checksum_costs_its_chunk),
		cmocka_unit_test(a_chunk_that_is_cut_anywhere_is_missed),
		cmocka_unit_test(what_is_no_file_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
