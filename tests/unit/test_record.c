/* SPDX-License-Identifier: MIT */
/*
 * record.c and ring.c together, on rings as the kernel would write them: what PEBS, IBS, faults and clocks put into a
 * sample, wrapped at every offset, cut at every word, torn by a head in the middle of a record, and bytes that mean
 * nothing.  A writer of its own, in the order of linux/perf_event.h, says what is expected.
 */
#include "agent/recorder/perf/record.h"
#include "agent/recorder/perf/ring.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES 4096u
#define RECORD_WORDS 512

#define PLAIN (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define MEMORY (PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)
#define USER (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define LOST (1u << 4)

static const struct {
	const char *what;
	uint64_t sample_type, read_format, user, interrupted;
} shapes[] = {
	{ "IP and time", PERF_SAMPLE_IP | PERF_SAMPLE_TIME, 0, 0, 0 },
	{ "a clock with a stack", PLAIN | USER, LOST, 0xf001c2, 0 },
	{ "a page fault", PLAIN | USER | PERF_SAMPLE_ADDR, LOST, 0xff0fff, 0 },
	{ "PEBS: INST_RETIRED.PREC_DIST", PLAIN | USER | PERF_SAMPLE_REGS_INTR, LOST, 0xf001c2, 1 },
	{ "PEBS: loads", PLAIN | MEMORY | USER | PERF_SAMPLE_REGS_INTR, LOST, 0xf001c2, 1 },
	{ "PEBS: loads, all registers, physical addresses",
	  PLAIN | MEMORY | USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE,
	  LOST, 0xff0fff, 0xff0fff },
	{ "large PEBS: no user registers", PLAIN | MEMORY | PERF_SAMPLE_REGS_INTR, 0, 0, 0xff0fff },
	{ "latency in three parts", PLAIN | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC, 0, 0, 0 },
	{ "IBS: raw", PLAIN | MEMORY | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER, 0, 0xf001c2, 0 },
	{ "several events in a ring", PLAIN | MEMORY | USER | PERF_SAMPLE_IDENTIFIER, PERF_FORMAT_ID | LOST, 0xf001c2, 0 },
	{ "ids and the counter's value", PLAIN | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ,
	  PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | LOST, 0, 0 },
	{ "the value alone", PLAIN | PERF_SAMPLE_READ, 0, 0, 0 },
	{ "a group's values", PLAIN | PERF_SAMPLE_READ,
	  PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID | LOST, 0, 0 },
	{ "a call chain", PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER, 0, 0xf001c2, 0 },
	{ "branches", PLAIN | PERF_SAMPLE_BRANCH_STACK | USER, 0, 0x1c2, 0 },
	{ "everything", (PERF_SAMPLE_WEIGHT_STRUCT - 1) & ~(uint64_t)PERF_SAMPLE_AUX,
	  PERF_FORMAT_GROUP | PERF_FORMAT_ID | LOST, 0xff0fff, 0xff0fff },
};
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct perf_event_attr attr_of(size_t i)
{
	return (struct perf_event_attr){ .sample_type = shapes[i].sample_type, .read_format = shapes[i].read_format,
					 .sample_regs_user = shapes[i].user, .sample_regs_intr = shapes[i].interrupted,
					 .branch_sample_type = PERF_SAMPLE_BRANCH_ANY | (1u << 17), .sample_id_all = 1 };
}

/* A field's value in sample n: never the same in two fields. */
static uint64_t value(uint64_t n, uint64_t field)
{
	return (n + 1) * 0x9e3779b97f4a7c15ull ^ field << 56 ^ field;
}

struct bytes {
	uint64_t word[RECORD_WORDS];
	size_t nr;
};

static void put(struct bytes *b, uint64_t v)
{
	assert_true(b->nr < RECORD_WORDS);
	b->word[b->nr++] = v;
}

