/* SPDX-License-Identifier: MIT */
/* Functions that the reader of records and the parallel reader of samples (sample_stream.c) share.  Context: thread. */
#ifndef TAILOR_READER_INTERNAL_H
#define TAILOR_READER_INTERNAL_H

#include "jitreg/base/budget.h"
#include "jitreg/trace/msgpack_tree.h"
#include "jitreg/trace/reader.h"

#include <zstd.h>

/* A chunk whose bytes have been checked. */
struct chunk_body {
	size_t at; /* offset of the chunk in the file */
	const char *body; /* NULL: none */
	size_t bytes;
	char *plain; /* memory of the decompressed body; NULL: body points into the file */
	size_t capacity;
	bool held; /* set by trace_hold_current_body(): will be needed again */
};

struct trace_reader {
	const unsigned char *file;
	size_t file_bytes, at;
	size_t forgotten; /* pages up to here have been released; SIZE_MAX: another reader does that */
	char *name;
	unsigned selected;
	struct trace_damage damage;
	bool ended; /* the END chunk was read */
	bool is_being_written;
	struct trace_chunk chunk; /* the current chunk */
	size_t chunk_at;
	const char *body;
	size_t body_bytes, body_at, record_at;
	struct chunk_body last; /* the last decompressed body, if it is not kept */
	struct chunk_body other; /* body that trace_read_record_at() decompressed, if it is neither */
	bool keeps, releases;
	struct chunk_body *kept; /* sorted by at */
	uint32_t nr_kept, kept_capacity;
	size_t kept_bytes;
	const uint32_t *ids; /* selected ids */
	uint32_t nr_ids;
	ZSTD_DCtx *zstd;
	struct msgpack_tree tree, tree_at; /* the current record, and that of trace_read_record_at() */
	struct trace_stats stats;
	struct budget budget; /* unused by readers of single chunks */
};

/* Find the next chunk that may be selected, by its head, and set t->at to it.  Damage on the way is counted.  Returns false at the end of
 * the file. */
bool trace_find_chunk(struct trace_reader *t, struct trace_chunk *c);
/* Make this chunk, which trace_find_chunk() found, the current one.  Does not change t->at.  BAD: the checksum or the data is wrong.
 * SKIPPED: the chunk is intact, but not selected, of a later version, or the end. */
enum chunk_read { CHUNK_READ, CHUNK_SKIPPED, CHUNK_BAD } trace_read_chunk(struct trace_reader *t, const struct trace_chunk *c);
/* Does the chunk at offset at, all of which is in the file, have the right checksum? */
bool trace_chunk_is_whole(const struct trace_reader *t, const struct trace_chunk *c, size_t at);
/* Does this version know the type of the chunk? */
bool trace_chunk_is_known(const struct trace_chunk *c);
/* Fill *r from an object.  packed: the encoded object.  Returns false if the object is not a record. */
bool trace_record_of_node(const struct msgpack_node *o, const char *packed, size_t bytes, struct trace_record *r);
/* Called when all records of the current chunk have been read. */
void trace_leave_chunk(struct trace_reader *t);
/* Free all bodies and trees. */
void trace_free_bodies(struct trace_reader *t);
/* Move t->at to the next magic number, and count the damage. */
void trace_resync(struct trace_reader *t);
/* Release the pages of the mapping up to t->at. */
void trace_release_read_pages(struct trace_reader *t);

#endif
