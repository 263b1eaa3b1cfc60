/* SPDX-License-Identifier: MIT */
/* A backend's memory is read where it can be read, and refused where it cannot. */
#include "tests/unit/unit.h"

#include "shim/engines/postgres.h"

struct postgres pg; /* the agent's, without the agent */

static int read_word(uintptr_t address)
{
	struct postgres_reader r = postgres_memory_reader();
	uint64_t word;

	return r.read(r.context, address, &word, sizeof(word));
}

static void nothing_near_address_0_is_read(void **state)
{
	(void)state;
	pg.heap_begin = (uintptr_t)sbrk(0);
	postgres_memory_reset_cache();
	for (uintptr_t address = 0; address < 4096; address += 8)
		assert_int_equal(read_word(address), -1);
	assert_int_equal(read_word(4095), -1); /* and the page behind it */
}

static void an_unmapped_page_is_refused_when_the_cache_is_reset(void **state)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(page != MAP_FAILED);
	postgres_memory_reset_cache();
	assert_int_equal(read_word((uintptr_t)page), 0);
	assert_int_equal(read_word((uintptr_t)page + 4088), 0);
	assert_int_equal(munmap(page, 4096), 0);
	postgres_memory_reset_cache();
	assert_int_equal(read_word((uintptr_t)page), -1);
	assert_int_equal(read_word(UINTPTR_MAX - 3), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_near_address_0_is_read),
		cmocka_unit_test(an_unmapped_page_is_refused_when_the_cache_is_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
