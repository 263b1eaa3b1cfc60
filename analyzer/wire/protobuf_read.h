/* SPDX-License-Identifier: MIT */
/* The fields of a message of protocol buffers, from bytes that may hold anything.  Context: any. */
#ifndef TAILOR_WIRE_PROTOBUF_READ_H
#define TAILOR_WIRE_PROTOBUF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf_field {
	uint64_t number;
	enum protobuf_type type;
	uint64_t value;		    /* of all types but PROTOBUF_BYTES */
	const unsigned char *bytes; /* of PROTOBUF_BYTES: a text, or a message of its own */
	size_t nr;
};

struct protobuf_reader {
	const unsigned char *at, *end;
	bool bad; /* the bytes are no message */
};

/* The next field.  false at the end, and where the bytes are no message: then r->bad is set. */
bool protobuf_next(struct protobuf_reader *r, struct protobuf_field *f);

#endif