static void put_read(struct bytes *b, uint64_t format, uint64_t n)
{
	uint64_t nr = format & PERF_FORMAT_GROUP ? 1 + n % 3 : 1;

	if (format & PERF_FORMAT_GROUP)
		put(b, nr);
	else
		put(b, value(n, 20));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(b, value(n, 21));
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(b, value(n, 22));
	for (uint64_t i = 0; i < nr; i++) {
		if (format & PERF_FORMAT_GROUP)
			put(b, value(n, 20 + 10 * i));
		if (format & PERF_FORMAT_ID)
			put(b, value(n, 23));
		if (format & LOST)
			put(b, value(n, 24 + 10 * i));
	}
}

static void put_registers(struct bytes *b, uint64_t mask, uint64_t n, uint64_t field, bool had)
{
	put(b, had ? PERF_SAMPLE_REGS_ABI_64 : 0);
	for (; had && mask; mask &= mask - 1)
		put(b, value(n, field + (uint64_t)__builtin_ctzll(mask)));
}

/* The sizes of what is variable in sample n. */
static uint64_t chain_of(uint64_t n) { return n % 5; }
static uint64_t room_of(uint64_t n) { return n % 4 == 3 ? 0 : 64; }
static uint64_t used_of(uint64_t n) { return n % 4 == 3 ? 0 : 8 * (n % 9); }
static bool had_registers(uint64_t n) { return n % 7 != 6; }

static void make(size_t shape, uint64_t n, struct bytes *b)
{
	uint64_t t = shapes[shape].sample_type;
	struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .misc = n % 2 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL };

	b->nr = 1;
	if (t & PERF_SAMPLE_IDENTIFIER)
		put(b, value(n, 1));
	if (t & PERF_SAMPLE_IP)
		put(b, value(n, 2));
	if (t & PERF_SAMPLE_TID)
		put(b, value(n, 3));
	if (t & PERF_SAMPLE_TIME)
		put(b, value(n, 4));
	if (t & PERF_SAMPLE_ADDR)
		put(b, value(n, 5));
	if (t & PERF_SAMPLE_ID)
		put(b, value(n, 1)); /* the same as IDENTIFIER */
	if (t & PERF_SAMPLE_STREAM_ID)
		put(b, value(n, 6));
	if (t & PERF_SAMPLE_CPU)
		put(b, value(n, 7));
	if (t & PERF_SAMPLE_PERIOD)
		put(b, value(n, 8));
	if (t & PERF_SAMPLE_READ)
		put_read(b, shapes[shape].read_format, n);
	if (t & PERF_SAMPLE_CALLCHAIN) {
		put(b, chain_of(n));
		for (uint64_t i = 0; i < chain_of(n); i++)
			put(b, value(n, 50 + i));
	}
	if (t & PERF_SAMPLE_RAW) {
		put(b, 20); /* and so many bytes behind these four, in all three words */
		put(b, ~0ull);
		put(b, ~0ull);
	}
	if (t & PERF_SAMPLE_BRANCH_STACK) {
		put(b, n % 3);
		put(b, ~0ull); /* hw_idx */
		for (uint64_t i = 0; i < 3 * (n % 3); i++)
			put(b, ~0ull);
	}
	if (t & PERF_SAMPLE_REGS_USER)
		put_registers(b, shapes[shape].user, n, 100, had_registers(n));
	if (t & PERF_SAMPLE_STACK_USER) {
		put(b, room_of(n));
		for (uint64_t i = 0; i < room_of(n) / 8; i++)
			put(b, value(n, 60 + i));
		if (room_of(n))
			put(b, used_of(n));
	}
	if (t & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put(b, value(n, 9));
	if (t & PERF_SAMPLE_DATA_SRC)
		put(b, value(n, 10));
	if (t & PERF_SAMPLE_TRANSACTION)
		put(b, value(n, 11));
	if (t & PERF_SAMPLE_REGS_INTR)
		put_registers(b, shapes[shape].interrupted, n, 200, true);
	if (t & PERF_SAMPLE_PHYS_ADDR)
		put(b, value(n, 12));
	if (t & PERF_SAMPLE_CGROUP)
		put(b, value(n, 13));
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		put(b, value(n, 14));
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		put(b, value(n, 15));
	h.size = (uint16_t)(8 * b->nr);
	memcpy(b->word, &h, sizeof(h));
}

