/* SPDX-License-Identifier: MIT */
/* jit_files.c: files of hosts as they lie in /tmp, of a child that lives. */
#include "tests/unit/unit.h"

#include "agent/recorder/jit_files/jit_files.h"
#include "jitreg/trace/reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_BYTES_ALL ((uint64_t)64 << 20)

static char map_path[64], trace_path[64];
static struct trace_writer *w;
static void *files;
static pid_t host;
static uint64_t losses[NR_LOSSES];

static void count_loss(void *recording, enum loss_reason reason, uint64_t count)
{
	(void)recording;
	losses[reason] += count;
}

static void begin(const char *first_line, off_t bytes)
{
	static const struct name_source_options options;
	static struct name_source_recording recording;
	struct mapping code = { .address = 0x10000, .bytes = 4096, .prot = 5, .path = "//anon", .path_bytes = 6 };
	struct diag d;
	FILE *map;

	host = fork();
	if (host == 0) {
		pause();
		_exit(0);
	}
	code.pid = (uint32_t)host;
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)host);
	map = fopen(map_path, "w");
	assert_non_null(map);
	fputs(first_line, map);
	fclose(map);
	if (bytes && truncate(map_path, bytes))
		skip();
	strcpy(trace_path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(trace_path));
	assert_int_equal(trace_writer_open(trace_path, TRACE_PLAIN, &w, &d), 0);
	recording = (struct name_source_recording){ .options = &options, .writer = w, .lost = count_loss };
	memset(losses, 0, sizeof(losses));
	assert_int_equal(jit_files_source.create(&recording, &files), 0);
	jit_files_source.note_mapping(files, &code, 1);
}

static void end(void)
{
	jit_files_source.destroy(files);
	assert_int_equal(trace_writer_close(w), 0);
	kill(host, SIGKILL);
	waitpid(host, NULL, 0);
	unlink(map_path);
	unlink(trace_path);
}

/* What this process has read so far, by the kernel's count. */
static unsigned long long bytes_read(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;

	if (!io || fscanf(io, "rchar: %llu", &bytes) != 1)
		skip();
	fclose(io);
	return bytes;
}

static void a_map_is_read_to_its_end(void **state)
{
	uint64_t before;

	(void)state;
	begin("10000 20 f\n", 0);
	before = trace_writer_records(w);
	jit_files_source.settle(files, 1, true);
	assert_true(trace_writer_records(w) > before);
	assert_true(losses[LOSS_FILES_BAD] == 0 && losses[LOSS_FILES_UNREAD] == 0);
	end();
}

/* Returns the names of code that the trace has, each with a blank behind it. The trace is complete afterwards. */
static const char *names_in_trace(void)
{
	static char names[256];
	struct trace_reader *t;
	struct trace_record r;
	struct diag d;

	names[0] = 0;
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(trace_path, &t, &d), 0);
	while (trace_next(t, &r) == 1)
		if (r.id == JITREG_LOAD)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s ", (int)r.values[F(load, name)].bytes,
				 (const char *)r.values[F(load, name)].p);
	trace_close(t);
	assert_int_equal(trace_writer_open(trace_path, TRACE_PLAIN, &w, &d), 0);
	return names;
}

/* A writer need not end its last line, and one that was killed has cut it: an entry counts, what is none is no damage. */
static void a_last_line_without_a_newline_is_read_at_the_end(void **state)
{
	(void)state;
	begin("10000 20 first\n10020 20 last", 0);
	jit_files_source.settle(files, 1, false);
	jit_files_source.settle(files, 2, true);
	assert_string_equal(names_in_trace(), "first last ");
	assert_int_equal(losses[LOSS_FILES_BAD], 0);
	end();

	begin("10000 20 first\n10020 2", 0);
	jit_files_source.settle(files, 1, true);
	assert_string_equal(names_in_trace(), "first ");
	assert_int_equal(losses[LOSS_FILES_BAD], 0);
	end();
}

static void the_end_reads_no_more_of_a_sparse_map_than_a_drain(void **state)
{
	unsigned long long before;

	(void)state;
	begin("10000 20 f\n", (off_t)1 << 40);
	before = bytes_read();
	jit_files_source.settle(files, 1, true);
	assert_true(bytes_read() - before < DRAIN_BYTES_ALL + (1 << 20));
	assert_int_equal(losses[LOSS_FILES_UNREAD], 1);
	end();
}

/* Lines take longer than bytes do: here four million. */
static void the_end_takes_no_more_processor_time_than_a_drain(void **state)
{
	clock_t before;
	FILE *map;

	(void)state;
	begin("10000 20 f\n", 0);
	map = fopen(map_path, "w");
	assert_non_null(map);
	for (unsigned i = 0; i < 4000000; i++)
		fprintf(map, "%x 2%x f\n", 0x10000 + 64 * i, i % 16);
	fclose(map);
	before = clock();
	jit_files_source.settle(files, 1, true);
	assert_true(clock() - before < 2 * CLOCKS_PER_SEC);
	end();
}

/* Whoever owns the file that was opened decides. */
static void a_map_of_another_user_is_not_read(void **state)
{
	uint64_t before;

	(void)state;
	begin("10000 20 f\n", 0);
	if (chown(map_path, 65534, (gid_t)-1)) {
		end();
		skip();
	}
	before = trace_writer_records(w);
	jit_files_source.settle(files, 1, true);
	assert_int_equal(trace_writer_records(w), before);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_is_read_to_its_end),
		cmocka_unit_test(a_last_line_without_a_newline_is_read_at_the_end),
		cmocka_unit_test(the_end_reads_no_more_of_a_sparse_map_than_a_drain),
		cmocka_unit_test(the_end_takes_no_more_processor_time_than_a_drain),
		cmocka_unit_test(a_map_of_another_user_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
