/* SPDX-License-Identifier: MIT */
/* From a hand-made PERF_RECORD_SAMPLE through the trace file and back: every column, and samples that do not fit. */
#include "agent/recorder/perf/samples.h"

#include "jitreg/trace/reader.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REGISTERS 0x182ull /* bx, sp, ip */

#define BASE                                                                                                                  \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static struct perf_event_attr attr = {
	.sample_type = BASE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.sample_regs_user = REGISTERS,
	.sample_stack_user = 64,
};

/* Sample i as the kernel would write it; without registers and stack where i % 5 == 4. */
static struct perf_event_header *make(uint64_t i, uint64_t buffer[64])
{
	struct perf_event_header *h = (void *)buffer;
	uint64_t *at = buffer + 1;

	*at++ = 0x400000 + i * 16;
	*at++ = (1000 + i % 3) | (2000 + i % 7) << 32;
	*at++ = 1000000000000 + i * 99991;
	*at++ = i % 2 ? UINT64_MAX - i : 0;
	*at++ = i % 4;
	*at++ = 1ull << (i % 64);
	if (i % 5 == 4) {
		*at++ = 0;
		*at++ = 0; /* no stack */
	} else {
		*at++ = PERF_SAMPLE_REGS_ABI_64;
		*at++ = i;
		*at++ = 0x7ffc00000000 - i;
		*at++ = 0x400000 + i * 16;
		*at++ = 64;
		memset(at, (int)(i & 0xff), 64);
		at += 8;
		*at++ = 8 * (i % 9);
	}
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = (uint16_t)((char *)at - (char *)buffer),
		.misc = i % 3 == 0 ? PERF_RECORD_MISC_USER : i % 3 == 1 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_HYPERVISOR };
	return h;
}

/* A trace with its header, in a file of its own; path ends in XXXXXX. */
static struct trace_writer *begin_trace(char *path)
{
	struct trace_writer *w;
	struct diag d;

	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, true, &w, &d), 0);
	TRACE_PUT(w, header, 1, 0, 0, .version = TRACE_FORMAT_VERSION);
	return w;
}

static void samples_come_back_from_the_trace_as_they_were(void **state)
{
	enum { NR = 5000 };
	char path[] = "/tmp/test_samples.XXXXXX";
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	struct sample_block b = { 0 };
	struct samples *s;
	struct diag d;
	uint64_t buffer[64], at = 0;
	const unsigned char *stack;
	size_t stack_bytes;
	uint32_t nr;

	(void)state;
	w = begin_trace(path);
	assert_int_equal(samples_create(3, &attr, &s), 0);
	for (uint64_t i = 0; i < NR; i++) {
		struct sample_seen seen;

		assert_int_equal(samples_add(s, make(i, buffer), &seen), 0);
		assert_int_equal(seen.user, i % 3 == 0);
		assert_uint_in_range(seen.nr_words, 0, i % 5 == 4 ? 0 : i % 9);
		if (i == 1000 || i == NR - 1) {
			assert_int_equal(samples_flush(s, w, &nr), 0);
			assert_int_equal(nr, i == 1000 ? 1001 : NR - 1001);
		}
	}
	assert_int_equal(samples_flush(s, w, &nr), 0);
	assert_int_equal(nr, 0);
	samples_destroy(s);
	assert_int_equal(trace_writer_close(w), 0);

	assert_int_equal(trace_open(path, &r, &d), 0);
	while (trace_next(r, &record) == 1) {
		if (record.id != TRACE_SAMPLES)
			continue;
		assert_int_equal(sample_block_decode(&record, &b), 0);
		assert_int_equal(b.event, 3);
		for (uint32_t i = 0; i < b.nr; i++, at++) {
			bool bare = at % 5 == 4;
			uint64_t bytes = bare ? 0 : 8 * (at % 9);

			assert_int_equal(b.column[SAMPLE_COLUMN_TIME][i], 1000000000000 + at * 99991);
			assert_int_equal(b.column[SAMPLE_COLUMN_PID][i], 1000 + at % 3);
			assert_int_equal(b.column[SAMPLE_COLUMN_TID][i], 2000 + at % 7);
			assert_int_equal(b.column[SAMPLE_COLUMN_CPU][i], at % 4);
			assert_int_equal(b.column[SAMPLE_COLUMN_IP][i], 0x400000 + at * 16);
			assert_true(b.column[SAMPLE_COLUMN_ADDRESS][i] == (at % 2 ? UINT64_MAX - at : 0));
			assert_true(b.column[SAMPLE_COLUMN_WEIGHT][i] == 1ull << (at % 64));
			assert_int_equal(b.column[SAMPLE_COLUMN_MODE][i], at % 3);
			assert_int_equal(b.column[SAMPLE_COLUMN_REGISTERS_ABI][i], bare ? 0 : PERF_SAMPLE_REGS_ABI_64);
			assert_int_equal(b.registers[1][i], bare ? 0 : at);
			assert_int_equal(b.registers[7][i], bare ? 0 : 0x7ffc00000000 - at);
			stack = sample_block_stack(&b, i, &stack_bytes);
			assert_int_equal(stack_bytes, bytes);
			for (uint64_t n = 0; n < bytes; n++)
				assert_int_equal(stack[n], at & 0xff);
		}
		assert_null(b.registers[0]);
	}
	assert_int_equal(at, NR);
	sample_block_fini(&b);
	trace_close(r);
	unlink(path);
}