static void check_registers(const uint64_t *registers, uint64_t mask, uint64_t n, uint64_t field)
{
	for (int i = 0; mask; mask &= mask - 1, i++)
		assert_true(registers[i] == value(n, field + (uint64_t)__builtin_ctzll(mask)));
}

static void check(size_t shape, uint64_t n, const struct record_sample *s)
{
	uint64_t t = shapes[shape].sample_type, f = shapes[shape].read_format;
	bool value_lost = t & PERF_SAMPLE_READ && f & LOST;

	assert_int_equal(s->mode, n % 2 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
	assert_true(s->id == (t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? value(n, 1) : 0));
	assert_true(s->ip == (t & PERF_SAMPLE_IP ? value(n, 2) : 0));
	assert_true(s->pid == (t & PERF_SAMPLE_TID ? (uint32_t)value(n, 3) : 0));
	assert_true(s->tid == (t & PERF_SAMPLE_TID ? value(n, 3) >> 32 : 0));
	assert_true(s->time_ns == (t & PERF_SAMPLE_TIME ? value(n, 4) : 0));
	assert_true(s->address == (t & PERF_SAMPLE_ADDR ? value(n, 5) : 0));
	assert_true(s->stream_id == (t & PERF_SAMPLE_STREAM_ID ? value(n, 6) : 0));
	assert_true(s->cpu == (t & PERF_SAMPLE_CPU ? (uint32_t)value(n, 7) : 0));
	assert_true(s->period == (t & PERF_SAMPLE_PERIOD ? value(n, 8) : 0));
	assert_true(s->count == (t & PERF_SAMPLE_READ ? value(n, 20) : 0));
	assert_true(s->lost == (value_lost ? value(n, 24) : 0));
	assert_int_equal(s->nr_chain, t & PERF_SAMPLE_CALLCHAIN ? chain_of(n) : 0);
	for (uint64_t i = 0; i < s->nr_chain; i++)
		assert_true(s->chain[i] == value(n, 50 + i));
	if (t & PERF_SAMPLE_REGS_USER && had_registers(n)) {
		assert_int_equal(s->registers_abi, PERF_SAMPLE_REGS_ABI_64);
		check_registers(s->registers, shapes[shape].user, n, 100);
	} else {
		assert_int_equal(s->registers_abi, 0);
		assert_null(s->registers);
	}
	assert_int_equal(s->stack_bytes, t & PERF_SAMPLE_STACK_USER ? used_of(n) : 0);
	for (uint64_t i = 0; i < s->stack_bytes / 8; i++) {
		uint64_t word = value(n, 60 + i);

		assert_memory_equal(s->stack + 8 * i, &word, 8);
	}
	assert_true(s->latency == (t & PERF_SAMPLE_WEIGHT ? value(n, 9) : t & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)value(n, 9) : 0));
	assert_true(s->data_source == (t & PERF_SAMPLE_DATA_SRC ? value(n, 10) : 0));
	assert_true(s->transaction == (t & PERF_SAMPLE_TRANSACTION ? value(n, 11) : 0));
	if (t & PERF_SAMPLE_REGS_INTR)
		check_registers(s->interrupted, shapes[shape].interrupted, n, 200);
	assert_true(s->physical_address == (t & PERF_SAMPLE_PHYS_ADDR ? value(n, 12) : 0));
	assert_true(s->cgroup == (t & PERF_SAMPLE_CGROUP ? value(n, 13) : 0));
	assert_true(s->data_page_bytes == (t & PERF_SAMPLE_DATA_PAGE_SIZE ? value(n, 14) : 0));
	assert_true(s->code_page_bytes == (t & PERF_SAMPLE_CODE_PAGE_SIZE ? value(n, 15) : 0));
}

/* ------------------------------------------------------------------------------------------------------ through rings */

struct drained {
	size_t shape;
	struct record_layout layout;
	uint64_t expected, nr, bad, other;
};

static int parse_exactly(const struct record_layout *l, const struct perf_event_header *h, struct record_sample *s, void **copy)
{
	*copy = guarded(h, h->size);
	return record_sample(l, *copy, s);
}

