/* SPDX-License-Identifier: MIT */
/* What xz packed comes out as it was; what is cut, damaged or a bomb is refused. */
#include "agent/recorder/images/xz.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned char packed[1 << 20];

static size_t pack(const void *bytes, size_t nr)
{
	size_t at = 0;

	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes, nr, packed, &at, sizeof(packed)), LZMA_OK);
	return at;
}

static uint64_t used;

static int unpack(size_t bytes)
{
	return xz_unpack(packed, bytes, XZ_BYTES_MAX, &used);
}

static void what_was_packed_comes_out(void **state)
{
	unsigned char text[100000], out[sizeof(text) + 1];
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * i >> 5);
	fd = unpack(pack(text, sizeof(text)));
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, out, sizeof(out), 0), sizeof(text));
	assert_memory_equal(out, text, sizeof(text));
	assert_int_equal(used, sizeof(text));
	close(fd);
}

static void what_is_cut_or_damaged_is_refused(void **state)
{
	unsigned char text[5000];
	size_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * 7919 >> 3);
	nr = pack(text, sizeof(text));
	assert_int_equal(unpack(0), -EBADMSG);
	assert_int_equal(xz_unpack(text, sizeof(text), XZ_BYTES_MAX, &used), -EBADMSG);
	for (size_t n = 1; n < nr; n += 97)
		assert_int_equal(unpack(n), -EBADMSG);
	packed[nr / 2] ^= 0x40;
	assert_int_equal(unpack(nr), -EBADMSG);
}

static void a_bomb_is_refused(void **state)
{
	size_t bytes = (size_t)XZ_BYTES_MAX + 65537;
	unsigned char *zeros = calloc(1, bytes);

	(void)state;
	assert_non_null(zeros);
	assert_int_equal(unpack(pack(zeros, bytes)), -EFBIG);
	assert_int_equal(used, XZ_BYTES_MAX);
	assert_int_equal(xz_unpack(packed, pack(zeros, 70000), 60000, &used), -EFBIG); /* what a recording has left */
	assert_int_equal(used, 60000);
	free(zeros);
}

/* A decoder that would need gigabytes: the size of the dictionary stands in the header. */
static void a_dictionary_of_gigabytes_is_refused(void **state)
{
	lzma_options_lzma options;
	const lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t at = 0;

	(void)state;
	lzma_lzma_preset(&options, 0);
	options.dict_size = 1u << 30;
	assert_int_equal(lzma_stream_buffer_encode((lzma_filter *)filters, LZMA_CHECK_CRC32, NULL, (const uint8_t *)"x", 1, packed, &at,
						   sizeof(packed)), LZMA_OK);
	assert_int_equal(unpack(at), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_out),
		cmocka_unit_test(what_is_cut_or_damaged_is_refused),
		cmocka_unit_test(a_bomb_is_refused),
		cmocka_unit_test(a_dictionary_of_gigabytes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
