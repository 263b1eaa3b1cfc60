/* SPDX-License-Identifier: MIT */
/* pprof.c: what readers of the format take from the order of its messages. */
#include "tests/unit/unit.h"

#include "analyzer/wire/pprof.h"
#include "analyzer/wire/protobuf_read.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE = 2, MAPPING = 3, STRINGS = 6, MAPPING_FILENAME = 5 };

static void add_process(struct wire_profiles *p, const char *executable, uint32_t pid, uint64_t samples)
{
	const struct wire_profile profile = { .process = wire_process(p, "", executable, executable, "host", pid) };
	const char *image = strcmp(executable, "/usr/bin/sh") ? executable : "/lib/libshell.so";
	const uint32_t stack = wire_stack(p, 0, &(struct wire_frame){ .kind = WIRE_NATIVE, .name = "main", .image = image });

	wire_sample(p, &(struct wire_sample){ .profile = wire_profile(p, &profile, "task-clock", "ns"), .stack = stack, .samples = samples,
					       .weight = 1000 * samples });
}

/* Returns the number that a nested message has in a field, or 0. */
static uint64_t number_in(const struct protobuf_field *of, uint64_t number)
{
	struct protobuf_reader r = { of->bytes, of->bytes + of->nr, false };
	struct protobuf_field f;

	while (protobuf_next(&r, &f))
		if (f.number == number)
			return f.value;
	return 0;
}

/* Sets *text to the file of the first mapping, and returns the number of mappings. */
static unsigned first_mapping(const struct protobuf *made, char text[64])
{
	struct protobuf_reader r = { (const unsigned char *)made->bytes, (const unsigned char *)made->bytes + made->nr, false };
	uint64_t file = 0, nr_strings = 0;
	struct protobuf_field f;
	unsigned mappings = 0;

	while (protobuf_next(&r, &f))
		if (f.number == MAPPING && !mappings++)
			file = number_in(&f, MAPPING_FILENAME);
	r = (struct protobuf_reader){ (const unsigned char *)made->bytes, (const unsigned char *)made->bytes + made->nr, false };
	while (protobuf_next(&r, &f))
		if (f.number == STRINGS && nr_strings++ == file)
			snprintf(text, 64, "%.*s", (int)f.nr, (const char *)f.bytes);
	assert_false(r.bad);
	return mappings;
}

/* A program that starts another one comes first, and has few samples. All samples of sh are in a library. */
static void the_main_binary_has_the_most_samples(void **state)
{
	struct wire_profiles p = { 0 };
	struct protobuf made = { 0 };
	char text[64] = "";

	(void)state;
	add_process(&p, "/usr/bin/env", 10, 3);
	add_process(&p, "/usr/bin/python3", 11, 100);
	add_process(&p, "/usr/bin/sh", 12, 60);
	add_process(&p, "/usr/bin/sh", 13, 60);
	pprof_write(&p, &made);
	assert_false(p.failed || made.failed);
	assert_int_equal(first_mapping(&made, text), 4);
	assert_string_equal(text, "/usr/bin/sh");
	protobuf_fini(&made);
	wire_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_main_binary_has_the_most_samples) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