static void on_record(void *context, const struct perf_event_header *h)
{
	struct drained *d = context;
	struct record_sample s;
	void *copy;

	if (h->type != PERF_RECORD_SAMPLE) {
		d->other++;
		return;
	}
	if (parse_exactly(&d->layout, h, &s, &copy))
		d->bad++;
	else
		check(d->shape, d->expected++, &s);
	guarded_free(copy, h->size);
	d->nr++;
}

struct fake_ring {
	struct perf_event_mmap_page page;
	unsigned char *data;
	struct ring ring;
	uint64_t head;
};

static void fake_open(struct fake_ring *f, uint64_t head)
{
	memset(f, 0, sizeof(*f));
	f->data = aligned_alloc(4096, RING_BYTES);
	memset(f->data, 0xee, RING_BYTES);
	ring_init(&f->ring, &f->page, f->data, RING_BYTES);
	f->head = f->ring.tail = f->page.data_head = head;
}

static void fake_write(struct fake_ring *f, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		f->data[(f->head + i) % RING_BYTES] = ((const unsigned char *)bytes)[i];
	f->head += size;
}

/* A file's events are compared so: do all have the same layout? */
static void layouts_of_one_shape_are_the_same_bytes(void **state)
{
	(void)state;
	for (size_t shape = 0; shape < NR_SHAPES; shape++) {
		struct perf_event_attr a = attr_of(shape);
		struct record_layout l[2];

		memset(&l[0], 0xaa, sizeof(l[0]));
		memset(&l[1], 0x55, sizeof(l[1]));
		assert_int_equal(record_layout(&a, &l[0]), 0);
		assert_int_equal(record_layout(&a, &l[1]), 0);
		assert_memory_equal(&l[0], &l[1], sizeof(l[0]));
	}
}

static void every_shape_is_read_wherever_the_ring_wraps(void **state)
{
	(void)state;
	for (size_t shape = 0; shape < NR_SHAPES; shape++) {
		struct perf_event_attr a = attr_of(shape);
		struct drained d = { .shape = shape };

		assert_int_equal(record_layout(&a, &d.layout), 0);
		for (uint64_t start = 0; start < RING_BYTES; start += 8) {
			struct fake_ring f;
			struct bytes b;

			/* also across the place where positions need 33 bits */
			fake_open(&f, start + (start % 16 ? (1ull << 32) - RING_BYTES : 0));
			d.expected = start / 8;
			for (int i = 0; i < 3; i++) {
				make(shape, start / 8 + (uint64_t)i, &b);
				fake_write(&f, b.word, 8 * b.nr);
			}
			f.page.data_head = f.head;
			d.nr = d.bad = 0;
			assert_int_equal(ring_drain(&f.ring, on_record, &d), 0);
			assert_int_equal(d.nr, 3);
			assert_int_equal(d.bad, 0);
			assert_true(f.page.data_tail == f.head);
			free(f.data);
		}
	}
}

static void a_sample_that_ends_too_early_is_refused_at_every_word(void **state)
{
	(void)state;
	for (size_t shape = 0; shape < NR_SHAPES; shape++)
		for (uint64_t n = 0; n < 30; n++) {
			struct perf_event_attr a = attr_of(shape);
			struct perf_event_header h;
			struct record_layout l;
			struct record_sample s;
			struct bytes b;
			void *copy;

			assert_int_equal(record_layout(&a, &l), 0);
			make(shape, n, &b);
			for (size_t words = 1; words < b.nr; words++) {
				memcpy(&h, b.word, sizeof(h));
				h.size = (uint16_t)(8 * words);
				memcpy(b.word, &h, sizeof(h));
				assert_int_equal(parse_exactly(&l, (void *)b.word, &s, &copy), -EBADMSG);
				guarded_free(copy, h.size);
			}
			for (uint16_t size = 0; size < 8; size++) {
				h.size = size;
				memcpy(b.word, &h, sizeof(h));
				assert_int_equal(record_sample(&l, (void *)b.word, &s), -EBADMSG);
			}
		}
}

