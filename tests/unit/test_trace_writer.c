/* SPDX-License-Identifier: MIT */
/* writer.c: chunks and checksums, texts that are no UTF-8, records too large for a chunk, and files that fill up. */
#include "jitreg/trace/writer.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/trace/reader.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static struct diag d;

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_trace_writer.XXXXXX");
	close(mkstemp(path));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void header(struct trace_writer *w)
{
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
}

static int notice(struct trace_writer *w, const char *text, size_t bytes)
{
	return TRACE_PUT(w, notice, 5, 6, 7, .kind = trace_string("host"), .sentence = { text, bytes });
}

/* Number of whole chunks with good checksums; *end: where the last one ends. */
static int good_chunks(uint64_t *end)
{
	FILE *f = fopen(path, "rb");
	struct trace_chunk c;
	int nr = 0;

	*end = 0;
	while (fread(&c, sizeof(c), 1, f) == 1) {
		unsigned char *body = malloc(c.stored_bytes + 1);

		assert_int_equal(c.magic, TRACE_MAGIC);
		assert_int_equal(fread(body, 1, c.stored_bytes, f), c.stored_bytes);
		assert_int_equal(c.crc32c, crc32c(crc32c(0, &c, 28), body, c.stored_bytes));
		*end += sizeof(c) + c.stored_bytes;
		free(body);
		nr++;
	}
	fclose(f);
	return nr;
}

static void writer_makes_chunks_that_check_out(void **state)
{
	struct trace_writer *w;
	struct stat st;
	uint64_t end;

	(void)state;
	for (int compress = 0; compress < 2; compress++) {
		assert_int_equal(trace_writer_open(path, compress, &w, &d), 0);
		header(w);
		trace_writer_flush_all(w);
		for (int i = 0; i < 100000; i++)
			assert_int_equal(notice(w, "again and again", 15), 0);
		assert_int_equal(trace_writer_close(w), 0);
		assert_true(good_chunks(&end) > 2);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, end);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_true(compress ? end < 200000 : end > 2000000);
	}
}

static void writer_replaces_a_file_that_others_have_open(void **state)
{
	struct trace_writer *w;
	FILE *old = fopen(path, "w+");
	char text[16] = "";

	(void)state;
	fputs("no trace", old);
	fflush(old);
	assert_int_equal(trace_writer_open(path, true, &w, &d), -EEXIST);
	rewind(old);
	fputs("TLRC before", old);
	fflush(old);
	assert_int_equal(trace_writer_open(path, true, &w, &d), 0);
	header(w);
	assert_int_equal(trace_writer_close(w), 0);
	rewind(old);
	assert_non_null(fgets(text, sizeof(text), old));
	assert_string_equal(text, "TLRC before");
	fclose(old);
}

static void writer_makes_texts_utf8(void **state)
{
	static const struct {
		const char *is, *becomes;
	} texts[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "latin1 \xfc", "latin1 ?" }, { "\xc0\x80", "??" }, { "\xed\xa0\x80", "???" }, { "cut \xe2\x82", "cut ??" },
		{ "\xf4\x90\x80\x80", "????" }, { "\x80 in front", "? in front" },
	};
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	size_t i = 0;

	(void)state;
	assert_int_equal(trace_writer_open(path, true, &w, &d), 0);
	header(w);
	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++)
		notice(w, texts[n].is, strlen(texts[n].is));
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &r, &d), 0);
	while (trace_next(r, &record) == 1)
		if (record.id == TRACE_NOTICE) {
			char *text = trace_text(&record, F(notice, sentence));

			assert_string_equal(text, texts[i++].becomes);
			free(text);
		}
	assert_int_equal(i, sizeof(texts) / sizeof(texts[0]));
	trace_close(r);
}

static void writer_leaves_out_what_no_chunk_can_hold(void **state)
{
	size_t bytes = TRACE_CHUNK_MAX;
	char *text = malloc(bytes);
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	int nr = 0;

	(void)state;
	memset(text, 'x', bytes);
	assert_int_equal(trace_writer_open(path, true, &w, &d), 0);
	header(w);
	assert_int_equal(notice(w, "small", 5), 0);
	assert_int_equal(notice(w, text, bytes), -E2BIG);
	assert_int_equal(notice(w, "small", 5), 0);
	assert_int_equal(notice(w, text, bytes - 100), 0); /* a chunk of its own */
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &r, &d), 0);
	while (trace_next(r, &record) == 1)
		nr += record.id == TRACE_NOTICE;
	assert_int_equal(nr, 3);
	assert_int_equal(trace_get_damage(r)->bad_chunks, 0);
	trace_close(r);
	free(text);
}

static void writer_stays_readable_in_a_file_that_may_not_grow(void **state)
{
	struct rlimit before, limit;
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	char noise[4000];
	bool ended = false;
	int refused = 0, written = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 200000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(trace_writer_open(path, true, &w, &d), 0);
	header(w);
	srand(1);
	for (int i = 0; i < 100; i++) {
		for (size_t n = 0; n < sizeof(noise); n++)
			noise[n] = (char)(' ' + rand() % 90);
		notice(w, noise, sizeof(noise));
		if (trace_writer_flush(w, TRACE_CHUNK_RECORDS))
			refused++;
		else
			written++;
	}
	assert_true(refused > 30 && written > 20);
	/* a sentence has half of what is kept for the end */
	notice(w, noise, sizeof(noise));
	assert_int_equal(trace_writer_flush_sentence(w), 0);
	written++;
	/* the end has a place kept for it */
	trace_writer_use_reserve(w);
	TRACE_PUT(w, end, 9, 0, 0);
	assert_int_equal(trace_writer_close(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);

	assert_int_equal(trace_open(path, &r, &d), 0);
	for (refused = 0; trace_next(r, &record) == 1;) {
		refused += record.id == TRACE_NOTICE;
		ended |= record.id == TRACE_END;
	}
	assert_int_equal(refused, written);
	assert_true(ended);
	assert_int_equal(trace_get_damage(r)->bad_chunks, 0);
	assert_false(trace_get_damage(r)->truncated);
	trace_close(r);
}

static void writer_says_why_a_file_cannot_be_written(void **state)
{
	struct trace_writer *w;

	(void)state;
	assert_int_equal(trace_writer_open("/nonexistent/t.tlr", true, &w, &d), -ENOENT);
	assert_non_null(strstr(d.text, "/nonexistent/t.tlr"));
	assert_int_equal(trace_writer_open("/tmp", true, &w, &d), -EISDIR);
	assert_int_equal(trace_writer_open("/dev/full", true, &w, &d), 0);
	header(w);
	assert_int_equal(trace_writer_close(w), -ENOSPC);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writer_makes_chunks_that_check_out, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_replaces_a_file_that_others_have_open, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_makes_texts_utf8, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_leaves_out_what_no_chunk_can_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_stays_readable_in_a_file_that_may_not_grow, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_says_why_a_file_cannot_be_written, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
