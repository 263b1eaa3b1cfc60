/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/protobuf_read.h"

#include "jitreg/base/leb128.h"

#define NUMBER_MAX ((1u << 29) - 1)

static bool take_fixed(struct protobuf_reader *r, size_t bytes, uint64_t *value)
{
	if ((size_t)(r->end - r->at) < bytes)
		return false;
	*value = 0;
	for (size_t i = 0; i < bytes; i++)
		*value |= (uint64_t)r->at[i] << 8 * i;
	r->at += bytes;
	return true;
}

static bool take_bytes(struct protobuf_reader *r, struct protobuf_field *f)
{
	uint64_t nr;

	if (!leb128_take(&r->at, r->end, &nr) || nr > (uint64_t)(r->end - r->at))
		return false;
	f->bytes = r->at;
	f->nr = (size_t)nr;
	r->at += nr;
	return true;
}

/* Read the value of a field of type f->type.  Returns false if it is incomplete, or of an unknown type.  Groups (types 3 and 4) count as
 * unknown, since proto3 does not have them. */
static bool take_value(struct protobuf_reader *r, struct protobuf_field *f)
{
	switch (f->type) {
	case PROTOBUF_VARINT:
		return leb128_take(&r->at, r->end, &f->value);
	case PROTOBUF_FIXED64:
		return take_fixed(r, 8, &f->value);
	case PROTOBUF_FIXED32:
		return take_fixed(r, 4, &f->value);
	case PROTOBUF_BYTES:
		return take_bytes(r, f);
	}
	return false;
}

bool protobuf_next(struct protobuf_reader *r, struct protobuf_field *f)
{
	uint64_t tag;

	if (r->bad || r->at == r->end)
		return false;
	*f = (struct protobuf_field){ 0 };
	r->bad = !leb128_take(&r->at, r->end, &tag) || tag >> 3 == 0 || tag >> 3 > NUMBER_MAX;
	if (r->bad)
		return false;
	f->number = tag >> 3;
	f->type = (enum protobuf_type)(tag & 7);
	r->bad = !take_value(r, f);
	return !r->bad;
}
