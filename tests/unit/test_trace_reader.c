/* SPDX-License-Identifier: MIT */
/* What writer.c and samples.c write, reader.c reads; damage costs what it hit. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/samples.h"
#include "jitreg/base/crc32c.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/record_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/tailor-test-XXXXXX";

/* A header, 100 notices in chunks of their own, an end. */
static int write_trace(void **state)
{
	struct trace_writer *w;

	(void)state;
	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, NULL), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
	for (int i = 0; i < 100; i++) {
		trace_writer_flush(w, TRACE_CHUNK_RECORDS);
		TRACE_PUT(w, notice, 2, 3, 4, .kind = trace_string("host"), .sentence = trace_string("a sentence"));
	}
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	TRACE_PUT(w, end, 5, 0, 0);
	return trace_writer_close(w);
}

static int remove_trace(void **state)
{
	(void)state;
	return unlink(path);
}

static int count(struct trace_reader *t, uint32_t id)
{
	struct trace_record r;
	int n = 0;

	while (trace_next(t, &r) == 1)
		n += r.id == id;
	return n;
}

static void a_whole_trace_is_read_whole(void **state)
{
	struct trace_reader *t;
	struct trace_record r;
	char text[256], *sentence;

	(void)state;
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(count(t, TRACE_NOTICE), 100);
	assert_false(trace_describe_damage(t, text, sizeof(text)));
	trace_rewind(t);
	trace_next(t, &r);
	trace_next(t, &r);
	assert_int_equal(r.pid, 3);
	assert_int_equal(r.tid, 4);
	sentence = trace_text(&r, F(notice, sentence));
	assert_string_equal(sentence, "a sentence");
	free(sentence);
	assert_int_equal(trace_u64(&r, 99), 0); /* a field that is not there */
	trace_close(t);
}

static void one_flipped_bit_costs_one_chunk(void **state)
{
	struct trace_reader *t;
	char text[256];
	FILE *f = fopen(path, "r+b");

	(void)state;
	fseek(f, 2000, SEEK_SET);
	int c = fgetc(f);
	fseek(f, 2000, SEEK_SET);
	fputc(c ^ 4, f);
	fclose(f);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(count(t, TRACE_NOTICE), 99);
	assert_true(trace_describe_damage(t, text, sizeof(text)));
	assert_false(trace_get_damage(t)->truncated);
	trace_close(t);
}

static void a_cut_trace_keeps_what_is_before_the_cut(void **state)
{
	struct trace_reader *t;
	char text[256];

	(void)state;
	assert_int_equal(truncate(path, 3000), 0);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_uint_in_range(count(t, TRACE_NOTICE), 30, 90);
	assert_true(trace_describe_damage(t, text, sizeof(text)));
	assert_true(trace_get_damage(t)->truncated);
	trace_close(t);
}

/* The recorder is another process, and ends a moment after its host. */
static void a_trace_whose_recorder_lives_is_waited_for(void **state)
{
	int ready[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct trace_writer *w;
		bool ok = trace_writer_open(path, false, &w, NULL) == 0;

		TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
		trace_writer_flush(w, TRACE_CHUNK_RECORDS);
		ok &= write(ready[1], "", 1) == 1;
		usleep(300000);
		TRACE_PUT(w, end, 5, 0, 0);
		_exit(trace_writer_close(w) || !ok);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct trace_reader *t;
	trace_wait_for_recorder(path);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	count(t, TRACE_END);
	assert_false(trace_get_damage(t)->truncated);
	trace_close(t);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ready[0]);
	close(ready[1]);
}

static void a_newer_format_is_refused(void **state)
{
	struct trace_writer *w;
	struct trace_reader *t;
	struct diag d;

	(void)state;
	assert_int_equal(trace_writer_open(path, false, &w, NULL), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION + 1);
	assert_int_equal(trace_writer_close(w), 0);
	assert_true(trace_open(path, &t, &d) < 0);
	assert_non_null(strstr(d.text, "format version"));
}

/* One record behind a header, a nameless one, and bytes that are no msgpack: what does not make sense is counted to the byte. */
static void records_that_make_no_sense_are_counted_whole(void **state)
{
	static const struct {
		uint64_t id, pid, tid;
		bool good;
	} heads[] = {
		{ TRACE_EXIT, 1, 1, true },
		{ (1ull << 32) + TRACE_EXIT, 1, 1, false },
		{ TRACE_EXIT, (1ull << 32) + 1, 1, false },
		{ TRACE_EXIT, 1, UINT64_MAX, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct trace_writer *w;
		struct trace_reader *t;
		char text[256];

		assert_int_equal(trace_writer_open(path, false, &w, NULL), 0);
		trace_record_begin(w, TRACE_HEADER, 1, 0, 0, 1);
		trace_record_u64(w, TRACE_FORMAT_VERSION);
		trace_record_array(w, 4); /* the next record, by hand */
		trace_record_u64(w, heads[i].id);
		trace_record_u64(w, 7);
		trace_record_u64(w, heads[i].pid);
		trace_record_u64(w, heads[i].tid);
		trace_record_end(w);
		trace_writer_flush(w, TRACE_CHUNK_RECORDS);
		TRACE_PUT(w, end, 5, 0, 0);
		assert_int_equal(trace_writer_close(w), 0);
		assert_int_equal(trace_open(path, &t, NULL), 0);
		assert_int_equal(count(t, TRACE_EXIT), heads[i].good);
		assert_int_equal(trace_describe_damage(t, text, sizeof(text)), !heads[i].good);
		if (!heads[i].good) {
			assert_int_equal(trace_get_damage(t)->bad_chunks, 1);
			assert_uint_in_range(trace_get_damage(t)->skipped_bytes, 6, 31); /* of that record, nothing else */
			assert_int_equal(trace_get_damage(t)->first_byte, 0); /* the file's first chunk */
			assert_non_null(strstr(text, "1 damaged place was skipped"));
		}
		trace_close(t);
	}
}

static void bytes_behind_a_record_are_counted_whole(void **state)
{
	struct trace_writer *w;
	struct trace_reader *t;
	const struct trace_chunk *c;
	uint64_t offset;
	struct trace_record r;

	(void)state;
	assert_int_equal(trace_writer_open(path, false, &w, NULL), 0);
	trace_record_begin(w, TRACE_HEADER, 1, 0, 0, 1);
	trace_record_u64(w, TRACE_FORMAT_VERSION);
	trace_record_array(w, 1000); /* that never come */
	for (int i = 0; i < 99; i++)
		trace_record_u64(w, 1);
	trace_record_end(w);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(trace_next(t, &r), 1);
	c = trace_get_chunk(t, &offset);
	assert_int_equal(offset, 0);
	assert_int_equal(c->type, TRACE_CHUNK_RECORDS);
	assert_int_equal(trace_next(t, &r), 0);
	assert_int_equal(trace_get_damage(t)->skipped_bytes, 3 + 99);
	trace_close(t);
}

static void crc32c_is_castagnolis(void **state)
{
	unsigned char zeros[32] = { 0 };

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
	assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_whole_trace_is_read_whole, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(one_flipped_bit_costs_one_chunk, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(a_cut_trace_keeps_what_is_before_the_cut, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(a_trace_whose_recorder_lives_is_waited_for, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(a_newer_format_is_refused, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(records_that_make_no_sense_are_counted_whole, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(bytes_behind_a_record_are_counted_whole, write_trace, remove_trace),
		cmocka_unit_test(crc32c_is_castagnolis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
