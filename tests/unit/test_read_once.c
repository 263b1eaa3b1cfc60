/* SPDX-License-Identifier: MIT */
/* A command reads each chunk of a trace once, however many views it shows, and the bytes of generated code come from where they stand. */
#include "analyzer/query/code_bytes.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/report/default_report.h"
#include "analyzer/report/views.h"
#include "jitreg/base/command.h"
#include "jitreg/trace/record_stream.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID 100u
#define NR_FUNCTIONS 60u
#define CODE 0x10000000ull
#define FUNCTION_BYTES 64u
#define REGION 0x20000000ull
#define PAGE 4096u

static char path[] = "/tmp/tailor-test-XXXXXX";

/* `n` times nop, so that each function's bytes are its own, then ret. */
static void put_function(struct trace_writer *w, uint32_t n)
{
	uint64_t address = CODE + n * FUNCTION_BYTES;
	bool late = n % 3 == 2; /* its bytes are read from memory later */
	unsigned char code[FUNCTION_BYTES];
	char name[32];

	memset(code, 0x90, sizeof(code));
	code[n % FUNCTION_BYTES] = 0xc3;
	snprintf(name, sizeof(name), "function_%u", n);
	TRACE_PUT(w, load, 1000 + n, PID, PID, .pid = PID, .tid = PID, .vma = PID, .code_addr = address, .code_size = FUNCTION_BYTES,
		  .code_index = PID, .name = trace_string(name), .code = { code, late ? 0 : sizeof(code) });
	if (!late)
		return;
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	TRACE_PUT(w, code_bytes, 5000 + n, PID, PID, .address = address, .loaded_ns = 1000 + n, .code = { code, sizeof(code) });
}

static void put_samples(struct trace_writer *w)
{
	uint64_t time_ns[NR_FUNCTIONS + 1], ip[NR_FUNCTIONS + 1];

	for (uint32_t i = 0; i <= NR_FUNCTIONS; i++) {
		time_ns[i] = 10000 + i;
		ip[i] = i < NR_FUNCTIONS ? CODE + i * FUNCTION_BYTES : REGION + 16;
	}
	trace_samples_begin(w, 10000, 0, NR_FUNCTIONS + 1, 5);
	trace_samples_column(w, SAMPLE_COLUMN_TIME, SAMPLE_ENCODING_U64, time_ns, sizeof(time_ns));
	trace_samples_column(w, SAMPLE_COLUMN_IP, SAMPLE_ENCODING_U64, ip, sizeof(ip));
	trace_samples_column(w, SAMPLE_COLUMN_PID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(w, SAMPLE_COLUMN_TID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(w, SAMPLE_COLUMN_WEIGHT, SAMPLE_ENCODING_CONSTANT, "\x0a", 1);
	trace_record_end(w);
	trace_writer_flush(w, TRACE_CHUNK_SAMPLES);
}

static int write_trace(void **state)
{
	unsigned char page[PAGE];
	struct trace_writer *w;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, true, &w, NULL), 0);
	TRACE_PUT(w, header, 1, PID, PID, .version = TRACE_FORMAT_VERSION);
	TRACE_PUT(w, event, 1, PID, PID, .name = trace_string("cycles"), .unit = trace_string("cycles"));
	TRACE_PUT(w, process, 2, PID, PID, .executable = trace_string("/bin/host"), .comm = trace_string("host"));
	TRACE_PUT(w, mmap, 3, PID, PID, .address = REGION, .bytes = PAGE, .prot = 5, .path = trace_string("//anon"));
	for (uint32_t n = 0; n < NR_FUNCTIONS; n++) {
		if (n % 10 == 0) {
			trace_writer_flush(w, TRACE_CHUNK_RECORDS);
			put_samples(w);
		}
		put_function(w, n);
	}
	memset(page, 0xcc, sizeof(page));
	TRACE_PUT(w, code_bytes, 7000, PID, PID, .address = REGION, .loaded_ns = TRACE_NOT_LOADED, .code = { page, sizeof(page) });
	trace_writer_flush_all(w);
	TRACE_PUT(w, end, 20000, 0, 0);
	return trace_writer_close(w);
}

static int remove_trace(void **state)
{
	(void)state;
	return unlink(path);
}

static void count_chunks(struct trace_stats *s)
{
	FILE *f = fopen(path, "rb");
	struct trace_chunk c;

	memset(s, 0, sizeof(*s));
	while (fread(&c, sizeof(c), 1, f) == 1) {
		s->chunks[c.type]++;
		fseek(f, c.stored_bytes, SEEK_CUR);
	}
	fclose(f);
}

#define SHOWN_MAX 64
static struct view_instance shown[SHOWN_MAX];
static struct default_report report;

static void ask(void *context, struct report *r)
{
	(void)context;
	default_report_ask(&report, r, true);
	for (int i = 0; view_at(i) && i < SHOWN_MAX; i++) {
		shown[i] = (struct view_instance){ .view = view_at(i) };
		shown[i].view->prepare(r, &shown[i]);
	}
}

static void show(struct report *r, const char *name, char **text)
{
	size_t nr;
	FILE *to = open_memstream(text, &nr);
	struct page page;

	assert_int_equal(page_init(&page, to, PAGE_TEXT), 0);
	page.top = 100;
	for (int i = 0; i < SHOWN_MAX && shown[i].view; i++)
		if (strcmp(shown[i].view->name, name) == 0)
			shown[i].view->show(r, &shown[i], &page);
	page_end(&page);
	fclose(to);
}

struct seen {
	uint32_t nr, late;
};

