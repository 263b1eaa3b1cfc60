/* SPDX-License-Identifier: MIT */
/* samples.c's blocks through sample_block.c: numbers of all sizes, stacks that move, and blocks that make no sense. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/record_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REGISTERS 0xff0fffull
#define BASE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define STACK_BYTES_MAX 1024

static char path[64];
static struct trace_writer *w;

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_sample_block.XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, true, &w, NULL), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
	trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

/* What a sample is made of. */
struct taken {
	uint64_t ip, time_ns, address, weight, abi, reg[64];
	uint32_t pid, tid, cpu, stack_bytes;
	unsigned char stack[STACK_BYTES_MAX];
};

static struct perf_event_header *to_record(const struct taken *t, uint64_t *buffer)
{
	struct perf_event_header *h = (void *)buffer;
	uint64_t *at = buffer + 1;

	*at++ = t->ip;
	*at++ = t->pid | (uint64_t)t->tid << 32;
	*at++ = t->time_ns;
	*at++ = t->address;
	*at++ = t->cpu;
	*at++ = t->weight;
	*at++ = t->abi;
	for (uint64_t left = t->abi ? REGISTERS : 0; left; left &= left - 1)
		*at++ = t->reg[__builtin_ctzll(left)];
	*at++ = STACK_BYTES_MAX;
	memcpy(at, t->stack, STACK_BYTES_MAX);
	at += STACK_BYTES_MAX / 8;
	*at++ = t->stack_bytes;
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
		.size = (uint16_t)((char *)at - (char *)buffer) };
	return h;
}

/* Threads of a few programs: registers that go with the ip, with each other or with nothing, stacks that move and wrap. */
static void invent(struct taken *t, uint64_t n)
{
	static unsigned char stacks[8][65536];
	uint32_t thread = (uint32_t)(next_random() % 8);
	uint64_t sp;

	memset(t, 0, sizeof(*t));
	t->ip = next_random() % 3 ? 0x400000 + next_random() % 40 * 4 : next_random();
	t->time_ns = n * 100003 + next_random() % 1000;
	t->address = n % 2 ? next_random() : 0;
	t->weight = n < 500 ? 1 : next_random() >> (next_random() % 64);
	t->pid = thread / 3;
	t->tid = 1000 + thread * 64; /* four and four share a memory */
	t->cpu = thread % 2;
	t->abi = next_random() % 20 ? 2 : 0;
	for (int r = 0; r < 64; r++)
		t->reg[r] = r < 4 ? t->ip * 8 + n : r < 8 ? n << r : r < 20 ? next_random() >> (next_random() % 64) : t->reg[2] + 0x123456;
	/* all over a memory, also round its end, and sometimes where no stack pointer should be */
	sp = thread * 0x100000 + (n * 96 % 65536);
	t->reg[7] = next_random() % 50 ? sp : sp + next_random() % 8;
	t->stack_bytes = next_random() % 10 ? STACK_BYTES_MAX : (uint32_t)(next_random() % STACK_BYTES_MAX);
	for (int i = 0; i < 4; i++)
		stacks[thread][next_random() % 65536] = (unsigned char)next_random();
	for (uint32_t i = 0; i < t->stack_bytes; i++)
		t->stack[i] = stacks[thread][(t->reg[7] + i) % 65536];
	if (!t->abi)
		memset(t->reg, 0, sizeof(t->reg));
}

static void expect(const struct taken *t, struct sample_block *b, uint32_t i)
{
	size_t bytes;
	const unsigned char *stack = sample_block_stack(b, i, &bytes);

	assert_true(b->column[SAMPLE_COLUMN_IP][i] == t->ip);
	assert_true(b->ips[b->ip_index[i]] == t->ip);
	assert_true(b->column[SAMPLE_COLUMN_TIME][i] == t->time_ns);
	assert_true((b->column[SAMPLE_COLUMN_ADDRESS] ? b->column[SAMPLE_COLUMN_ADDRESS][i] : 0) == t->address);
	assert_true(b->column[SAMPLE_COLUMN_WEIGHT][i] == t->weight);
	assert_int_equal(b->column[SAMPLE_COLUMN_TID][i], t->tid);
	for (int r = 0; r < 64; r++) {
		if (REGISTERS >> r & 1)
			assert_true(b->registers[r][i] == t->reg[r]);
		else
			assert_null(b->registers[r]);
	}
	assert_int_equal(bytes, t->stack_bytes);
	assert_memory_equal(stack, t->stack, bytes);
}

