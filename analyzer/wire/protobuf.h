/* SPDX-License-Identifier: MIT */
/* Encodes protocol buffers (https://protobuf.dev/programming-guides/encoding).  Context: thread. */
#ifndef TAILOR_WIRE_PROTOBUF_H
#define TAILOR_WIRE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This struct is a message that is being made.  All zeros are an empty message. */
struct protobuf {
	unsigned char *bytes;
	size_t nr, capacity;
	bool failed; /* memory ran out, and the content is unusable */
};

void protobuf_fini(struct protobuf *b);
/* Append bytes, or a number of varying length, without a field's tag. */
void protobuf_put_raw(struct protobuf *b, const void *bytes, size_t nr);
void protobuf_put_varint(struct protobuf *b, uint64_t value);
/* Append a field of this number. protobuf_put_number() and protobuf_put_fixed64() leave out the value 0, because readers take a missing
 * number for 0. */
void protobuf_put_number(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_fixed64(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_bytes(struct protobuf *b, unsigned field, const void *bytes, size_t nr);
/* Append a field with a text.  NULL is written as "".  Empty texts are not left out, because entries of a table are identified by their
 * position. */
void protobuf_put_text(struct protobuf *b, unsigned field, const char *text);
/* Append a field with a message or packed numbers, and make *message empty for the next one.  Empty messages are not left out.  If message
 * has failed, b fails too. */
void protobuf_put_message(struct protobuf *b, unsigned field, struct protobuf *message);

#endif
