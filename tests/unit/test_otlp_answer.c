/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/otlp_answer.h"
#include "analyzer/wire/protobuf.h"
#include "analyzer/wire/protobuf_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROTOBUF "application/x-protobuf"
#define JSON "application/json"

static bool reads(const char *bytes, size_t nr, const char *media_type, struct otlp_answer *a)
{
	char *copy = calloc(nr ? nr : 1, 1); /* a sanitizer sees what is read behind it */
	bool is_answer;

	memcpy(copy, bytes, nr);
	is_answer = otlp_answer_read(copy, nr, media_type, a);
	free(copy);
	return is_answer;
}

/* The answer of a receiver that rejects so many, for that reason. */
static void make_partial(struct protobuf *to, uint64_t rejected, const char *message)
{
	struct protobuf partial = { 0 };

	protobuf_put_number(&partial, 1, rejected);
	protobuf_put_text(&partial, 2, message);
	protobuf_put_message(to, 1, &partial);
	protobuf_fini(&partial);
}

static void nothing_is_an_answer(void **state)
{
	struct otlp_answer a;

	(void)state;
	assert_true(reads("", 0, PROTOBUF, &a));
	assert_true(reads("", 0, "text/html", &a));
	assert_true(reads("\x0a\x00", 2, PROTOBUF, &a)); /* of a partial success that is empty */
	assert_true(reads("{}", 2, JSON, &a));
	assert_true(reads("{\"partialSuccess\":{}}", 21, JSON, &a));
	assert_int_equal(a.rejected, 0);
	assert_string_equal(a.message, "");
}

static void rejected_profiles_are_counted(void **state)
{
	static const char json[] = "{\"partialSuccess\":{\"rejectedProfiles\":\"7\",\"errorMessage\":\"too old\"}}";
	static const char number[] = "{\"partialSuccess\":{\"rejectedProfiles\":8},\"later\":[1]}";
	struct protobuf message = { 0 };
	struct otlp_answer a;

	(void)state;
	make_partial(&message, 300, "too\x1b[2J old");
	protobuf_put_number(&message, 99, 5); /* a field of a later version */
	assert_true(reads((const char *)message.bytes, message.nr, PROTOBUF, &a));
	assert_int_equal(a.rejected, 300);
	assert_string_equal(a.message, "too?[2J old");
	assert_true(reads(json, sizeof(json) - 1, JSON "; charset=utf-8", &a));
	assert_int_equal(a.rejected, 7);
	assert_string_equal(a.message, "too old");
	assert_true(reads(number, sizeof(number) - 1, "", &a));
	assert_int_equal(a.rejected, 8);
	protobuf_fini(&message);
}

static void long_message_is_cut(void **state)
{
	struct protobuf message = { 0 };
	struct otlp_answer a;
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	make_partial(&message, 0, text);
	assert_true(reads((const char *)message.bytes, message.nr, PROTOBUF, &a));
	assert_int_equal(strlen(a.message), sizeof(a.message) - 1);
	protobuf_fini(&message);
}

static void other_bytes_are_no_answer(void **state)
{
	static const struct {
		const char *bytes;
		size_t nr;
		const char *media_type;
	} wrong[] = {
		{ "\0\0\0\0", 4, PROTOBUF }, /* a field of number 0 */
		{ "<html>OK</html>", 15, "text/html" },
		{ "OK\n", 3, "text/plain" },
		{ "\x0a\x05\x08", 3, PROTOBUF }, /* it ends amid a message */
		{ "\x08\x07", 2, PROTOBUF }, /* partial_success is a message, not a number */
		{ "\x0a\x02\x0d\x07", 4, PROTOBUF }, /* rejected_profiles ends amid its bytes */
		{ "\x0a\x05\x0d\x07\0\0\0", 7, PROTOBUF }, /* rejected_profiles is a varint */
		{ "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, PROTOBUF }, /* -1 of them */
		{ "\x0b\x0c", 2, PROTOBUF }, /* a group */
		{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, PROTOBUF }, /* a length beyond all bytes */
		{ "[]", 2, JSON },
		{ "{", 1, JSON },
		{ "{} {}", 5, JSON },
		{ "{\"partialSuccess\":7}", 20, JSON },
		{ "{\"partialSuccess\":{\"rejectedProfiles\":\"-7\"}}", 45, JSON },
		{ "{\"partialSuccess\":{\"rejectedProfiles\":\"7x\"}}", 45, JSON },
		{ "{\"partialSuccess\":{\"rejectedProfiles\":1.5}}", 43, JSON },
	};
	struct otlp_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (reads(wrong[i].bytes, wrong[i].nr, wrong[i].media_type, &a))
			fail_msg("answer %zu is taken for one", i);
}

static void refusal_has_a_message(void **state)
{
	static const char json[] = "{\"code\":3,\"message\":\"no such tenant\"}";
	struct protobuf message = { 0 };
	struct otlp_answer a;

	(void)state;
	protobuf_put_number(&message, 1, 3);
	protobuf_put_text(&message, 2, "no such tenant\n");
	otlp_status_read(message.bytes, message.nr, PROTOBUF, &a);
	assert_string_equal(a.message, "no such tenant?");
	otlp_status_read(message.bytes, message.nr - 1, PROTOBUF, &a);
	assert_string_equal(a.message, "");
	otlp_status_read(json, sizeof(json) - 1, JSON, &a);
	assert_string_equal(a.message, "no such tenant");
	otlp_status_read("plain text", 10, "text/plain", &a);
	assert_string_equal(a.message, "");
	protobuf_fini(&message);
}

static void fields_are_those_that_were_put(void **state)
{
	struct protobuf message = { 0 };
	struct protobuf_reader r;
	struct protobuf_field f;

	(void)state;
	protobuf_put_number(&message, 1, UINT64_MAX);
	protobuf_put_fixed64(&message, 2000, 0x0102030405060708);
	protobuf_put_text(&message, 3, "abc");
	protobuf_put_raw(&message, "\x25\x04\x03\x02\x01", 5);
	r = (struct protobuf_reader){ message.bytes, message.bytes + message.nr, false };
	assert_true(protobuf_next(&r, &f) && f.number == 1 && f.type == PROTOBUF_VARINT && f.value == UINT64_MAX);
	assert_true(protobuf_next(&r, &f) && f.number == 2000 && f.type == PROTOBUF_FIXED64 && f.value == 0x0102030405060708);
	assert_true(protobuf_next(&r, &f) && f.number == 3 && f.type == PROTOBUF_BYTES && f.nr == 3 && memcmp(f.bytes, "abc", 3) == 0);
	assert_true(protobuf_next(&r, &f) && f.number == 4 && f.type == PROTOBUF_FIXED32 && f.value == 0x01020304);
	assert_false(protobuf_next(&r, &f));
	assert_false(r.bad);
	protobuf_fini(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_an_answer),	     cmocka_unit_test(rejected_profiles_are_counted),
		cmocka_unit_test(long_message_is_cut),	     cmocka_unit_test(other_bytes_are_no_answer),
		cmocka_unit_test(refusal_has_a_message),     cmocka_unit_test(fields_are_those_that_were_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
