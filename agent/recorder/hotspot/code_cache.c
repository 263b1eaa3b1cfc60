/* SPDX-License-Identifier: MIT */
/*
 * This file reads a JVM's code cache. Its generated code lies in up to three heaps of segments. A map has a byte for each segment, which is
 * 0 where a block begins (heap.hpp). A block is a header and a CodeBlob. The map is read as a whole, then many blocks by one system call,
 * while the JVM goes on. What changes while they are read is seen by the next look.
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAPS_MAX 8
#define SEGMENTS_MAX (32u << 20)
#define AT_A_TIME 256u
#define BLOCK_BYTES_MAX 576u

struct heap {
	uint64_t low, high, segments_low, nr_segments;
	unsigned bits; /* a segment is 1 << bits bytes */
};

struct walk {
	const struct hotspot_layout *layout;
	bool (*each)(void *context, const struct hotspot_blob *b);
	void *context;
	struct iovec piece[AT_A_TIME];
	uint32_t nr;
	unsigned char block[AT_A_TIME * BLOCK_BYTES_MAX];
};

static int read_word(const struct hotspot_layout *l, uint64_t address, uint64_t *out)
{
	return proc_mem_read(l->pid, address, out, sizeof(*out));
}

static bool read_heap(const struct hotspot_layout *l, uint64_t at, struct heap *h)
{
	uint64_t memory = at + l->heap_memory, map = at + l->heap_segments, map_high;
	int32_t bits;

	if (read_word(l, memory + l->space_low, &h->low) || read_word(l, memory + l->space_high, &h->high) ||
	    read_word(l, map + l->space_low, &h->segments_low) || read_word(l, map + l->space_high, &map_high) ||
	    proc_mem_read(l->pid, at + l->heap_segment_bits, &bits, sizeof(bits)))
		return false;
	if (h->low >= h->high || h->segments_low >= map_high || bits < 4 || bits > 20)
		return false;
	h->bits = (unsigned)bits;
	h->nr_segments = (h->high - h->low) >> h->bits;
	if (h->nr_segments > map_high - h->segments_low)
		h->nr_segments = map_high - h->segments_low;
	return h->nr_segments <= SEGMENTS_MAX;
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int32_t int_at(const unsigned char *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Reads a blob from its block.  Returns false if the block has no blob, or none that is in use. */
static bool read_blob(const struct hotspot_layout *l, const unsigned char *block, uint64_t address, struct hotspot_blob *b)
{
	const unsigned char *p = block + l->block_bytes;
	int64_t size = int_at(p + l->blob_size), data = int_at(p + l->blob_data), offset;
	int16_t complete; /* this is an int in most versions, and its low half is enough */

	*b = (struct hotspot_blob){ .address = address + l->block_bytes };
	b->start = l->has_code_begin ? word_at(p + l->code_begin) : b->address + (uint32_t)int_at(p + l->code_offset);
	offset = (int64_t)(b->start - b->address);
	if (!block[l->block_used] || size <= 0 || data > size || offset <= 0 || offset >= data)
		return false;
	b->bytes = (uint64_t)(data - offset);
	b->name = word_at(p + l->blob_name);
	b->method = word_at(p + l->blob_method);
	b->compile_id = (uint32_t)int_at(p + l->compile_id);
	b->frame_words = int_at(p + l->blob_frame_size);
	memcpy(&complete, p + l->blob_frame_complete, sizeof(complete));
	b->frame_complete = complete;
	return b->name != 0;
}

/* Reads the blocks that were gathered, and calls the callback for their blobs.  Returns false if the callback did. */
static bool read_gathered_blocks(struct walk *w)
{
	ssize_t n = w->nr ? proc_mem_read_many(w->layout->pid, w->piece, w->nr, w->block) : 0;
	unsigned char *at = w->block;
	bool go_on = true;

	for (uint32_t i = 0; i < w->nr && n >= (ssize_t)w->piece[i].iov_len && go_on; i++) {
		struct hotspot_blob b;

		if (read_blob(w->layout, at, (uint64_t)(uintptr_t)w->piece[i].iov_base, &b))
			go_on = w->each(w->context, &b);
		n -= (ssize_t)w->piece[i].iov_len;
		at += w->piece[i].iov_len;
	}
	w->nr = 0;
	return go_on;
}

static int walk_heap(struct walk *w, const struct heap *h)
{
	unsigned char *map = malloc(h->nr_segments);
	size_t bytes = w->layout->block_bytes + w->layout->blob_bytes;
	int ret = map ? proc_mem_read(w->layout->pid, h->segments_low, map, h->nr_segments) : -ENOMEM;

	for (uint64_t i = 0; ret == 0 && i < h->nr_segments; i++) {
		uint64_t at = h->low + (i << h->bits);

		if (map[i] || h->high - at < bytes)
			continue;
		w->piece[w->nr++] = (struct iovec){ (void *)(uintptr_t)at, bytes };
		if (w->nr == AT_A_TIME && !read_gathered_blocks(w))
			break;
	}
	if (ret == 0)
		read_gathered_blocks(w);
	free(map);
	return ret;
}

int hotspot_each_blob(const struct hotspot_layout *l, bool (*each)(void *context, const struct hotspot_blob *b), void *context)
{
	uint64_t array, data, heap[HEAPS_MAX];
	struct walk *w;
	int32_t nr;
	int ret = 0;

	if (read_word(l, l->heaps, &array) || !array || read_word(l, array + l->array_data, &data) ||
	    proc_mem_read(l->pid, array + l->array_nr, &nr, sizeof(nr)))
		return -EFAULT;
	if (nr <= 0 || nr > HEAPS_MAX || proc_mem_read(l->pid, data, heap, (size_t)nr * sizeof(heap[0])))
		return -EBADMSG;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->layout = l;
	w->each = each;
	w->context = context;
	w->nr = 0;
	for (int32_t i = 0; i < nr && ret == 0; i++) {
		struct heap h;

		ret = read_heap(l, heap[i], &h) ? walk_heap(w, &h) : -EBADMSG;
	}
	free(w);
	return ret;
}
