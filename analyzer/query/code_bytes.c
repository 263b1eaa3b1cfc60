/* SPDX-License-Identifier: MIT */
#include "analyzer/query/code_bytes.h"

#include <stdlib.h>
#include <string.h>

static bool copy_wanted_bytes(struct code_bytes *w, uint64_t address, const void *bytes, uint64_t nr)
{
	if (w->bytes || !bytes || w->start < address || w->start - address > nr || w->end - w->start > nr - (w->start - address))
		return false;
	w->bytes = malloc(w->end - w->start + 1);
	if (w->bytes)
		memcpy(w->bytes, (const unsigned char *)bytes + (w->start - address), w->end - w->start);
	return w->bytes != NULL;
}

static void copy_bytes_from_elf(struct code_bytes *w, struct elf_object *elf)
{
	struct elf_section text;

	for (size_t i = 0; elf_get_text(elf, i, &text); i++)
		copy_wanted_bytes(w, text.address, text.data, text.bytes);
}

/* Copies bytes of a function that the trace has by itself (IMAGE_CODE), or of a file all of whose code the trace has. */
static void copy_bytes_from_image(struct code_bytes *w)
{
	const struct image_file *f = w->code->file;
	const struct function_code *known = f ? function_codes_find(f->code, w->start) : NULL;

	if (known)
		copy_wanted_bytes(w, known->address, known->code, known->bytes);
	if (f && f->elf)
		copy_bytes_from_elf(w, f->elf);
}

/* Returns the code of the LOAD or CODE_BYTES at a place, *nr bytes. It is valid until the next record is read. Returns NULL if the trace
 * cannot be read there, or if it has another record there. */
static const char *read_code_at_place(const struct report *r, struct trace_place place, size_t *nr)
{
	struct trace_record record;

	*nr = 0;
	if (!trace_read_record_at(r->reader, place, &record))
		return NULL;
	if (record.id != TRACE_CODE_BYTES && record.id != JITREG_LOAD)
		return NULL;
	return trace_bytes(&record, record.id == TRACE_CODE_BYTES ? F(code_bytes, code) : F(load, code), nr);
}

static const char *read_function_bytes(const struct report *r, const struct code *c)
{
	size_t nr;
	const char *bytes = read_code_at_place(r, c->bytes_at, &nr);

	return bytes && nr >= c->bytes ? bytes : NULL;
}

/* Copies bytes of a region, from the whole region, or from the first page that was read and has all of them. */
static void copy_bytes_from_page(const struct report *r, struct code_bytes *w)
{
	const struct model *m = r->model;

	if (w->code->region)
		copy_wanted_bytes(w, w->code->address, w->code->region->bytes, w->code->region->nr);
	for (uint32_t i = 0; i < m->codes.copies.nr && !w->bytes; i++) {
		const struct code_copy *page = &m->codes.copies.at[i];
		const char *bytes;
		size_t nr;

		if (page->loaded_ns != TRACE_NOT_LOADED || page->pid != m->numbered.at[w->code->process]->pid || w->start < page->address ||
		    w->start - page->address > page->bytes || w->end - w->start > page->bytes - (w->start - page->address))
			continue;
		bytes = read_code_at_place(r, page->place, &nr);
		if (bytes && copy_wanted_bytes(w, page->address, bytes, nr))
			w->read_ns = page->read_ns;
	}
}

/* Orders code as the trace does, so that the bytes of one chunk are read one after another. */
static int compare_trace_places(const struct code *a, const struct code *b)
{
	if (a->bytes_at.chunk != b->bytes_at.chunk)
		return a->bytes_at.chunk < b->bytes_at.chunk ? -1 : 1;
	return a->bytes_at.record < b->bytes_at.record ? -1 : a->bytes_at.record > b->bytes_at.record;
}

static int compare_code_places(const void *a, const void *b)
{
	return compare_trace_places(*(const struct code *const *)a, *(const struct code *const *)b);
}

static int compare_wanted_places(const void *a, const void *b)
{
	return compare_trace_places((*(struct code_bytes *const *)a)->code, (*(struct code_bytes *const *)b)->code);
}

void code_bytes_each(const struct report *r,
		     void (*take_code)(void *context, const struct code *c, const void *bytes, uint64_t read_ns), void *context)
{
	const struct model *m = r->model;
	const struct code **code = malloc(((size_t)m->codes.nr + 1) * sizeof(*code));
	uint32_t nr = 0;

	for (uint32_t i = 0; code && i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_LOAD && m->codes.at[i]->has_bytes)
			code[nr++] = m->codes.at[i];
	if (nr)
		qsort(code, nr, sizeof(*code), compare_code_places);
	for (uint32_t i = 0; i < nr; i++) {
		const char *bytes = read_function_bytes(r, code[i]);

		if (bytes)
			take_code(context, code[i], bytes, code[i]->bytes_read_ns);
	}
	free(code);
}

void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr)
{
	struct code_bytes **registered = malloc(((size_t)nr + 1) * sizeof(*registered)); /* functions that a JIT registered one by one */
	uint32_t nr_registered = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct code_bytes *w = &wanted[i];

		if (w->code->kind == CODE_ELF)
			copy_bytes_from_elf(w, w->code->elf);
		else if (w->code->kind == CODE_IMAGE)
			copy_bytes_from_image(w);
		else if (w->code->kind == CODE_REGION)
			copy_bytes_from_page(r, w);
		else if (registered && w->code->kind == CODE_LOAD && w->code->has_bytes)
			registered[nr_registered++] = w;
	}
	if (nr_registered)
		qsort(registered, nr_registered, sizeof(*registered), compare_wanted_places);
	for (uint32_t i = 0; i < nr_registered; i++)
		if (copy_wanted_bytes(registered[i], registered[i]->code->address, read_function_bytes(r, registered[i]->code),
				      registered[i]->code->bytes))
			registered[i]->read_ns = registered[i]->code->bytes_read_ns;
	free(registered);
}
