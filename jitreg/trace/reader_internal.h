/* SPDX-License-Identifier: MIT */
/* What the reader of records and the one of samples ahead of time (sample_stream.c) share.  Context: thread. */
#ifndef TAILOR_READER_INTERNAL_H
#define TAILOR_READER_INTERNAL_H

#include "jitreg/base/budget.h"
#include "jitreg/trace/msgpack_tree.h"
#include "jitreg/trace/reader.h"

#include <zstd.h>

/* A chunk whose bytes have been checked. */
struct chunk_body {
	size_t at; /* in the file */
	const char *body; /* NULL: none */
	size_t bytes;
	char *plain; /* where it was decompressed to, else NULL: it stands in the file */
	size_t capacity;
	bool held; /* it will be asked for again */
};

struct trace_reader {
	const unsigned char *file;
	size_t file_bytes, at;
	size_t forgotten; /* up to here the mapping has been given back; SIZE_MAX: another reader does that */
	char *name;
	unsigned selected;
	struct trace_damage damage;
	bool ended; /* the END chunk was read */
	bool is_being_written;
	struct trace_chunk chunk; /* the current one */
	size_t chunk_at;
	const char *body;
	size_t body_bytes, body_at, record_at;
	struct chunk_body last; /* the last one that was decompressed, if it is not kept */
	struct chunk_body other; /* trace_read_record_at()'s, if it is neither */
	bool keeps, releases;
	struct chunk_body *kept; /* by at */
	uint32_t nr_kept, kept_capacity;
	size_t kept_bytes;
	const uint32_t *ids; /* that are wanted */
	uint32_t nr_ids;
	ZSTD_DCtx *zstd;
	struct msgpack_tree tree, tree_at; /* the current record; trace_read_record_at()'s */
	struct trace_stats stats;
	struct budget budget; /* of a reader of single chunks: none */
};

/* The next chunk that may be wanted, by its head: at t->at, where t stays.  Damage on the way is noted.  false: end of file. */
bool trace_find_chunk(struct trace_reader *t, struct trace_chunk *c);
/* Make that one the current chunk; t->at stays.  BAD: its bytes are not what its head says.  SKIPPED: they are, and they are not wanted: it
 * is of a later version, or the end. */
enum chunk_read { CHUNK_READ, CHUNK_SKIPPED, CHUNK_BAD } trace_read_chunk(struct trace_reader *t, const struct trace_chunk *c);
/* Do the bytes of a chunk at at, all of which are in the file, have its checksum? */
bool trace_chunk_is_whole(const struct trace_reader *t, const struct trace_chunk *c, size_t at);
/* Of a type that this version knows. */
bool trace_chunk_is_known(const struct trace_chunk *c);
/* false: the object is no record.  packed: it, as bytes. */
bool trace_record_of_node(const struct msgpack_node *o, const char *packed, size_t bytes, struct trace_record *r);
/* The current chunk's records have been read. */
void trace_leave_chunk(struct trace_reader *t);
/* Memory of what was read. */
void trace_free_bodies(struct trace_reader *t);
/* Go on at the next magic behind t->at, and note the damage. */
void trace_resync(struct trace_reader *t);
/* Give back the mapping up to t->at. */
void trace_release_read_pages(struct trace_reader *t);

#endif
