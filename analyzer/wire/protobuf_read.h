/* SPDX-License-Identifier: MIT */
/* Decodes protocol buffers, whose bytes are untrusted.  Context: any. */
#ifndef TAILOR_WIRE_PROTOBUF_READ_H
#define TAILOR_WIRE_PROTOBUF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf_field {
	uint64_t number;
	enum protobuf_type type;
	uint64_t value;		    /* the value, for all types but PROTOBUF_BYTES */
	const unsigned char *bytes; /* PROTOBUF_BYTES: a text, or a nested message, in the bytes that are read */
	size_t nr;
};

struct protobuf_reader {
	const unsigned char *at, *end;
	bool bad; /* the bytes are not a message */
};

/* Reads the next field. Returns false at the end, and also, with r->bad set, if the rest of the bytes is not a field. */
bool protobuf_next(struct protobuf_reader *r, struct protobuf_field *f);

#endif
