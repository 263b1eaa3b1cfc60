/* SPDX-License-Identifier: MIT */
/* The reader of records and the parallel reader of samples (sample_stream.c) share this state and these functions. Context: thread. */
#ifndef TAILOR_READER_INTERNAL_H
#define TAILOR_READER_INTERNAL_H

#include "jitreg/base/budget.h"
#include "jitreg/base/grow.h"
#include "jitreg/trace/msgpack_tree.h"
#include "jitreg/trace/reader.h"

#include <zstd.h>

/* This holds the decompressed body of a chunk whose checksum was right. */
struct chunk_body {
	size_t at; /* offset of the chunk in the file */
	const char *body; /* NULL: there is no body here */
	size_t bytes;
	char *plain; /* memory of the decompressed body; NULL: body points into the file */
	size_t capacity;
	bool held; /* trace_hold_current_body() was called, so the body is not freed when its last record has been read */
};

struct trace_reader {
	const unsigned char *file;
	size_t file_bytes, at;
	/* the pages of the mapping up to here were released; SIZE_MAX: never release any, because another reader shares the mapping */
	size_t forgotten;
	char *name;
	unsigned selected;
	struct trace_damage damage;
	bool ended; /* the END chunk was read */
	bool is_being_written;
	struct trace_chunk chunk; /* the current chunk */
	size_t chunk_at;
	const char *body;
	size_t body_bytes, body_at, record_at;
	struct chunk_body last; /* the body that was decompressed last, unless it was moved to kept */
	struct chunk_body other; /* body that trace_read_record_at() decompressed, because it was neither in last nor in kept */
	bool keeps, releases;
	ARRAY(struct chunk_body) kept; /* sorted by at */
	size_t kept_bytes;
	const uint32_t *ids; /* selected ids */
	uint32_t nr_ids;
	ZSTD_DCtx *zstd;
	struct msgpack_tree tree, tree_at; /* the record of the last trace_next(), and that of the last trace_read_record_at() */
	struct trace_stats stats;
	struct budget budget; /* all 0 (no limit) in the readers of single chunks in sample_stream.c */
};

/* Find the next chunk from t->at on that must be read: a selected one, the END chunk, or one of an unknown type.  Sets t->at to it, and *c
 * to its head.  The body is not checked.  Bytes in between that are no chunk are counted as damage.  Returns false at the end of the
 * file. */
bool trace_find_chunk(struct trace_reader *t, struct trace_chunk *c);
/* Make the chunk at t->at, whose head trace_find_chunk() found, the current one, and do not change t->at.  Returns BAD if the checksum is
 * wrong or the body cannot be decompressed (wrong data, no memory, budget exceeded).  SKIPPED: the chunk is intact, but not selected, or of
 * a type of a later version. */
enum chunk_read { CHUNK_READ, CHUNK_SKIPPED, CHUNK_BAD } trace_read_chunk(struct trace_reader *t, const struct trace_chunk *c);
/* Does the chunk at offset at have the right checksum?  The caller has checked that all of it is in the file. */
bool trace_chunk_is_whole(const struct trace_reader *t, const struct trace_chunk *c, size_t at);
/* Does this version know the type of the chunk? */
bool trace_chunk_is_known(const struct trace_chunk *c);
/* Fill *r from a msgpack object, to which it refers.  packed: the encoded object.  Returns false if the object is not an array that begins
 * with the four numbers of a record. */
bool trace_record_of_node(const struct msgpack_node *o, const char *packed, size_t bytes, struct trace_record *r);
/* trace_next() calls this when all records of the current chunk have been read. It frees the body of the chunk if
 * trace_release_left_bodies() was called and the body is not held. */
void trace_leave_chunk(struct trace_reader *t);
/* Free all bodies and trees, and t->zstd. */
void trace_free_bodies(struct trace_reader *t);
/* Move t->at, where no valid chunk is, to the next magic number or the end of the file, and count the bytes as damage. */
void trace_resync(struct trace_reader *t);
/* Release the pages of the mapping up to t->at, in steps of 1 MiB, so that reading a large trace does not fill the memory. */
void trace_release_read_pages(struct trace_reader *t);

#endif
