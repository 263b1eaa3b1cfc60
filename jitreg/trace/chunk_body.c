/* SPDX-License-Identifier: MIT */
/*
 * Checks and decompresses the bodies of chunks, and keeps those of RECORDS chunks after trace_keep_bodies(). The first ones of the file are
 * kept, up to TRACE_KEPT_BYTES, so that a second pass in the file's order finds them. The others are decompressed again. So are bodies
 * larger than LARGE_BYTES, because most of these have parts of a file, which are seldom asked for twice.
 */
#include "jitreg/trace/reader_internal.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/planted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DECOMPRESSED_STEP_BYTES 256u
#define LARGE_BYTES (1u << 20)
#define PAGE_BYTES 4096ull

bool trace_chunk_is_known(const struct trace_chunk *c)
{
	return c->type >= TRACE_CHUNK_RECORDS && c->type <= TRACE_CHUNK_END;
}

bool trace_chunk_is_whole(const struct trace_reader *t, const struct trace_chunk *c, size_t at)
{
	return crc32c(crc32c(0, c, sizeof(*c) - 4), t->file + at + sizeof(*c), c->stored_bytes) == c->crc32c;
}

void trace_keep_bodies(struct trace_reader *t)
{
	t->keeps = true;
}

void trace_release_left_bodies(struct trace_reader *t)
{
	t->releases = true;
}

void trace_free_bodies(struct trace_reader *t)
{
	for (uint32_t i = 0; i < t->kept.nr; i++)
		free(t->kept.at[i].plain);
	free(t->kept.at);
	free(t->last.plain);
	free(t->other.plain);
	msgpack_tree_fini(&t->tree);
	msgpack_tree_fini(&t->tree_at);
	ZSTD_freeDCtx(t->zstd);
}

static bool decompress_chunk_body(struct trace_reader *t, const struct trace_chunk *c, size_t at, struct chunk_body *b)
{
	const unsigned char *stored = t->file + at + sizeof(*c);

	b->body = NULL;
	if (!(c->flags & TRACE_CHUNK_ZSTD)) {
		if (c->body_bytes != c->stored_bytes)
			return false;
		b->body = (const char *)stored;
	} else {
		if (!budget_spend(&t->budget, c->body_bytes / DECOMPRESSED_STEP_BYTES + 1))
			return false;
		if (c->body_bytes > b->capacity) {
			if (c->body_bytes > LARGE_BYTES && !budget_has_room(&t->budget, c->body_bytes))
				return false;
			free(b->plain);
			b->plain = malloc(c->body_bytes);
			b->capacity = b->plain ? c->body_bytes : 0;
			if (!b->plain)
				return false;
		}
		if (ZSTD_decompressDCtx(t->zstd, b->plain, c->body_bytes, stored, c->stored_bytes) != c->body_bytes)
			return false;
		b->body = b->plain ? b->plain : "";
	}
	b->at = at;
	b->bytes = c->body_bytes;
	planted_fault("trace", b->body, c->body_bytes);
	t->stats.chunks[c->type]++;
	return true;
}

