/* SPDX-License-Identifier: MIT */
/* What the reader of records and the one of samples ahead of time (sample_stream.c) share.  Context: thread. */
#ifndef TAILOR_READER_INTERNAL_H
#define TAILOR_READER_INTERNAL_H

#include "jitreg/trace/msgpack_tree.h"
#include "jitreg/trace/reader.h"

#include <zstd.h>

struct trace_reader {
	const unsigned char *file;
	size_t file_bytes, at;
	size_t forgotten; /* up to here the mapping has been given back; SIZE_MAX: somebody else does that */
	char *name;
	unsigned selected;
	struct trace_damage damage;
	bool ended; /* the END chunk was read */
	struct trace_chunk chunk; /* the current one */
	size_t chunk_at;
	const char *body;
	size_t body_bytes, body_at;
	char *plain; /* decompressed bodies live here */
	size_t plain_capacity;
	ZSTD_DCtx *zstd;
	struct msgpack_tree tree; /* the current record */
};

/* The next chunk that somebody may want, by its head: at t->at, where t stays.  Damage on the way is noted.  false: end of file. */
bool trace_find_chunk(struct trace_reader *t, struct trace_chunk *c);
/* Make that one the current chunk; t->at stays.  BAD: its bytes are not what its head says.  UNKNOWN: of a later version. */
enum chunk_read { CHUNK_READ, CHUNK_UNKNOWN, CHUNK_BAD } trace_read_chunk(struct trace_reader *t, const struct trace_chunk *c);
/* Go on at the next magic behind t->at, and note the damage. */
void trace_resync(struct trace_reader *t);
/* Give back the mapping up to t->at. */
void trace_forget(struct trace_reader *t);

#endif