/* A head in the middle of a record: by a host that has the ring mapped, or by a page that was overwritten. */
static void a_torn_record_costs_only_itself(void **state)
{
	(void)state;
	for (size_t shape = 0; shape < NR_SHAPES; shape++) {
		struct perf_event_attr a = attr_of(shape);
		struct drained d = { .shape = shape };
		struct bytes b;

		assert_int_equal(record_layout(&a, &d.layout), 0);
		make(shape, 1, &b);
		for (size_t words = 1; words < b.nr; words++) {
			struct fake_ring f;
			struct bytes whole;

			fake_open(&f, RING_BYTES - 8 * words); /* it wraps as well */
			make(shape, 0, &whole);
			fake_write(&f, whole.word, 8 * whole.nr);
			fake_write(&f, b.word, 8 * words);
			f.page.data_head = f.head;
			d.expected = d.nr = d.bad = 0;
			assert_int_equal(ring_drain(&f.ring, on_record, &d), 1);
			assert_int_equal(d.nr, 1);
			assert_int_equal(d.bad, 0);
			/* what comes behind is whole again */
			make(shape, 1, &whole);
			fake_write(&f, whole.word, 8 * whole.nr);
			f.page.data_head = f.head;
			assert_int_equal(ring_drain(&f.ring, on_record, &d), 0);
			assert_int_equal(d.nr, 2);
			assert_int_equal(d.bad, 0);
			free(f.data);
		}
	}
}

static void records_of_no_size_end_a_drain(void **state)
{
	struct perf_event_attr a = attr_of(0);
	struct drained d = { .shape = 0 };
	struct fake_ring f;
	struct bytes b;

	(void)state;
	assert_int_equal(record_layout(&a, &d.layout), 0);
	fake_open(&f, 8 * 100);
	make(0, 0, &b);
	fake_write(&f, b.word, 8 * b.nr);
	memset(b.word, 0, sizeof(b.word));
	fake_write(&f, b.word, 256);
	f.page.data_head = f.head;
	assert_int_equal(ring_drain(&f.ring, on_record, &d), 1);
	assert_int_equal(d.nr, 1);
	assert_true(f.page.data_tail == f.head);
	free(f.data);
}

/* Lengths that a record claims for its own parts, and bytes that mean nothing: never read beyond the record. */
static void senseless_bytes_are_refused_or_stay_within_the_record(void **state)
{
	uint64_t x = 88172645463325252ull, taken = 0, refused = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t shape = (size_t)round % NR_SHAPES;
		struct perf_event_attr a = attr_of(shape);
		struct perf_event_header h;
		struct record_layout l;
		struct record_sample s;
		struct bytes b;
		void *copy;

		make(shape, (uint64_t)round / NR_SHAPES, &b);
		for (int i = 0; i < 1 + round % 3; i++) {
			size_t word;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			word = 1 + (x >> 8) % (b.nr - 1);
			b.word[word] = x % 5 == 0 ? UINT64_MAX - (x >> 40) % 64 :
				       x % 5 == 1 ? (x >> 40) % 600 :
				       x % 5 == 2 ? 1ull << (x >> 58) :
				       x % 5 == 3 ? UINT64_MAX / 8 : x;
		}
		memcpy(&h, b.word, sizeof(h));
		assert_int_equal(h.size, 8 * b.nr);
		assert_int_equal(record_layout(&a, &l), 0);
		if (parse_exactly(&l, (void *)b.word, &s, &copy) == 0) {
			const char *end = (const char *)copy + h.size;

			taken++;
			if (s.nr_chain)
				assert_true((const char *)(s.chain + s.nr_chain) <= end);
			if (s.stack_bytes)
				assert_true((const char *)s.stack + s.stack_bytes <= end);
			if (s.registers)
				assert_true((const char *)(s.registers + l.nr_user) <= end);
			if (s.interrupted)
				assert_true((const char *)(s.interrupted + l.nr_interrupted) <= end);
		} else {
			refused++;
		}
		guarded_free(copy, h.size);
	}
	assert_true(taken > 1000); /* both happen */
	assert_true(refused > 1000);
}

/* ------------------------------------------------------------------------------------------------------- other records */