static void whatever_was_sampled_comes_back(void **state)
{
	enum { NR = 6000 };
	struct perf_event_attr attr = { .sample_type = BASE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTERS, .sample_stack_user = STACK_BYTES_MAX };
	static uint64_t buffer[64 + STACK_BYTES_MAX / 8];
	struct taken *taken = malloc(NR * sizeof(*taken));
	struct sample_block b = { 0 };
	struct trace_reader *reader;
	struct trace_record r;
	struct samples *s;
	uint32_t at = 0, nr;

	(void)state;
	assert_int_equal(samples_create(0, &attr, &s), 0);
	for (uint32_t n = 0; n < NR; n++) {
		struct sample_seen seen;

		invent(&taken[n], n);
		assert_int_equal(samples_add(s, to_record(&taken[n], buffer), &seen), 0);
		if (n == 0 || n == 1 || n % 1777 == 0 || n == NR - 1)
			assert_int_equal(samples_flush(s, w, &nr), 0);
	}
	samples_destroy(s);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &reader, NULL), 0);
	while (trace_next(reader, &r) == 1) {
		size_t bytes;

		if (r.id != TRACE_SAMPLES)
			continue;
		assert_int_equal(sample_block_decode(&r, &b), 0);
		for (uint32_t i = 0; i < b.nr; i++)
			expect(&taken[at + i], &b, i);
		expect(&taken[at + b.nr / 2], &b, b.nr / 2); /* back to the middle, */
		expect(&taken[at + b.nr - 1], &b, b.nr - 1); /* and on to the end */
		sample_block_stack(&b, b.nr, &bytes);
		assert_int_equal(bytes, 0);
		at += b.nr;
	}
	assert_int_equal(at, NR);
	sample_block_fini(&b);
	trace_close(reader);
	free(taken);
}

static void registers_that_nobody_needs_are_left_out(void **state)
{
	struct perf_event_attr attr = { .sample_type = BASE | PERF_SAMPLE_REGS_USER, .sample_regs_user = REGISTERS };
	struct perf_event_header *h;
	struct sample_block b = { 0 };
	static uint64_t buffer[64 + STACK_BYTES_MAX / 8];
	struct trace_reader *reader;
	struct sample_seen seen;
	struct trace_record r;
	struct samples *s;
	struct taken t;
	uint32_t nr;

	(void)state;
	invent(&t, 1);
	t.abi = 2;
	t.reg[1] = 77;
	h = to_record(&t, buffer);
	assert_int_equal(samples_create(0, &attr, &s), 0);
	samples_keep_registers(s, 1ull << 1 | 1ull << 62);
	assert_int_equal(samples_add(s, h, &seen), 0);
	assert_int_equal(samples_flush(s, w, &nr), 0);
	samples_destroy(s);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &reader, NULL), 0);
	while (trace_next(reader, &r) == 1)
		if (r.id == TRACE_SAMPLES) {
			assert_int_equal(sample_block_decode(&r, &b), 0);
			assert_int_equal(b.registers[1][0], 77);
			for (int n = 0; n < 64; n++)
				assert_true(!b.registers[n] == (n != 1));
		}
	assert_int_equal(b.nr, 1);
	sample_block_fini(&b);
	trace_close(reader);
}

struct column {
	uint64_t id, encoding;
	const char *bytes;
	size_t nr;
};
#define COLUMN(id, encoding, bytes) { id, encoding, bytes, sizeof(bytes) - 1 }

static int decode(uint64_t nr, const struct column *columns, size_t nr_columns, struct sample_block *b)
{
	struct trace_reader *reader;
	struct trace_record r;
	int ret = -ENOENT;

	trace_record_begin(w, TRACE_SAMPLES, 0, 0, 0, F_COUNT(samples));
	trace_record_u64(w, 0);
	trace_record_u64(w, nr); /* also more than there can be */
	trace_record_array(w, nr_columns);
	for (size_t i = 0; i < nr_columns; i++)
		trace_samples_column(w, columns[i].id, columns[i].encoding, columns[i].bytes, columns[i].nr);
	trace_record_end(w);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &reader, NULL), 0);
	while (ret == -ENOENT && trace_next(reader, &r) == 1)
		if (r.id == TRACE_SAMPLES)
			ret = sample_block_decode(&r, b);
	trace_close(reader);
	return ret;
}

