/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/otlp_answer.h"

#include "analyzer/wire/otlp_fields.h"
#include "analyzer/wire/protobuf_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Copy a text of the receiver to a->message, with '?' for all but printable ASCII, since it is printed to a terminal. */
static void copy_message(struct otlp_answer *a, const char *text, size_t nr)
{
	size_t kept = nr < sizeof(a->message) ? nr : sizeof(a->message) - 1;

	for (size_t i = 0; i < kept; i++)
		a->message[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	a->message[kept] = 0;
}

/* -------------------------------------------------------------------------------------------------- protocol buffers */

/* Read a partial success.  Returns false on a malformed answer, such as a negative number of rejected profiles. */
static bool read_partial(const struct protobuf_field *message, struct otlp_answer *a)
{
	struct protobuf_reader r = { message->bytes, message->bytes + message->nr, false };
	struct protobuf_field f;

	while (protobuf_next(&r, &f))
		if (f.number == OTLP_ExportProfilesPartialSuccess_rejected_profiles) {
			if (f.type != PROTOBUF_VARINT || f.value > INT64_MAX)
				return false;
			a->rejected = f.value;
		} else if (f.number == OTLP_ExportProfilesPartialSuccess_error_message) {
			if (f.type != PROTOBUF_BYTES)
				return false;
			copy_message(a, (const char *)f.bytes, f.nr);
		}
	return !r.bad;
}

static bool read_message(const void *bytes, size_t nr, struct otlp_answer *a)
{
	struct protobuf_reader r = { bytes, (const unsigned char *)bytes + nr, false };
	struct protobuf_field f;

	while (protobuf_next(&r, &f))
		if (f.number == OTLP_ExportProfilesServiceResponse_partial_success &&
		    (f.type != PROTOBUF_BYTES || !read_partial(&f, a)))
			return false;
	return !r.bad;
}

static void read_status(const void *bytes, size_t nr, struct otlp_answer *a)
{
	struct protobuf_reader r = { bytes, (const unsigned char *)bytes + nr, false };
	struct protobuf_field f, message = { 0 };

	while (protobuf_next(&r, &f))
		if (f.number == OTLP_Status_message && f.type == PROTOBUF_BYTES)
			message = f;
	if (!r.bad && message.nr)
		copy_message(a, (const char *)message.bytes, message.nr);
}

/* --------------------------------------------------------------------------------------------------------------- JSON */

static bool is_json(const void *bytes, size_t nr, const char *media_type)
{
	const char *text = bytes;

	return strncasecmp(media_type, "application/json", 16) == 0 || (!*media_type && nr && *text == '{');
}

/* Read the number of rejected profiles, which may be a text or a number in JSON.  An absent one is 0.  Returns false if it is negative or
 * malformed. */
static bool read_rejected(const json_t *value, uint64_t *rejected)
{
	const char *text = json_string_value(value);
	char *end;
	long long number;

	errno = 0;
	number = text ? strtoll(text, &end, 10) : json_integer_value(value);
	if (value && !json_is_integer(value) && (!text || !*text || *end || errno))
		return false;
	*rejected = number < 0 ? 0 : (uint64_t)number;
	return number >= 0;
}

static bool read_json(const void *bytes, size_t nr, struct otlp_answer *a)
{
	json_t *root = json_loadb(bytes, nr, JSON_REJECT_DUPLICATES, NULL), *partial = json_object_get(root, "partialSuccess");
	const json_t *message = json_object_get(partial, "errorMessage");
	bool is_answer = json_is_object(root) && (!partial || json_is_object(partial) || json_is_null(partial)) &&
			 (!message || json_is_string(message)) && read_rejected(json_object_get(partial, "rejectedProfiles"), &a->rejected);

	if (is_answer && message)
		copy_message(a, json_string_value(message), json_string_length(message));
	json_decref(root);
	return is_answer;
}

static void read_json_status(const void *bytes, size_t nr, struct otlp_answer *a)
{
	json_t *root = json_loadb(bytes, nr, 0, NULL);
	const json_t *message = json_object_get(root, "message");

	if (json_is_string(message))
		copy_message(a, json_string_value(message), json_string_length(message));
	json_decref(root);
}

/* ---------------------------------------------------------------------------------------------------------------- both */

bool otlp_answer_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a)
{
	memset(a, 0, sizeof(*a));
	return !nr || (is_json(bytes, nr, media_type) ? read_json : read_message)(bytes, nr, a);
}

void otlp_status_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a)
{
	memset(a, 0, sizeof(*a));
	if (nr)
		(is_json(bytes, nr, media_type) ? read_json_status : read_status)(bytes, nr, a);
}