static struct chunk_body *find_kept_body(const struct trace_reader *t, size_t at)
{
	uint32_t low = 0, high = t->kept.nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->kept.at[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->kept.nr && t->kept.at[low].at == at && t->kept.at[low].body ? &t->kept.at[low] : NULL;
}

void trace_hold_current_body(struct trace_reader *t)
{
	struct chunk_body *b = find_kept_body(t, t->chunk_at);

	if (b)
		b->held = true;
}

void trace_leave_chunk(struct trace_reader *t)
{
	/* after a rewind there is no current chunk, and body_bytes is 0 */
	struct chunk_body *b = t->releases && t->body_bytes ? find_kept_body(t, t->chunk_at) : NULL;

	if (!b || b->held)
		return;
	t->kept_bytes -= b->capacity;
	free(b->plain);
	*b = (struct chunk_body){ .at = b->at };
}

/* Returns the body of the chunk at an offset if it is kept or was read last, or NULL. */
static const struct chunk_body *find_loaded_body(const struct trace_reader *t, size_t at)
{
	if (t->last.body && t->last.at == at)
		return &t->last;
	return find_kept_body(t, at);
}

/* Move the body that was decompressed last to those that are kept.  Nothing happens if its chunk is not behind them in the file (kept is
 * sorted), if it is large, if TRACE_KEPT_BYTES would be exceeded, or if memory runs out. */
static void keep_last_body(struct trace_reader *t)
{
	struct chunk_body *b = &t->last;

	if (!b->body || (t->kept.nr && t->kept.at[t->kept.nr - 1].at >= b->at) || b->capacity > LARGE_BYTES ||
	    b->capacity > TRACE_KEPT_BYTES - t->kept_bytes || !ARRAY_GROW(t->kept))
		return;
	t->kept_bytes += b->capacity;
	t->kept.at[t->kept.nr++] = *b;
	*b = (struct chunk_body){ 0 };
}

enum chunk_read trace_read_chunk(struct trace_reader *t, const struct trace_chunk *c)
{
	const struct chunk_body *b = find_loaded_body(t, t->at);

	if (!b) {
		if (!trace_chunk_is_whole(t, c, t->at))
			return CHUNK_BAD;
		if (!trace_chunk_is_known(c) || !(t->selected & 1u << c->type))
			return CHUNK_SKIPPED;
		if (!decompress_chunk_body(t, c, t->at, &t->last))
			return CHUNK_BAD;
		b = &t->last;
	} else if (!(t->selected & 1u << c->type)) {
		return CHUNK_SKIPPED;
	}
	t->chunk = *c;
	t->chunk_at = t->at;
	t->body = b->body;
	t->body_bytes = b->bytes;
	t->body_at = 0;
	if (t->keeps && c->type == TRACE_CHUNK_RECORDS && b == &t->last)
		keep_last_body(t); /* this moves only the struct, so t->body stays valid */
	return CHUNK_READ;
}

/* Gives back pages of the file that a large body was decompressed from, since records that are read at their place are read once mostly. */
static void release_stored_pages(const struct trace_reader *t, const struct trace_chunk *c, uint64_t at)
{
	const uint64_t from = (at + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), to = (at + sizeof(*c) + c->stored_bytes) & ~(PAGE_BYTES - 1);

	if (c->flags & TRACE_CHUNK_ZSTD && c->body_bytes > LARGE_BYTES && from < to)
		madvise((void *)(uintptr_t)(t->file + from), to - from, MADV_DONTNEED);
}

static const struct chunk_body *get_body_of_chunk_at(struct trace_reader *t, uint64_t at)
{
	const struct chunk_body *b = find_loaded_body(t, at);
	struct trace_chunk c;

	if (b || (t->other.body && t->other.at == at))
		return b ? b : &t->other;
	if (at >= t->file_bytes || t->file_bytes - at < sizeof(c))
		return NULL;
	memcpy(&c, t->file + at, sizeof(c));
	if (c.magic != TRACE_MAGIC || c.stored_bytes > t->file_bytes - at - sizeof(c) || c.body_bytes > TRACE_CHUNK_MAX ||
	    !trace_chunk_is_known(&c) || !trace_chunk_is_whole(t, &c, at))
		return NULL;
	if (!decompress_chunk_body(t, &c, at, &t->other))
		return NULL;
	release_stored_pages(t, &c, at);
	return &t->other;
}

bool trace_read_record_at(struct trace_reader *t, struct trace_place place, struct trace_record *r)
{
	const struct chunk_body *b = get_body_of_chunk_at(t, place.chunk);
	size_t at = place.record;

	if (!b || at >= b->bytes || !msgpack_tree_read(&t->tree_at, b->body, b->bytes, &at))
		return false;
	t->stats.records++;
	return trace_record_of_node(t->tree_at.node, b->body + place.record, at - place.record, r);
}