static void registers_that_the_reader_does_not_want_are_not_decoded(void **state)
{
	enum { BX = SAMPLE_COLUMN_REGISTER_0 + 1, R12 = SAMPLE_COLUMN_REGISTER_0 + 20, R13, R14 };
	const char against_bx[] = { BX, 6, 0 }; /* its number, and +3 */
	struct column columns[] = {
		{ BX, SAMPLE_ENCODING_DELTA, "\x0a", 1 },  { R12, SAMPLE_ENCODING_AGAINST, against_bx, 2 },
		{ R13, SAMPLE_ENCODING_DELTA, "\x10", 1 }, { R14, SAMPLE_ENCODING_AGAINST, (const char[]){ R13, 2 }, 2 },
		{ SAMPLE_COLUMN_CHAIN, SAMPLE_ENCODING_DELTA, "", 0 },
	};
	const struct sample_columns unwanted = { { 0, 1ull << 1 | 1ull << 21 | 1ull << 22 } };
	struct sample_block b = { .unwanted = unwanted };

	(void)state;
	assert_int_equal(decode(1, columns, 4, &b), 0);
	assert_int_equal(b.registers[20][0], 8); /* wanted, */
	assert_int_equal(b.registers[1][0], 5);	 /* what it is stored as a difference to, */
	assert_null(b.registers[21]);		 /* and neither one that is not, */
	assert_null(b.registers[22]);		 /* nor what differs from that */
	assert_memory_equal(&b.unwanted, &unwanted, sizeof(unwanted));
	/* whoever walks the callers may want all */
	assert_int_equal(trace_writer_open(path, true, &w, NULL), 0);
	assert_int_equal(decode(1, columns, 5, &b), 0);
	assert_int_equal(b.registers[21][0], 8);
	assert_int_equal(b.registers[22][0], 9);
	sample_block_fini(&b);
}

/* What stood in an array before is taken for what a block says again: it must not outlive what came in between. */
static void columns_of_one_number_are_that_number(void **state)
{
	static const struct {
		uint64_t nr, encoding;
		const char *bytes;
		size_t nr_bytes;
		uint64_t first, last;
	} blocks[] = {
		{ 3, SAMPLE_ENCODING_CONSTANT, "\x05", 1, 5, 5 },  { 1, SAMPLE_ENCODING_CONSTANT, "\x05", 1, 5, 5 },
		{ 4, SAMPLE_ENCODING_CONSTANT, "\x05", 1, 5, 5 },  { 2, SAMPLE_ENCODING_CONSTANT, "\x09", 1, 9, 9 },
		{ 4, SAMPLE_ENCODING_CONSTANT, "\x09", 1, 9, 9 },  { 2, SAMPLE_ENCODING_DELTA, "\x12\x02", 2, 9, 10 },
		{ 3, SAMPLE_ENCODING_CONSTANT, "\x09", 1, 9, 9 },  { 700, SAMPLE_ENCODING_CONSTANT, "\x09", 1, 9, 9 },
		{ 4, SAMPLE_ENCODING_CONSTANT, "\x09", 1, 9, 9 },
	};
	struct sample_block b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const struct column column = { SAMPLE_COLUMN_TID, blocks[i].encoding, blocks[i].bytes, blocks[i].nr_bytes };

		if (i)
			assert_int_equal(trace_writer_open(path, true, &w, NULL), 0);
		assert_int_equal(decode(blocks[i].nr, &column, 1, &b), 0);
		assert_int_equal(sample_columns_have(&b.constant, SAMPLE_COLUMN_TID), blocks[i].encoding == SAMPLE_ENCODING_CONSTANT);
		for (uint64_t n = 0; n + 1 < blocks[i].nr; n++)
			assert_int_equal(b.column[SAMPLE_COLUMN_TID][n], blocks[i].first);
		assert_int_equal(b.column[SAMPLE_COLUMN_TID][blocks[i].nr - 1], blocks[i].last);
	}
	sample_block_fini(&b);
}

