/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers, as they are written (https://protobuf.dev/programming-guides/encoding).  Context: thread. */
#ifndef TAILOR_WIRE_PROTOBUF_H
#define TAILOR_WIRE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message in the making.  Zeros: an empty one. */
struct protobuf {
	unsigned char *bytes;
	size_t nr, capacity;
	bool failed; /* there was no memory: what it holds is of no use */
};

void protobuf_fini(struct protobuf *b);
/* Bytes as they are. */
void protobuf_put_raw(struct protobuf *b, const void *bytes, size_t nr);
void protobuf_put_varint(struct protobuf *b, uint64_t value);
/* Fields.  A number that is 0 is left out, which means 0. */
void protobuf_put_number(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_fixed64(struct protobuf *b, unsigned field, uint64_t value);
void protobuf_put_bytes(struct protobuf *b, unsigned field, const void *bytes, size_t nr);
/* NULL: as "".  An empty text is put, too: an entry of a table has its place. */
void protobuf_put_text(struct protobuf *b, unsigned field, const char *text);
/* A message, or packed numbers, which is emptied then for the next one; also an empty one is put. */
void protobuf_put_message(struct protobuf *b, unsigned field, struct protobuf *message);

#endif
