/* SPDX-License-Identifier: MIT */
/* Whatever columns and stacks are encoded, what is decoded is equal: numbers of all shapes, blocks of all sizes, one after another. */
#include "tests/unit/unit.h"

#include "jitreg/trace/column_decoder.h"
#include "jitreg/trace/column_encoder.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/stack_delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 60
#define COLUMNS 8 /* beside ip: register n */
#define THREADS 5
#define NR_WAYS (COLUMN_DECODER_LANES + 1)
#define STACKS_MAX 300
#define STACK_MAX 4096u

static uint64_t below(uint64_t n)
{
	return next_random() % n;
}

/* Numbers as columns have them: any, one, few, rising, near another column, or of the instruction. */
static void fill(uint64_t *v, uint32_t nr, unsigned shape, const uint64_t *ip, const uint64_t *other)
{
	uint64_t start = next_random();
	unsigned bits = (unsigned)below(64);

	for (uint32_t i = 0; i < nr; i++)
		switch (shape % 10) {
		case 0:
			v[i] = next_random();
			break;
		case 1:
			v[i] = start;
			break;
		case 2:
			v[i] = next_random() >> bits;
			break;
		case 3:
			v[i] = start + i * (start >> 60) + below(3);
			break;
		case 4:
			v[i] = other[i] + below(100) - 50;
			break;
		case 5:
			v[i] = ip[i] * 3 + i / 10;
			break;
		case 6:
			v[i] = below(2) ? UINT64_MAX - below(2) : below(2);
			break;
		case 7:
			v[i] = 1ull << below(64);
			break;
		case 8: /* runs of differences that are 0 */
			v[i] = i && below(150) ? v[i - 1] : start + below(3);
			break;
		case 9: /* differences of one to four bytes, hardly one of five */
			v[i] = (i ? v[i - 1] : 0) + (next_random() >> (below(1000) ? 37 + below(27) : 30));
			break;
		}
}

static uint32_t block_size(unsigned n)
{
	static const uint32_t edges[] = { 1, 2, 3, 63, 64, 65, 511, 512, 513, 1024, COLUMNS_NR_MAX - 1, COLUMNS_NR_MAX };

	return n < sizeof(edges) / sizeof(edges[0]) ? edges[n] : 1 + (uint32_t)below(n % 4 ? 300 : COLUMNS_NR_MAX);
}

static struct trace_writer *open_trace(char *path)
{
	struct trace_writer *w;

	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, TRACE_FAST, &w, NULL), 0);
	return w;
}

static void next_block(struct trace_reader *t, struct sample_block *b)
{
	struct trace_record r;

	assert_int_equal(trace_next(t, &r), 1);
	assert_int_equal(sample_block_decode(&r, b), 0);
}

struct block {
	uint32_t nr;
	uint64_t ip[COLUMNS_NR_MAX], v[COLUMNS][COLUMNS_NR_MAX], list[COLUMNS_NR_MAX], length[COLUMNS_NR_MAX];
};

static void invent(struct block *b, unsigned n)
{
	uint64_t left = COLUMNS_NR_MAX;

	b->nr = block_size(n);
	for (uint32_t i = 0; i < b->nr; i++) {
		b->ip[i] = n % 5 == 0 ? next_random() : 0x400000 + below(1 + n) * 16;
		b->length[i] = below(3) && left > 20 ? below(20) : 0;
		left -= b->length[i];
	}
	for (unsigned c = 0; c < COLUMNS; c++)
		fill(b->v[c], b->nr, n % 3 ? c + n / 7 : (unsigned)below(10), b->ip, c ? b->v[c - 1] : b->ip);
	fill(b->list, (uint32_t)(COLUMNS_NR_MAX - left), n, b->list, b->ip);
}

static void columns_come_back(void **state)
{
	static unsigned char room[COLUMNS_LIST_ROOM(COLUMNS_NR_MAX)];
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w = open_trace(path);
	struct block *block = calloc(BLOCKS, sizeof(*block));
	struct sample_block got = { 0 };
	struct column_encoder *e;
	struct trace_reader *t;

	(void)state;
	assert_int_equal(column_encoder_create(&e), 0);
	for (unsigned n = 0; n < BLOCKS; n++) {
		struct block *b = &block[n];
		uint32_t nr_list = 0;

		invent(b, n);
		trace_samples_begin(w, 0, 0, b->nr, COLUMNS + 3);
		column_encoder_begin(e, b->ip, b->nr);
		column_encoder_write_ip(e, w);
		for (uint32_t c = 0; c < COLUMNS; c++)
			column_encoder_write(e, w, SAMPLE_COLUMN_REGISTER_0 + c, b->v[c], c % 4 != 3);
		for (uint32_t i = 0; i < b->nr; i++)
			nr_list += (uint32_t)b->length[i];
		column_encoder_write(e, w, SAMPLE_COLUMN_CHAIN_LENGTH, b->length, false);
		column_encoder_write_list(w, SAMPLE_COLUMN_CHAIN, b->list, nr_list, room);
		assert_int_equal(trace_record_end(w), 0);
	}
	column_encoder_destroy(e);
	assert_int_equal(trace_writer_close(w), 0);

	assert_int_equal(trace_open(path, &t, NULL), 0);
	for (unsigned n = 0; n < NR_WAYS * BLOCKS; n++) {
		const struct block *b = &block[n % BLOCKS];

		if (n % BLOCKS == 0) {
			trace_rewind(t);
			if (column_decoder_limit(n / BLOCKS) < n / BLOCKS)
				break; /* not of this processor */
		}
		next_block(t, &got);
		assert_int_equal(got.nr, b->nr);
		assert_memory_equal(got.column[SAMPLE_COLUMN_IP], b->ip, b->nr * 8);
		for (uint32_t i = 0; i < b->nr; i++)
			assert_true(got.ips[got.ip_index[i]] == b->ip[i]);
		for (uint32_t c = 0; c < COLUMNS; c++)
			assert_memory_equal(got.registers[c], b->v[c], b->nr * 8);
		assert_memory_equal(got.column[SAMPLE_COLUMN_CHAIN_LENGTH], b->length, b->nr * 8);
		assert_memory_equal(got.chain, b->list, got.chain_offset[b->nr] * 8);
	}
	column_decoder_limit(COLUMN_DECODER_LANES);
	sample_block_fini(&got);
	trace_close(t);
	unlink(path);
	free(block);
}