static void other_records_say_who_and_when(void **state)
{
	static const struct {
		uint32_t type, body; /* bytes of its own */
	} records[] = {
		{ PERF_RECORD_LOST, 16 },     { PERF_RECORD_LOST_SAMPLES, 8 }, { PERF_RECORD_THROTTLE, 24 },
		{ PERF_RECORD_UNTHROTTLE, 24 }, { PERF_RECORD_SWITCH, 0 },     { PERF_RECORD_SWITCH_CPU_WIDE, 8 },
		{ PERF_RECORD_EXIT, 24 },     { 99, 40 },
	};

	(void)state;
	for (size_t shape = 0; shape < NR_SHAPES; shape++)
		for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
			struct perf_event_attr a = attr_of(shape);
			struct perf_event_header h = { .type = records[i].type };
			struct record_layout l;
			struct record_id id;
			struct bytes b = { .nr = 1 };
			uint64_t t = a.sample_type;
			void *copy;

			assert_int_equal(record_layout(&a, &l), 0);
			for (uint32_t n = 0; n < records[i].body / 8; n++)
				put(&b, ~0ull);
			if (t & PERF_SAMPLE_TID)
				put(&b, value(i, 3));
			if (t & PERF_SAMPLE_TIME)
				put(&b, value(i, 4));
			if (t & PERF_SAMPLE_ID)
				put(&b, value(i, 1));
			if (t & PERF_SAMPLE_STREAM_ID)
				put(&b, value(i, 6));
			if (t & PERF_SAMPLE_CPU)
				put(&b, value(i, 7));
			if (t & PERF_SAMPLE_IDENTIFIER)
				put(&b, value(i, 1));
			for (size_t words = 1; words <= b.nr; words++) {
				int ret;

				h.size = (uint16_t)(8 * words);
				memcpy(b.word, &h, sizeof(h));
				copy = guarded(b.word, h.size);
				ret = record_id(&l, copy, records[i].body, &id);
				guarded_free(copy, h.size);
				assert_int_equal(ret, words < b.nr ? -EBADMSG : 0);
			}
			assert_true(id.pid == (t & PERF_SAMPLE_TID ? (uint32_t)value(i, 3) : 0));
			assert_true(id.tid == (t & PERF_SAMPLE_TID ? value(i, 3) >> 32 : 0));
			assert_true(id.time_ns == (t & PERF_SAMPLE_TIME ? value(i, 4) : 0));
			assert_true(id.id == (t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? value(i, 1) : 0));
			assert_true(id.stream_id == (t & PERF_SAMPLE_STREAM_ID ? value(i, 6) : 0));
			assert_true(id.cpu == (t & PERF_SAMPLE_CPU ? (uint32_t)value(i, 7) : 0));
			a.sample_id_all = 0; /* nothing stands behind them then */
			assert_int_equal(record_layout(&a, &l), 0);
			h.size = (uint16_t)(8 + records[i].body);
			memcpy(b.word, &h, sizeof(h));
			assert_int_equal(record_id(&l, (void *)b.word, records[i].body, &id), 0);
			assert_int_equal(id.tid, 0);
		}
}

static void a_layout_with_unknown_parts_is_refused(void **state)
{
	struct perf_event_attr a = { .sample_type = 1ull << 25 };
	struct record_layout l;

	(void)state;
	assert_int_equal(record_layout(&a, &l), -EINVAL);
	a.sample_type = PERF_SAMPLE_READ;
	a.read_format = 1u << 5;
	assert_int_equal(record_layout(&a, &l), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_of_one_shape_are_the_same_bytes),
		cmocka_unit_test(every_shape_is_read_wherever_the_ring_wraps),
		cmocka_unit_test(a_sample_that_ends_too_early_is_refused_at_every_word),
		cmocka_unit_test(a_torn_record_costs_only_itself),
		cmocka_unit_test(records_of_no_size_end_a_drain),
		cmocka_unit_test(senseless_bytes_are_refused_or_stay_within_the_record),
		cmocka_unit_test(other_records_say_who_and_when),
		cmocka_unit_test(a_layout_with_unknown_parts_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