static void times_of_another_clock_are_converted(void **state)
{
	static struct clock_pairs pairs;
	struct sample_seen seen;
	struct samples *s;
	uint64_t buffer[64];

	(void)state;
	assert_int_equal(samples_create(0, &attr, &s), 0);
	samples_convert_times(s, &pairs);
	clock_pairs_add(&pairs, 1000000000000, 3000000000000);
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(samples_add(s, make(i, buffer), &seen), 0);
		assert_int_equal(seen.time_ns, 3000000000000 + i * 99991);
	}
	samples_destroy(s);
}

/* Sample i with i % 4 callers behind the marks that the kernel sets, as it would write it. */
static struct perf_event_header *make_chain(uint64_t i, uint64_t buffer[64])
{
	struct perf_event_header *h = make(4, buffer); /* no registers, no stack */

	memmove(buffer + 7 + 1 + 2 + i % 4, buffer + 7, 16);
	buffer[7] = 2 + i % 4;
	buffer[8] = PERF_CONTEXT_USER;
	buffer[9] = 0x1000; /* the sample itself */
	for (uint64_t n = 0; n < i % 4; n++)
		buffer[10 + n] = i << 32 | n;
	h->size = (uint16_t)(h->size + 8 * (3 + i % 4));
	return h;
}

static void call_chains_come_back_as_return_addresses(void **state)
{
	enum { NR = 100 };
	struct perf_event_attr with_chain = attr;
	char path[] = "/tmp/test_samples.XXXXXX";
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	struct sample_block b = { 0 };
	struct sample_seen seen;
	struct samples *s;
	struct diag d;
	uint64_t buffer[64];
	uint32_t nr, blocks = 0;

	(void)state;
	with_chain.sample_type |= PERF_SAMPLE_CALLCHAIN;
	w = begin_trace(path);
	assert_int_equal(samples_create(0, &with_chain, &s), 0);
	for (uint64_t i = 0; i < NR; i++)
		assert_int_equal(samples_add(s, make_chain(i, buffer), &seen), 0);
	assert_int_equal(samples_flush(s, w, &nr), 0);
	samples_destroy(s);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &r, &d), 0);
	while (trace_next(r, &record) == 1) {
		if (record.id != TRACE_SAMPLES)
			continue;
		blocks++;
		assert_int_equal(sample_block_decode(&record, &b), 0);
		assert_int_equal(b.nr, NR);
		for (uint32_t i = 0; i < NR; i++) {
			assert_int_equal(b.chain_offset[i + 1] - b.chain_offset[i], i % 4);
			for (uint64_t n = 0; n < i % 4; n++)
				assert_true(b.chain[b.chain_offset[i] + n] == ((uint64_t)i << 32 | n));
		}
	}
	assert_int_equal(blocks, 1);
	sample_block_fini(&b);
	trace_close(r);
	unlink(path);
}

/* The kernel's part before the user's, each behind its mark, as the kernel writes it; user samples have the second alone. */
static struct perf_event_header *make_both(uint64_t i, uint64_t buffer[64])
{
	struct perf_event_header *h = make(4, buffer);
	uint64_t chain[32] = { 0 }, nr = 0;

