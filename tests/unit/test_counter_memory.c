/* SPDX-License-Identifier: MIT */
/* Execution counts in shared memory: read as they are, and what a hostile process says about them. */
#include "tests/unit/unit.h"

#include "agent/recorder/guests/counter_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BYTES 65536u

static struct counter_memory *memory;
static uint64_t *counters; /* the process's mapping */
static uint32_t number;

static uint64_t add(uint64_t bytes)
{
	int fd = -1, ret = counter_memory_add_arena(&memory, bytes, &number, &fd);

	if (ret)
		return (uint64_t)-ret;
	counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(counters != MAP_FAILED);
	assert_int_equal(ftruncate(fd, 0), -1); /* it would kill the recorder */
	close(fd);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memory = NULL;
	assert_int_equal(add(BYTES), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	counter_memory_destroy(memory);
	return 0;
}

static int announce(uint64_t block, uint64_t place, uint64_t nr_entries, uint64_t nr_copies)
{
	struct schema_value v[F_COUNT(counter_block)] = {
		[F(counter_block, block)].u = block,
		[F(counter_block, place)].u = place,
		[F(counter_block, nr_copies)].u = nr_copies,
		[F(counter_block, entries)].u = nr_entries,
	};

	return counter_memory_add_block(memory, v);
}

static struct seen {
	uint64_t block, value[16];
	uint32_t nr, calls;
} seen;

static void on_block(void *context, uint64_t block, const uint64_t *values, uint32_t nr)
{
	(void)context;
	seen.block = block;
	seen.nr = nr;
	seen.calls++;
	memcpy(seen.value, values, (nr < 16 ? nr : 16) * sizeof(*values));
}

static uint32_t read_all(bool all)
{
	seen = (struct seen){ 0 };
	counter_memory_read(memory, all, on_block, NULL);
	return seen.calls;
}

static void copies_are_added_up(void **state)
{
	(void)state;
	assert_int_equal(announce(7, 64, 3, 4), 0);
	for (int copy = 0; copy < 4; copy++)
		for (int i = 0; i < 3; i++)
			counters[8 + 8 * copy + i] = (uint64_t)(copy + 1) * (i ? 100 * i : 1);
	counters[8 + 3] = 99; /* between two copies */
	assert_int_equal(read_all(false), 1);
	assert_int_equal(seen.block, 7);
	assert_int_equal(seen.nr, 3);
	assert_int_equal(seen.value[0], 10);
	assert_int_equal(seen.value[1], 1000);
	assert_int_equal(seen.value[2], 2000);
}

static void what_has_not_changed_is_read_on_request_only(void **state)
{
	(void)state;
	assert_int_equal(announce(7, 64, 3, 1), 0);
	assert_int_equal(read_all(false), 1);
	assert_int_equal(read_all(false), 0);
	assert_int_equal(read_all(true), 1);
	counters[10]++;
	assert_int_equal(read_all(false), 1);
	counter_memory_end_block(memory, 7);
	counter_memory_end_block(memory, 7);
	assert_int_equal(read_all(true), 0);
}

static void blocks_outside_of_the_memory_are_refused(void **state)
{
	const uint64_t nr = BYTES / 8;

	(void)state;
	assert_int_equal(announce(1, 0, nr, 1), 0);
	assert_int_equal(announce(1, 8, nr, 1), -EBADMSG);
	counter_memory_end_block(memory, 1);
	assert_int_equal(announce(1, 4, 1, 1), -EBADMSG);		/* not a counter's address */
	assert_int_equal(announce(1, BYTES, 1, 1), -EBADMSG);		/* behind the end */
	assert_int_equal(announce(1, 1ull << 32, 1, 1), -EBADMSG);	/* of a memory that there is not */
	assert_int_equal(announce(1, UINT64_MAX - 7, 1, 1), -EBADMSG);
	assert_int_equal(announce(1, 0, 0, 1), -EBADMSG);
	assert_int_equal(announce(1, 0, UINT32_MAX, UINT32_MAX), -EBADMSG);
	assert_int_equal(announce(1, 0, 8, nr), -EBADMSG);
	assert_int_equal(announce(1, UINT64_MAX, 5, 0), 0); /* it is not in this memory at all */
	assert_int_equal(read_all(true), 0);
}

/* Reading them must have a bound. */
static void blocks_that_overlap_without_end_are_refused(void **state)
{
	uint64_t accepted = 0;

	(void)state;
	for (uint64_t block = 1; block < 10000; block++)
		accepted += announce(block, 0, 1024, 1) == 0;
	assert_int_equal(accepted, BYTES / 8 / 1024);
	assert_int_equal(announce(1, 0, 1024, 1), 0); /* again */
	assert_int_equal(read_all(true), accepted);
}

static void a_million_blocks_come_and_go(void **state)
{
	(void)state;
	for (uint64_t block = 1; block <= 1000000; block++) {
		assert_int_equal(announce(block, 64 * (block % 500), 8, 1), 0);
		if (block > 100)
			counter_memory_end_block(memory, block - 100);
	}
	assert_int_equal(read_all(true), 100);
	assert_uint_in_range(seen.block, 1000000 - 99, 1000000);
}

static void memory_has_a_limit(void **state)
{
	uint64_t bytes = BYTES;

	(void)state;
	assert_int_equal(add(0), EINVAL);
	assert_int_equal(add(4097), EINVAL);
	assert_int_equal(add(1ull << 62), EINVAL);
	while (add(16u << 20) == 0)
		bytes += 16u << 20;
	assert_true(bytes <= 128u << 20);
	assert_int_equal(announce(1, (uint64_t)number << 32, 8, 1), 0);
	counters = NULL;
}

static void without_memory_nothing_is_announced(void **state)
{
	struct counter_memory *before = memory;

	(void)state;
	memory = NULL;
	assert_int_equal(announce(1, 0, 1, 1), -EBADMSG);
	counter_memory_end_block(memory, 1);
	assert_int_equal(read_all(true), 0);
	memory = before;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(copies_are_added_up),
		TEST(what_has_not_changed_is_read_on_request_only),
		TEST(blocks_outside_of_the_memory_are_refused),
		TEST(blocks_that_overlap_without_end_are_refused),
		TEST(a_million_blocks_come_and_go),
		TEST(memory_has_a_limit),
		TEST(without_memory_nothing_is_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
