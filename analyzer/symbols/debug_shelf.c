/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/debug_shelf.h"

#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096ull
#define LIBDW_ROW_BYTES 120u /* memory of libdw 0.188 for a row of a line table, by heaptrack */

/* Finds the whole pages of a debug section.  Its first page stays in memory, since it may have the header of a compressed section. */
static bool find_pages(const struct elf_object *o, const struct section *s, uint64_t *from, uint64_t *to)
{
	const uint64_t bytes = s->packing ? s->packed_bytes : s->bytes;
	const uint64_t nr = s->offset <= o->bytes && bytes <= o->bytes - s->offset ? bytes : 0;

	*from = (s->offset + 2 * PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	*to = (s->offset + nr) & ~(PAGE_BYTES - 1);
	return *from < *to && elf_is_for_libdw(s);
}

static void forget_sections(struct elf_object *o)
{
	uint64_t from, to;

	for (size_t i = 0; i < o->nr_sections; i++)
		if (find_pages(o, &o->sections[i], &from, &to))
			madvise(o->data + from, to - from, MADV_DONTNEED);
}

int debug_restore(struct elf_object *o, uint64_t file_offset, const void *bytes, size_t nr)
{
	if (file_offset > o->bytes || nr > o->bytes - file_offset)
		return -EBADMSG;
	for (size_t i = 0; i < o->nr_sections; i++) {
		uint64_t from, to;

		if (!find_pages(o, &o->sections[i], &from, &to))
			continue;
		from = from > file_offset ? from : file_offset;
		to = to < file_offset + nr ? to : file_offset + nr;
		if (from < to)
			memcpy(o->data + from, (const char *)bytes + (from - file_offset), to - from);
	}
	return 0;
}

/* Estimates the memory of what was read of an object's debug sections, which grows while it is asked. */
static uint64_t bytes_read(const struct elf_object *o)
{
	return o->plain_bytes + o->elsewhere_bytes + o->nr_lines * (sizeof(*o->lines) + LIBDW_ROW_BYTES);
}

/* Estimates the memory of an object's debug information. */
static uint64_t bytes_in_memory(const struct elf_object *o)
{
	uint64_t bytes = bytes_read(o), from, to;

	for (size_t i = 0; i < o->nr_sections; i++)
		if (find_pages(o, &o->sections[i], &from, &to))
			bytes += to - from;
	return bytes;
}

static void unlink_object(struct debug_shelf *s, struct elf_object *o)
{
	if (o->newer)
		o->newer->older = o->older;
	else if (s->newest == o)
		s->newest = o->older;
	if (o->older)
		o->older->newer = o->newer;
	else if (s->oldest == o)
		s->oldest = o->newer;
	o->newer = o->older = NULL;
}

static void link_newest(struct debug_shelf *s, struct elf_object *o)
{
	o->older = s->newest;
	if (s->newest)
		s->newest->newer = o;
	s->newest = o;
	if (!s->oldest)
		s->oldest = o;
}

static bool is_asked(const struct elf_object *o, size_t number)
{
	return number && o->asked && o->asked[number / 64] >> number % 64 & 1;
}

bool debug_find_kept_lines(struct elf_object *o, size_t number, const struct elf_line **row, size_t *nr)
{
	if (number && !o->asked)
		o->asked = calloc(o->nr_functions / 64 + 1, sizeof(*o->asked));
	*row = o->kept_lines;
	*nr = o->nr_kept_lines;
	if (!o->in_memory && is_asked(o, number) && o->nr_loads)
		return true;
	if (number && o->asked)
		o->asked[number / 64] |= 1ull << number % 64;
	return false;
}

/* Keeps the rows of functions that were asked for, which lists of their instructions ask for again.  Keeps none if memory runs out. */
static void keep_lines(struct elf_object *o)
{
	size_t nr = 0;

	for (size_t i = 0; o->asked && i < o->nr_lines; i++)
		if (is_asked(o, elf_number_of_function(o, o->lines[i].address))) {
			o->lines[nr] = o->lines[i];
			o->lines[nr].file = debug_keep_text(o, o->lines[nr].file);
			nr++;
		}
	o->kept_lines = nr ? malloc(nr * sizeof(*o->kept_lines)) : NULL;
	o->nr_kept_lines = o->kept_lines ? nr : 0;
	if (o->kept_lines)
		memcpy(o->kept_lines, o->lines, nr * sizeof(*o->kept_lines));
	if (!o->kept_lines && o->asked)
		memset(o->asked, 0, (o->nr_functions / 64 + 1) * sizeof(*o->asked));
}

static void forget_kept_lines(struct elf_object *o)
{
	free(o->kept_lines);
	o->kept_lines = NULL;
	o->nr_kept_lines = 0;
}

static void forget_lines(struct elf_object *o)
{
	free(o->lines);
	free(o->units);
	free(o->ranges);
	hash_map_fini(&o->line_tables);
	if (o->dwarf)
		dwarf_end(o->dwarf); /* frees the file names, too */
	if (o->dwarf_elf) {
		elf_end(o->dwarf_elf);
		close(o->dwarf_fd);
	}
	o->lines = NULL;
	o->units = NULL;
	o->ranges = NULL;
	o->dwarf = NULL;
	o->dwarf_elf = NULL;
	o->nr_lines = o->lines_capacity = o->nr_units = o->units_capacity = o->nr_ranges = o->ranges_capacity = 0;
	o->elsewhere_bytes = 0;
	o->lines_read = false;
	o->line_tables = (struct hash_map){ 0 };
}

static void forget_inlines(struct elf_object *o)
{
	free(o->bodies);
	o->bodies = NULL;
	o->nr_bodies = o->bodies_capacity = o->nr_everywhere = 0;
	o->bodies_read = false;
}

static void forget_plain(struct elf_object *o)
{
	if (o->plain_elf)
		elf_end(o->plain_elf);
	free(o->plain);
	o->plain_elf = NULL;
	o->plain = NULL;
	o->plain_bytes = 0;
}

/* Frees what was read for lines and inlined functions. The next question reads it again. */
static void forget_debug(struct elf_object *o)
{
	forget_inlines(o);
	forget_lines(o);
	forget_plain(o);
}

static void put_away(struct debug_shelf *s, struct elf_object *o)
{
	unlink_object(s, o);
	keep_lines(o);
	forget_debug(o);
	forget_sections(o);
	o->in_memory = false;
}

static void make_room(struct debug_shelf *s)
{
	const uint64_t most = s->most ? s->most : DEBUG_SHELF_BYTES;
	uint64_t bytes = 0;

	for (struct elf_object *o = s->newest, *older; o; o = older) {
		older = o->older;
		bytes += bytes_in_memory(o);
		if (o != s->newest && bytes > most && o->nr_loads < DEBUG_LOADS_MAX)
			put_away(s, o);
	}
}

bool debug_take(struct elf_object *o)
{
	struct debug_shelf *s = o->shelf;
	bool has_grown = false;

	if (!s || s->newest == o)
		return !o->is_lost;
	if (s->newest && s->newest->counted_bytes != bytes_read(s->newest)) {
		s->newest->counted_bytes = bytes_read(s->newest);
		has_grown = true;
	}
	if (o->in_memory) {
		unlink_object(s, o);
	} else {
		forget_kept_lines(o);
		o->in_memory = true;
		o->nr_loads++;
		has_grown = true;
		o->is_lost = o->has_lines && !s->load(s->context, o->shelf_number, o);
	}
	link_newest(s, o);
	if (has_grown)
		make_room(s);
	return !o->is_lost;
}

void debug_shelve(struct debug_shelf *shelf, struct elf_object *o, uint32_t number)
{
	if (o->shelf || o->lines_read || o->memory)
		return;
	o->shelf = shelf;
	o->shelf_number = number;
	forget_sections(o);
}

void debug_destroy(struct elf_object *o)
{
	if (o->shelf && o->in_memory)
		unlink_object(o->shelf, o);
	forget_debug(o);
	for (size_t i = 0; i < o->nr_texts; i++)
		free(o->texts[i]);
	for (size_t i = 0; i < o->nr_elsewhere; i++) {
		free(o->elsewhere[i].path);
		free(o->elsewhere[i].build_id);
	}
	free(o->texts);
	free(o->asked);
	forget_kept_lines(o);
	hash_map_fini(&o->text_of);
}

const char *debug_keep_text(struct elf_object *o, const char *text)
{
	const uint64_t hash = hash_text(text);
	uint64_t collisions = 0;
	uint32_t n;

	if (!o->shelf || !*text)
		return text;
	while ((n = hash_map_find(&o->text_of, hash, collisions)) && strcmp(o->texts[n - 1], text) != 0)
		collisions++;
	if (n)
		return o->texts[n - 1];
	if (!GROW(o->texts, o->nr_texts, o->texts_capacity) || !(o->texts[o->nr_texts] = strdup(text)))
		return "";
	o->nr_texts++;
	return hash_map_set(&o->text_of, hash, collisions, o->nr_texts) ? o->texts[o->nr_texts - 1] : "";
}
