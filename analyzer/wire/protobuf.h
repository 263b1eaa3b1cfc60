/* SPDX-License-Identifier: MIT */
/* An encoder of protocol buffers (https://protobuf.dev/programming-guides/encoding).  Context: thread. */
#ifndef TAILOR_WIRE_PROTOBUF_H
#define TAILOR_WIRE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message under construction.  All zeros are an empty message. */
struct protobuf {
	unsigned char *bytes;
	size_t nr, capacity;
	bool failed; /* memory ran out, and the content is unusable */
};

void protobuf_fini(struct protobuf *b);
/* Append bytes without a tag. */
void protobuf_put_raw(struct protobuf *b, const void *bytes, size_t nr);
void protobuf_put_varint(struct protobuf *b, uint64_t value);
/* Append fields.  A number that is 0 is left out, which readers take for 0. */
void protobuf_put_number(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_fixed64(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_bytes(struct protobuf *b, unsigned field, const void *bytes, size_t nr);
/* Append a text.  NULL is written as "".  Empty texts are written too, because entries of a table are identified by their position. */
void protobuf_put_text(struct protobuf *b, unsigned field, const char *text);
/* Append a message or packed numbers, and empty it for the next one.  Empty messages are written too. */
void protobuf_put_message(struct protobuf *b, unsigned field, struct protobuf *message);

#endif