static void take(void *context, const struct code *c, const void *bytes, uint64_t read_ns)
{
	uint32_t n = (uint32_t)((c->address - CODE) / FUNCTION_BYTES);
	struct seen *s = context;

	assert_int_equal(((const unsigned char *)bytes)[n % FUNCTION_BYTES], 0xc3);
	assert_int_equal(read_ns, n % 3 == 2 ? 5000 + n : 0);
	s->nr++;
	s->late += read_ns > 0;
}

static void every_chunk_is_read_once_for_all_views(void **state)
{
	struct reading_arguments arguments = { 0 };
	struct reading s = { 0 };
	struct seen seen = { 0, 0 };
	const struct trace_stats *did;
	struct trace_stats file;
	struct model *m;
	char *text;

	(void)state;
	count_chunks(&file);
	assert_true(file.chunks[TRACE_CHUNK_RECORDS] > 20);
	assert_int_equal(file.chunks[TRACE_CHUNK_SAMPLES], 6);
	assert_int_equal(reading_command_open(&s, path, &arguments, ask, NULL), CMD_DONE);
	did = trace_get_stats(s.reader);
	file.chunks[TRACE_CHUNK_SAMPLES] += 2; /* the first two say that there are no call stacks */
	assert_memory_equal(did->chunks, file.chunks, sizeof(file.chunks));

	/* views that want code, and others, in any order and twice */
	for (int twice = 0; twice < 2; twice++) {
		static const char *const names[] = { "functions", "asm", "ir", "code", "tree", "methods", "lines" };

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			show(&s.report, names[i], &text);
			if (strcmp(names[i], "asm") == 0) {
				assert_non_null(strstr(text, "function_17"));
				assert_non_null(strstr(text, "ret"));
				assert_non_null(strstr(text, "int3")); /* the region's */
			}
			free(text);
		}
	}
	m = s.model;
	code_bytes_each(&s.report, take, &seen);
	assert_int_equal(seen.nr, NR_FUNCTIONS);
	assert_int_equal(seen.late, NR_FUNCTIONS / 3);
	assert_int_equal(m->codes.copies.nr, NR_FUNCTIONS / 3 + 1);
	assert_memory_equal(did->chunks, file.chunks, sizeof(file.chunks));
	assert_int_equal(reading_command_close(&s, CMD_DONE), CMD_DONE);
}

/* Lifetimes are read before everything else; what is no part of them is not taken apart for it. */
static void records_are_taken_apart_once(void **state)
{
	struct trace_reader *t;
	struct trace_record r;
	struct model *m;
	uint64_t nr = 0, before;

	(void)state;
	assert_int_equal(trace_open(path, &t, NULL), 0);
	before = trace_get_stats(t)->records; /* the header */
	assert_int_equal(model_create(t, &m, NULL), 0);
	before = trace_get_stats(t)->records - before;
	model_destroy(m);
	trace_rewind(t);
	trace_select_chunks(t, ~(1u << TRACE_CHUNK_SAMPLES));
	while (trace_next(t, &r) == 1)
		nr++;
	assert_int_equal(before, nr + 1); /* PROCESS */
	trace_close(t);
}

/* What was not kept is read again by itself, and damage there is no record. */
static void a_record_is_read_by_its_place(void **state)
{
	struct trace_place place[256];
	uint64_t time_ns[256];
	uint32_t nr = 0;
	struct trace_reader *t;
	struct trace_record r;

	(void)state;
	for (int keep = 0; keep < 2; keep++) {
		nr = 0;
		assert_int_equal(trace_open(path, &t, NULL), 0);
		if (keep)
			trace_keep_bodies(t);
		trace_select_chunks(t, 1u << TRACE_CHUNK_RECORDS);
		while (trace_next(t, &r) == 1) {
			place[nr] = trace_get_place(t);
			time_ns[nr++] = r.time_ns;
		}
		for (uint32_t i = 0; i < 2 * nr; i++) {
			uint32_t n = (uint32_t)(next_random() % nr);

			assert_true(trace_read_record_at(t, place[n], &r));
			assert_int_equal(r.time_ns, time_ns[n]);
		}
		if (keep)
			assert_true(trace_get_stats(t)->chunks[TRACE_CHUNK_RECORDS] < nr);
		place[0].record++;
		trace_read_record_at(t, place[0], &r); /* anything but harm */
		assert_false(trace_read_record_at(t, (struct trace_place){ place[1].chunk, UINT32_MAX }, &r));
		assert_false(trace_read_record_at(t, (struct trace_place){ place[nr - 1].chunk + 1, 0 }, &r));
		assert_false(trace_read_record_at(t, (struct trace_place){ UINT64_MAX - 8, 0 }, &r));
		trace_close(t);
	}
}

/* A pass over one type of chunk knows the end without decompressing it. */
static void the_end_is_seen_by_every_pass(void **state)
{
	struct trace_reader *t;
	struct trace_record r;

	(void)state;
	assert_int_equal(trace_open(path, &t, NULL), 0);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	while (trace_next(t, &r) == 1)
		assert_int_equal(r.id, TRACE_SAMPLES);
	assert_false(trace_get_damage(t)->truncated);
	assert_int_equal(trace_get_stats(t)->chunks[TRACE_CHUNK_END], 0);
	trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_chunk_is_read_once_for_all_views, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(records_are_taken_apart_once, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(a_record_is_read_by_its_place, write_trace, remove_trace),
		cmocka_unit_test_setup_teardown(the_end_is_seen_by_every_pass, write_trace, remove_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
