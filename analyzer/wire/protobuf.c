/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/protobuf.h"

#include "jitreg/base/leb128.h"

#include <stdlib.h>
#include <string.h>

enum wire_type { VARINT, FIXED64, BYTES };

static bool make_room(struct protobuf *b, size_t nr)
{
	size_t more = b->capacity ? b->capacity : 256;
	unsigned char *bigger;

	while (more - b->nr < nr && more < SIZE_MAX / 4)
		more *= 2;
	if (more == b->capacity || b->failed)
		return !b->failed;
	bigger = more - b->nr >= nr ? realloc(b->bytes, more) : NULL;
	if (!bigger) {
		b->failed = true;
		return false;
	}
	b->bytes = bigger;
	b->capacity = more;
	return true;
}

void protobuf_put_raw(struct protobuf *b, const void *bytes, size_t nr)
{
	if (!nr || !make_room(b, nr))
		return;
	memcpy(b->bytes + b->nr, bytes, nr);
	b->nr += nr;
}

void protobuf_fini(struct protobuf *b)
{
	free(b->bytes);
	memset(b, 0, sizeof(*b));
}

void protobuf_put_varint(struct protobuf *b, uint64_t value)
{
	unsigned char text[LEB128_MAX];

	protobuf_put_raw(b, text, (size_t)(leb128_put(text, value) - text));
}

void protobuf_put_number(struct protobuf *b, unsigned field, uint64_t value)
{
	if (!value)
		return;
	protobuf_put_varint(b, field << 3 | VARINT);
	protobuf_put_varint(b, value);
}

void protobuf_put_fixed64(struct protobuf *b, unsigned field, uint64_t value)
{
	unsigned char bytes[8];

	if (!value)
		return;
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	protobuf_put_varint(b, field << 3 | FIXED64);
	protobuf_put_raw(b, bytes, sizeof(bytes));
}

void protobuf_put_bytes(struct protobuf *b, unsigned field, const void *bytes, size_t nr)
{
	protobuf_put_varint(b, field << 3 | BYTES);
	protobuf_put_varint(b, nr);
	protobuf_put_raw(b, bytes, nr);
}

void protobuf_put_text(struct protobuf *b, unsigned field, const char *text)
{
	protobuf_put_bytes(b, field, text ? text : "", text ? strlen(text) : 0);
}

void protobuf_put_message(struct protobuf *b, unsigned field, struct protobuf *message)
{
	b->failed |= message->failed;
	protobuf_put_bytes(b, field, message->bytes, message->nr);
	message->nr = 0;
}
