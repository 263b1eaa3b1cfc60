/* SPDX-License-Identifier: MIT */
/* Makes the index of the FDEs of an object that cfi_is_safe() lets pass, once per object. */
#include "analyzer/unwind/unwind_internal.h"

#include "analyzer/unwind/debug_frame.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/go_frames.h"
#include "analyzer/unwind/textrel.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>

static int compare_fde_starts(const void *a, const void *b)
{
	const struct fde_index_fde *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_fde(void *context, const struct eh_frame_fde *f)
{
	struct fde_index *k = context;

	if (!f->bytes || f->offset > UINT32_MAX) /* bytes is 0 where the linker left the code out */
		return true;
	if (f->expressions) {
		if (!ARRAY_PUSH(k->expressions, f->start))
			return false;
	}
	if (!ARRAY_GROW(k->fdes))
		return false;
	k->fdes.at[k->fdes.nr++] = (struct fde_index_fde){ f->start, f->bytes < UINT32_MAX ? (uint32_t)f->bytes : UINT32_MAX,
						    (uint32_t)f->offset };
	return true;
}

/*
 * Rewrites FDEs whose addresses count from the start of the code (textrel.h). Sections without an address of their own are placed at that
 * of the code.
 */
static void resolve_textrel(struct fde_index *k, const struct unwind_object *o)
{
	struct elf_section text;

	if (!elf_find_section(o->elf, ".text", &text))
		return;
	k->own_frames = textrel_resolve(k->frames, k->frames_bytes, k->frames_address ? k->frames_address : text.address, text.address);
	if (!k->own_frames)
		return;
	k->frames = k->own_frames;
	if (!k->frames_address)
		k->frames_address = text.address;
}

static void find_frames(struct fde_index *k, const struct unwind_object *o)
{
	struct elf_section s;
	struct go_table go;
	unsigned char *both = NULL;
	uint64_t text;

	if (!o->elf) {
		k->frames = o->eh_frame;
		k->frames_bytes = o->eh_frame_bytes;
		k->frames_address = o->eh_frame_address;
		return;
	}
	if (elf_find_section(o->elf, ".eh_frame", &s) && s.data) {
		k->frames_address = s.address;
		k->frames_bytes = s.bytes;
		k->frames = s.data;
		resolve_textrel(k, o);
	}
	if (!k->frames)
		k->frames_address = o->start - o->bias; /* offsets in libunwind's table have 32 bits, and reach all code from there */
	/* Go's table is preferred to Go's .debug_frame, which does not say where a function moves to another stack. */
	if (elf_find_go(o->elf, &go, &text))
		both = go_frames_append(k->frames, &k->frames_bytes, k->frames_address, &go, text);
	else if (elf_find_section(o->elf, ".debug_frame", &s) && s.data && s.bytes)
		both = debug_frame_append(k->frames, &k->frames_bytes, &s);
	if (both) {
		free(k->own_frames);
		k->frames = k->own_frames = both;
	}
}

/* Adds an empty index for an object. Returns NULL if memory runs out. */
static struct fde_index *add_index(struct knowledge *all, uint64_t key)
{
	struct fde_index *k = ARRAY_GROW(all->index) ? calloc(1, sizeof(*k)) : NULL;

	if (!k || !hash_map_set(&all->index_of_key, key, 0, all->index.nr + 1)) {
		free(k);
		return NULL;
	}
	all->index.at[all->index.nr++] = k;
	return k;
}

struct fde_index *knowledge_get_index(struct knowledge *all, const struct unwind_object *o)
{
	uint32_t known;
	struct fde_index *k;

	if (!o->elf && !o->eh_frame)
		return NULL;
	known = hash_map_find(&all->index_of_key, o->key, 0);
	if (known)
		return all->index.at[known - 1];
	k = add_index(all, o->key);
	if (!k)
		return NULL;
	find_frames(k, o);
	if (k->frames)
		eh_frame_each(k->frames, k->frames_bytes, k->frames_address, add_fde, k);
	if (k->fdes.nr)
		qsort(k->fdes.at, k->fdes.nr, sizeof(*k->fdes.at), compare_fde_starts);
	if (k->expressions.nr)
		qsort(k->expressions.at, k->expressions.nr, sizeof(*k->expressions.at), sorted_by_number);
	return k;
}

/* Counts the FDEs that begin at the address or before. */
static uint32_t fdes_up_to(const struct fde_index *k, uint64_t address)
{
	return SORTED_COUNT(k->fdes.nr, i, k->fdes.at[i].start <= address);
}

bool fde_index_find_program(const struct fde_index *k, uint64_t address, struct cfi_program *out)
{
	uint32_t n = fdes_up_to(k, address);

	return n > 0 && address - k->fdes.at[n - 1].start < k->fdes.at[n - 1].bytes &&
	       eh_frame_read_program(k->frames, k->frames_bytes, k->frames_address, k->fdes.at[n - 1].offset, out);
}

uint64_t knowledge_function_start(struct knowledge *all, const struct unwind_object *o, uint64_t address)
{
	struct fde_index *k = knowledge_get_index(all, o);
	uint32_t n = k ? fdes_up_to(k, address - o->bias) : 0;

	if (n > 0 && address - o->bias - k->fdes.at[n - 1].start < k->fdes.at[n - 1].bytes)
		return k->fdes.at[n - 1].start + o->bias;
	return o->function ? o->function_start : 0;
}

#define GAP_WIDE 65536u

bool knowledge_has_frame_pointers(struct knowledge *all, const struct unwind_object *o, uint64_t address)
{
	struct fde_index *k = o->frame_pointers ? NULL : knowledge_get_index(all, o);
	uint32_t n = k ? fdes_up_to(k, address - o->bias) : 0;

	return o->frame_pointers ||
	       (n > 0 && n < k->fdes.nr && k->fdes.at[n].start - k->fdes.at[n - 1].start > k->fdes.at[n - 1].bytes + (uint64_t)GAP_WIDE);
}