static void blocks_that_make_no_sense_are_refused(void **state)
{
#define TEN "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	static const struct {
		uint64_t nr;
		struct column c[4];
		bool good;
	} blocks[] = {
		{ 2, { COLUMN(1, 2, "\x02\x02") }, true },
		{ 2, { COLUMN(1, 2, "\x02") }, false }, /* too short */
		{ 2, { COLUMN(1, 2, "\x02\x82") }, false }, /* a number without an end */
		{ 1, { COLUMN(1, 2, TEN "\x01") }, true },
		{ 1, { COLUMN(1, 2, TEN "\xff\x01") }, false }, /* longer than numbers are */
		{ 9, { COLUMN(1, 2, "\x02\x02\x02\x02\x02\x02\x02\x02") }, false },
		{ 0, { COLUMN(1, 2, "") }, false },
		{ SAMPLE_NR_MAX + 1, { COLUMN(1, 3, "\x01") }, false },
		{ SAMPLE_NR_MAX, { COLUMN(1, 3, "\x01") }, true },
		{ 1ull << 32, { COLUMN(1, 3, "\x01") }, false },
		{ 2, { COLUMN(1, 3, "") }, false },
		{ 2, { COLUMN(1, 8, "\x02\x02") }, false }, /* no such encoding */
		{ 2, { COLUMN(1, 2, "\x02\x02"), COLUMN(1, 2, "\x02\x02") }, false }, /* twice */
		{ 2, { COLUMN(0, 2, "\x02\x02") }, false },
		{ 2, { COLUMN(4242, 2, "") }, true }, /* of a later version */
		{ 2, { COLUMN(1, 1, "12345678""12345678") }, true },
		{ 2, { COLUMN(1, 1, "12345678""1234567") }, false },
		{ 2, { COLUMN(5, 4, "\x02\x02\x02\x01\x01") }, true },
		{ 2, { COLUMN(5, 4, "\x02\x02\x02\x01\x02") }, false }, /* behind the table */
		{ 2, { COLUMN(5, 4, "\x03\x02\x02\x02\x01\x01") }, false }, /* more entries than samples */
		{ 2, { COLUMN(5, 4, "\x00\x00\x00") }, false },
		{ 2, { COLUMN(5, 4, TEN "\x01\x00") }, false },
		{ 2, { COLUMN(6, 4, "\x02\x02\x02\x01\x01") }, false }, /* not of ips */
		{ 2, { COLUMN(64, 5, "\x01\x01") }, false }, /* no ip before it */
		{ 2, { COLUMN(5, 2, "\x02\x02"), COLUMN(64, 5, "\x01\x01") }, false },
		{ 2, { COLUMN(5, 4, "\x01\x02\x00\x00"), COLUMN(64, 5, "\x01\x01") }, true },
		{ 2, { COLUMN(5, 4, "\x01\x02\x00\x00"), COLUMN(64, 6, "\x05\x01\x01") }, true },
		{ 2, { COLUMN(64, 6, "\x05\x01\x01") }, false }, /* against what is not there */
		{ 2, { COLUMN(64, 6, "\x40\x01\x01") }, false }, /* against itself */
		{ 2, { COLUMN(64, 6, TEN "\x01\x01\x01") }, false },
		{ 2, { COLUMN(64, 6, "\x80\x01\x01\x01") }, false },
		{ 2, { COLUMN(64, 6, "\x0b\x01\x01") }, false }, /* against stacks */
		/* stacks: two of 16 bytes, the second one like the first but for a word */
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x04\x00\x02\x01\x01" "aaaaaaaa""bbbbbbbb""cccccccc") }, true },
		{ 2, { COLUMN(11, 7, "\x00") }, true }, /* none */
		{ 2, { COLUMN(11, 7, "") }, false },
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x05\x00\x02\x01\x01") }, false }, /* runs that are not there */
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x04\x00\x02\x01\x01" "aaaaaaaa""bbbbbbbb""ccccccc") }, false },
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x04\x00\x02\x01\x02" "aaaaaaaa""bbbbbbbb""ccccccccdddddddd") }, false },
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x04\x03\x00\x02\x00") }, false },
		{ 2, { COLUMN(10, 3, "\x10"), COLUMN(11, 7, "\x02\x02\x00") }, false }, /* not to the end */
		{ 2, { COLUMN(10, 3, "\x80\x80\x04"), COLUMN(11, 7, "\x00") }, false }, /* larger than stacks are */
		{ 2, { COLUMN(10, 3, "\x03"), COLUMN(11, 7, "\x00" "abcdef") }, true },
		{ 2, { COLUMN(10, 3, "\x03"), COLUMN(11, 7, "\x00" "abcde") }, false },
		{ 2, { COLUMN(10, 3, "\x03"), COLUMN(11, 0, "abcdef") }, true },
		{ 2, { COLUMN(10, 3, "\x03"), COLUMN(11, 0, "abcde") }, false },
		{ 2, { COLUMN(10, 3, "\x03"), COLUMN(11, 2, "abcdef") }, false },
		/* chains */
		{ 2, { COLUMN(12, 3, "\x01"), COLUMN(13, 2, "\x02\x02") }, true },
		{ 2, { COLUMN(12, 3, "\x01"), COLUMN(13, 2, "\x02") }, false },
		{ 2, { COLUMN(12, 3, TEN "\x01"), COLUMN(13, 2, "\x02") }, false },
	};
	struct sample_block b = { 0 };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		size_t nr = 0;
		int ret;

		while (nr < 4 && blocks[i].c[nr].bytes)
			nr++;
		ret = decode(blocks[i].nr, blocks[i].c, nr, &b);
		if (ret != (blocks[i].good ? 0 : -EBADMSG))
			fail_msg("block %zu: %d", i, ret);
		if (ret)
			assert_int_equal(b.nr, 0);
		teardown(state);
		setup(state);
	}
	trace_writer_close(w);
	sample_block_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whatever_was_sampled_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_that_nobody_needs_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(registers_that_the_reader_does_not_want_are_not_decoded, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_of_one_number_are_that_number, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_that_make_no_sense_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