struct stack {
	uint64_t tid, sp, bytes;
	unsigned char at[STACK_MAX];
};

/* What a thread's memory holds now, with a few words changed since its last sample; sometimes another stack altogether. */
static void push(struct stack *s, unsigned char memory[THREADS][65536])
{
	uint64_t thread = below(THREADS);

	s->tid = 7 + thread * 128; /* two and more share one memory of the encoding */
	s->sp = below(10) ? 0x7ffc00000000 + thread * 0x10000 + below(4) * 64 : next_random();
	s->bytes = below(8) ? STACK_MAX : below(STACK_MAX);
	for (uint64_t n = below(20) ? below(16) : 4096; n > 0; n--)
		memory[thread][below(65536)] = (unsigned char)next_random();
	for (uint64_t i = 0; i < s->bytes; i++)
		s->at[i] = memory[thread][(s->sp + i) % 65536];
}

static void stacks_come_back(void **state)
{
	static unsigned char memory[THREADS][65536];
	static uint64_t tid[STACKS_MAX], sp[STACKS_MAX], bytes[STACKS_MAX];
	char path[] = "/tmp/tailor-test-XXXXXX";
	struct trace_writer *w = open_trace(path);
	struct stack *stack = calloc(20 * STACKS_MAX, sizeof(*stack));
	struct sample_block got = { 0 };
	struct column_encoder *e;
	struct stack_delta *d;
	struct trace_reader *t;
	uint32_t nr[20], first = 0;

	(void)state;
	assert_int_equal(column_encoder_create(&e), 0);
	assert_int_equal(stack_delta_create(&d), 0);
	for (unsigned n = 0; n < 20; n++) {
		nr[n] = n ? 1 + (uint32_t)below(STACKS_MAX) : 1;
		for (uint32_t i = 0; i < nr[n]; i++) {
			struct stack *s = &stack[first + i];
			const unsigned char *new_words;

			push(s, memory);
			assert_false(stack_delta_full(d));
			assert_true(stack_delta_add(d, (uint32_t)s->tid, s->sp, s->at, (uint32_t)s->bytes, &new_words) <= s->bytes / 8);
			tid[i] = s->tid;
			sp[i] = s->sp;
			bytes[i] = s->bytes;
		}
		trace_samples_begin(w, 0, 0, nr[n], 5);
		column_encoder_begin(e, sp, nr[n]);
		column_encoder_write_ip(e, w);
		column_encoder_write(e, w, SAMPLE_COLUMN_TID, tid, false);
		column_encoder_write(e, w, SAMPLE_COLUMN_STACK_BYTES, bytes, false);
		column_encoder_write(e, w, SAMPLE_COLUMN_REGISTER_0 + SAMPLE_STACK_POINTER, sp, true);
		stack_delta_write(d, w);
		assert_int_equal(trace_record_end(w), 0);
		first += nr[n];
	}
	stack_delta_destroy(d);
	column_encoder_destroy(e);
	assert_int_equal(trace_writer_close(w), 0);

	assert_int_equal(trace_open(path, &t, NULL), 0);
	first = 0;
	for (unsigned n = 0; n < 20; n++) {
		next_block(t, &got);
		assert_int_equal(got.nr, nr[n]);
		for (uint32_t k = 0; k < nr[n] + 20; k++) { /* in order, then anywhere */
			uint32_t i = k < nr[n] ? k : (uint32_t)below(nr[n]);
			size_t size;
			const unsigned char *at = sample_block_stack(&got, i, &size);

			assert_int_equal(size, stack[first + i].bytes);
			assert_memory_equal(at, stack[first + i].at, size);
		}
		first += nr[n];
	}
	sample_block_fini(&got);
	trace_close(t);
	unlink(path);
	free(stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_come_back),
		cmocka_unit_test(stacks_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
