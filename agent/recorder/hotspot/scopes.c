/* SPDX-License-Identifier: MIT */
/*
 * This file reads which methods the places of compiled code belong to. A compiled method has a table of places in its code (PcDesc), each
 * with an offset into packed scopes. A scope is the offset of the scope around it, the number of its method among the blob's metadata, and
 * the place in its bytecodes (scopeDesc.cpp, debugInfo.hpp).
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (4u << 20) /* maximum number of bytes of each table of a method; if one has more, nothing is read */
#define METADATA_MAX 1024u

struct pc_desc {
	int32_t pc_offset, scope, objects, flags;
};

struct tables {
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata;
};

static bool read_word(const struct hotspot_layout *l, uint64_t at, uint64_t *out)
{
	return proc_mem_read(l->pid, at, out, sizeof(*out)) == 0;
}

/* Reads an int.  Returns false if it cannot be read, or is negative. */
static bool read_offset(const struct hotspot_layout *l, uint64_t at, uint64_t *out)
{
	int32_t v;

	if (proc_mem_read(l->pid, at, &v, sizeof(v)) || v < 0)
		return false;
	*out = (uint64_t)v;
	return true;
}

/* Finds the tables, which are a part of the blob (Java 17 to 22) or in memory of their own.  Returns false if they are not there, or too
 * large. */
static bool find_tables(const struct hotspot_layout *l, uint64_t blob, struct tables *t)
{
	uint64_t base, pcs, end, scopes, metadata;

	if (!l->pcs_offset || !read_offset(l, blob + l->pcs_offset, &pcs))
		return false;
	if (l->immutable) {
		if (!read_word(l, blob + l->immutable, &base) || !read_offset(l, blob + l->scopes_offset, &scopes) ||
		    !read_offset(l, blob + l->immutable_bytes, &end))
			return false;
		*t = (struct tables){ base + pcs, base + scopes, base + scopes, base + end, 0 };
	} else {
		if (!l->pcs_end || !l->scopes || !read_offset(l, blob + l->pcs_end, &end) || !read_word(l, blob + l->scopes, &scopes))
			return false;
		*t = (struct tables){ blob + pcs, blob + end, scopes, blob + pcs, 0 };
	}
	if (l->metadata_offset) {
		if (!read_offset(l, blob + l->metadata_offset, &metadata))
			return false;
		t->metadata = blob + metadata;
	} else {
		if (!l->mutable || !read_word(l, blob + l->mutable, &base) || !read_offset(l, blob + l->relocation_bytes, &metadata))
			return false;
		t->metadata = base + metadata;
	}
	return t->pcs < t->pcs_end && t->pcs_end - t->pcs <= BYTES_MAX && t->scopes < t->scopes_end &&
	       t->scopes_end - t->scopes <= BYTES_MAX;
}

struct walk {
	const unsigned char *scopes;
	size_t nr;
	bool excludes_zero;
	uint64_t metadata[METADATA_MAX];
	uint32_t nr_metadata;
	struct hotspot_scope scope[HOTSPOT_DEPTH_MAX];
};

static uint32_t read_scopes(struct walk *w, uint32_t at)
{
	uint32_t nr = 0;

	while (at && at < w->nr && nr < HOTSPOT_DEPTH_MAX) {
		struct hotspot_stream s = { w->scopes + at, w->scopes + w->nr, w->excludes_zero };
		uint32_t outer, method, bci;

		if (!hotspot_take_number(&s, &outer) || !hotspot_take_number(&s, &method) || !hotspot_take_number(&s, &bci) || !method ||
		    method > w->nr_metadata)
			return 0;
		w->scope[nr++] = (struct hotspot_scope){ w->metadata[method - 1], (int32_t)bci - 1 };
		if (outer >= at) /* outer scopes are written before inner ones */
			break;
		at = outer;
	}
	return nr;
}

void hotspot_each_place(const struct hotspot_layout *l, const struct hotspot_blob *b,
			void (*each)(void *context, uint64_t address, const struct hotspot_scope *scope, uint32_t nr), void *context)
{
	struct tables t = { 0 };
	struct walk *w = find_tables(l, b->address, &t) ? malloc(sizeof(*w)) : NULL;
	size_t pcs_bytes = w ? t.pcs_end - t.pcs : 0, scopes_bytes = w ? t.scopes_end - t.scopes : 0;
	unsigned char *bytes = w ? malloc(pcs_bytes + scopes_bytes) : NULL;
	const struct iovec words = { (void *)(uintptr_t)t.metadata, sizeof(w->metadata) };
	ssize_t n;

	if (!bytes || proc_mem_read(l->pid, t.pcs, bytes, pcs_bytes) || proc_mem_read(l->pid, t.scopes, bytes + pcs_bytes, scopes_bytes)) {
		free(bytes);
		free(w);
		return;
	}
	n = proc_mem_read_many(l->pid, &words, 1, w->metadata);
	w->nr_metadata = n > 0 ? (uint32_t)((size_t)n / 8) : 0;
	w->scopes = bytes + pcs_bytes;
	w->nr = scopes_bytes;
	w->excludes_zero = l->major >= 20;
	for (size_t at = 0; at + sizeof(struct pc_desc) <= pcs_bytes; at += sizeof(struct pc_desc)) {
		struct pc_desc d;
		uint32_t nr;

		memcpy(&d, bytes + at, sizeof(d));
		if (d.pc_offset < 0 || (uint64_t)d.pc_offset > b->bytes || d.scope <= 0)
			continue;
		nr = read_scopes(w, (uint32_t)d.scope);
		if (nr)
			each(context, b->start + (uint32_t)d.pc_offset, w->scope, nr);
	}
	free(bytes);
	free(w);
}