	if (i % 3) {
		chain[nr++] = PERF_CONTEXT_KERNEL;
		chain[nr++] = 0xffffffff81000000; /* the sample itself */
		for (uint64_t n = 0; n < i % 5; n++)
			chain[nr++] = 0xffffffff82000000 + 16 * i - n * n * 1000;
	}
	chain[nr++] = PERF_CONTEXT_USER;
	chain[nr++] = 0x1000;
	chain[nr++] = i;
	memmove(buffer + 7 + 1 + nr, buffer + 7, 16);
	buffer[7] = nr;
	memcpy(buffer + 8, chain, nr * 8);
	h->size = (uint16_t)(h->size + 8 * (1 + nr));
	return h;
}

static void chains_of_the_kernel_stand_by_themselves(void **state)
{
	enum { NR = 1000 };
	struct perf_event_attr with_chain = attr;

	(void)state;
	with_chain.sample_type |= PERF_SAMPLE_CALLCHAIN;
	for (int user = 0; user < 2; user++) {
		char path[] = "/tmp/test_samples.XXXXXX";
		struct trace_record record;
		struct sample_block b = { 0 };
		struct sample_seen seen;
		struct trace_writer *w;
		struct trace_reader *r;
		struct samples *s;
		struct diag d;
		uint64_t buffer[64], n_chain, first = 0;
		uint32_t nr;

		with_chain.exclude_callchain_user = !user;
		w = begin_trace(path);
		assert_int_equal(samples_create(0, &with_chain, &s), 0);
		for (uint64_t i = 0; i < NR; i++) {
			assert_int_equal(samples_add(s, make_both(i, buffer), &seen), 0);
			if (i == NR / 2)
				assert_int_equal(samples_flush(s, w, &nr), 0);
		}
		assert_int_equal(samples_flush(s, w, &nr), 0);
		samples_destroy(s);
		assert_int_equal(trace_writer_close(w), 0);
		assert_int_equal(trace_open(path, &r, &d), 0);
		while (trace_next(r, &record) == 1) {
			if (record.id != TRACE_SAMPLES)
				continue;
			assert_int_equal(sample_block_decode(&record, &b), 0);
			assert_int_equal(b.chain_offset != NULL, user);
			for (uint32_t i = 0; i < b.nr; i++) {
				const uint64_t of = first + i, *chain = sample_block_kernel_chain(&b, i, &n_chain);

				assert_int_equal(n_chain, of % 3 ? of % 5 : 0);
				for (uint64_t n = 0; n < n_chain; n++)
					assert_true(chain[n] == 0xffffffff82000000 + 16 * of - n * n * 1000);
			}
			sample_block_kernel_chain(&b, b.nr, &n_chain);
			assert_int_equal(n_chain, 0);
			first += b.nr;
		}
		assert_int_equal(first, NR);
		sample_block_fini(&b);
		trace_close(r);
		unlink(path);
	}
}

static void samples_refuse_chains_longer_than_their_record(void **state)
{
	static const uint64_t bad[] = { 5, 6, 1 << 20, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 8 };
	struct perf_event_attr with_chain = attr;
	struct sample_seen seen;
	struct samples *s;
	uint64_t buffer[64];

	(void)state;
	with_chain.sample_type |= PERF_SAMPLE_CALLCHAIN;
	assert_int_equal(samples_create(0, &with_chain, &s), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct perf_event_header *h = make_chain(1, buffer);

		assert_int_equal(samples_add(s, h, &seen), 0);
		buffer[7] = bad[i];
		assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
	}
	samples_destroy(s);
}

static void samples_without_registers_have_no_word_for_them(void **state)
{
	struct perf_event_attr bare = { .sample_type = BASE };
	struct sample_seen seen;
	struct samples *s;
	uint64_t buffer[64];
	struct perf_event_header *h = make(4, buffer);

	(void)state;
	assert_int_equal(samples_create(0, &bare, &s), 0);
	h->size = 8 + 6 * 8;
	assert_int_equal(samples_add(s, h, &seen), 0);
	assert_int_equal(seen.ip, 0x400040);
	h->size -= 8;
	assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
	samples_destroy(s);
}

static void samples_of_memory_accesses_say_where_and_how_long(void **state)
{
	enum { NR = 50 };
	struct perf_event_attr loads = attr;
	char path[] = "/tmp/test_samples.XXXXXX";
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_record record;
	struct sample_block b = { 0 };
	struct sample_seen seen;
	struct samples *s;
	struct diag d;
	uint64_t buffer[64];
	uint32_t nr, blocks = 0;

	(void)state;
	loads.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR;
	loads.sample_regs_intr = 1;
	w = begin_trace(path);
	assert_int_equal(samples_create(0, &loads, &s), 0);
	for (uint64_t i = 0; i < NR; i++) {
		struct perf_event_header *h = make(i, buffer);
		uint64_t *at = buffer + h->size / 8;

		*at++ = 7 + i * i;	/* weight */
		*at++ = 0x68100142 + i; /* data source */
		*at++ = PERF_SAMPLE_REGS_ABI_64;
		*at++ = 0xdead;
		h->size += 32;
		assert_int_equal(samples_add(s, h, &seen), 0);
		h->size -= 8;
		assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
	}
	assert_int_equal(samples_flush(s, w, &nr), 0);
	samples_destroy(s);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &r, &d), 0);
	while (trace_next(r, &record) == 1) {
		if (record.id != TRACE_SAMPLES)
			continue;
		blocks++;
		assert_int_equal(sample_block_decode(&record, &b), 0);
		assert_int_equal(b.nr, NR);
		for (uint32_t i = 0; i < NR; i++) {
			assert_int_equal(b.column[SAMPLE_COLUMN_LATENCY][i], 7 + i * i);
			assert_int_equal(b.column[SAMPLE_COLUMN_DATA_SOURCE][i], 0x68100142 + i);
			assert_true(b.column[SAMPLE_COLUMN_ADDRESS][i] == (i % 2 ? UINT64_MAX - i : 0));
		}
	}
	assert_int_equal(blocks, 1);
	sample_block_fini(&b);
	trace_close(r);
	unlink(path);
}

static void samples_refuse_records_that_end_too_early(void **state)
{
	uint64_t buffer[64];
	struct perf_event_header *h = make(1, buffer);
	struct sample_seen seen;
	struct samples *s;
	uint16_t whole = h->size;

	(void)state;
	assert_int_equal(samples_create(0, &attr, &s), 0);
	for (uint16_t size = 8; size < whole; size += 8) {
		h->size = size;
		assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
	}
	h->size = whole;
	assert_int_equal(samples_add(s, h, &seen), 0);
	samples_destroy(s);
}

static void samples_refuse_stacks_longer_than_their_record(void **state)
{
	static const uint64_t bad[] = { 72, 1 << 20, UINT64_MAX, UINT64_MAX - 7, 3 };
	struct sample_seen seen;
	struct samples *s;

	(void)state;
	assert_int_equal(samples_create(0, &attr, &s), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t buffer[64];
		struct perf_event_header *h = make(1, buffer);

		buffer[1 + 7 + 3] = bad[i]; /* how much room there is */
		assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
		h = make(1, buffer);
		buffer[1 + 7 + 3 + 1 + 8] = 64 + bad[i]; /* how much of it is used; may wrap */
		if (64 + bad[i] > 64)
			assert_int_equal(samples_add(s, h, &seen), -EBADMSG);
	}
	samples_destroy(s);
}

static void samples_are_full_before_they_overflow(void **state)
{
	static uint64_t buffer[8192];
	struct perf_event_attr large = attr;
	struct perf_event_header *h = (void *)buffer;
	struct sample_seen seen;
	struct samples *s;
	int nr = 0;

	(void)state;
	large.sample_stack_user = 65000;
	assert_int_equal(samples_create(0, &large, &s), 0);
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 65280 };
	buffer[8] = 65000; /* no registers; the stack follows */
	buffer[8 + 1 + 65000 / 8] = 65000;
	while (!samples_full(s)) {
		assert_int_equal(samples_add(s, h, &seen), 0);
		assert_uint_in_range(seen.nr_words, 0, 65000 / 8);
		nr++;
	}
	assert_uint_in_range(nr, 100, 10000);
	samples_destroy(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_back_from_the_trace_as_they_were),
		cmocka_unit_test(times_of_another_clock_are_converted),
		cmocka_unit_test(call_chains_come_back_as_return_addresses),
		cmocka_unit_test(chains_of_the_kernel_stand_by_themselves),
		cmocka_unit_test(samples_refuse_chains_longer_than_their_record),
		cmocka_unit_test(samples_without_registers_have_no_word_for_them),
		cmocka_unit_test(samples_of_memory_accesses_say_where_and_how_long),
		cmocka_unit_test(samples_refuse_records_that_end_too_early),
		cmocka_unit_test(samples_refuse_stacks_longer_than_their_record),
		cmocka_unit_test(samples_are_full_before_they_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
