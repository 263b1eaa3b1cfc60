/* SPDX-License-Identifier: MIT */
/*
 * This file reads names of Java's threads, which are objects of its heap. A class has the offsets of its fields, as 16-bit numbers up to
 * Java 20 and packed since (fieldInfo.hpp). Collectors move objects while they are read, so a name counts only if the references that lead
 * to it are the same before and after it is read.
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 256u
#define STREAM_BYTES 4096u
#define OLD_FIELD_WORDS 6u /* flags, name, signature, value, offset */
#define OLD_OFFSET_TAG 1u
#define FLAG_HAS_VALUE 1u /* flags of a packed field; another number follows for each of these three */
#define FLAG_HAS_GENERIC 4u
#define FLAG_HAS_GROUP 16u
#define LETTERS_MAX (1u << 20)
#define NAME_LETTERS 255u
#define UTF16 1u

static bool is_field(const struct hotspot_layout *l, uint64_t pool, uint32_t index, const char *name)
{
	char text[16];
	size_t nr, bytes = strlen(name);

	return index <= UINT16_MAX && hotspot_read_pool_symbol(l, pool, (uint16_t)index, text, sizeof(text), &nr) && nr == bytes &&
	       memcmp(text, name, bytes) == 0;
}

static uint32_t find_old_field(const struct hotspot_layout *l, uint64_t pool, uint64_t fields, uint32_t nr_words, const char *name)
{
	for (uint32_t i = 0; i < FIELDS_MAX && (i + 1) * OLD_FIELD_WORDS <= nr_words; i++) {
		uint16_t f[OLD_FIELD_WORDS];

		if (proc_mem_read(l->pid, fields + 4 + 2ull * OLD_FIELD_WORDS * i, f, sizeof(f)))
			return 0;
		if ((f[4] & 3) == OLD_OFFSET_TAG && is_field(l, pool, f[1], name))
			return (uint32_t)(f[4] | (uint32_t)f[5] << 16) >> 2;
	}
	return 0;
}

static uint32_t find_packed_field(const struct hotspot_layout *l, uint64_t pool, uint64_t fields, uint32_t nr_bytes, const char *name)
{
	unsigned char bytes[STREAM_BYTES];
	struct hotspot_stream s = { bytes, bytes + nr_bytes, true };
	uint32_t nr, injected, index, offset, flags, skip;

	if (nr_bytes > sizeof(bytes) || proc_mem_read(l->pid, fields + 4, bytes, nr_bytes) || !hotspot_take_number(&s, &nr) ||
	    !hotspot_take_number(&s, &injected))
		return 0;
	for (uint32_t i = 0; i < nr && i < FIELDS_MAX; i++) {
		if (!hotspot_take_number(&s, &index) || !hotspot_take_number(&s, &skip) || !hotspot_take_number(&s, &offset) ||
		    !hotspot_take_number(&s, &skip) || !hotspot_take_number(&s, &flags))
			return 0;
		if (is_field(l, pool, index, name))
			return offset;
		for (uint32_t more = flags & (FLAG_HAS_VALUE | FLAG_HAS_GENERIC | FLAG_HAS_GROUP); more; more &= more - 1)
			if (!hotspot_take_number(&s, &skip))
				return 0;
	}
	return 0;
}

/* Returns the offset of a field in objects of a class, or 0 if it is not found.  class_at: address of the pointer to the class. */
static uint32_t find_field(const struct hotspot_layout *l, uint64_t class_at, const char *name)
{
	uint64_t class, pool, fields, at = l->class_fields ? l->class_fields : l->class_stream;
	int32_t nr;

	if (proc_mem_read(l->pid, class_at, &class, 8) || class % 8 || proc_mem_read(l->pid, class + l->class_pool, &pool, 8) ||
	    proc_mem_read(l->pid, class + at, &fields, 8) || proc_mem_read(l->pid, fields, &nr, 4) || nr <= 0)
		return 0;
	return (l->class_fields ? find_old_field : find_packed_field)(l, pool, fields, (uint32_t)nr, name);
}

bool hotspot_heap_find_fields(struct hotspot_heap *h, const struct hotspot_layout *l)
{
	h->name = find_field(l, l->thread_class, "name");
	h->value = find_field(l, l->string_class, "value");
	h->coder = find_field(l, l->string_class, "coder");
	return h->name && h->value && h->coder;
}

bool hotspot_heap_find(struct hotspot_heap *h, const struct hotspot_layout *l, uint64_t library)
{
	uint64_t base = l->oop_base ? l->oop_base : l->oop_base_before, shift = l->oop_shift ? l->oop_shift : l->oop_shift_before;
	struct hotspot_variables v;
	int32_t bits;

	*h = (struct hotspot_heap){ 0 };
	if (!l->threads || !l->thread_object || !l->os_tid || (!l->thread_os && !l->java_thread_os) || !l->thread_class ||
	    !l->string_class || !base || !shift || (!l->class_fields && !l->class_stream) || hotspot_read_variables(l->pid, library, &v) ||
	    v.has_coloured_pointers || !v.has_narrow_classes || proc_mem_read(l->pid, base, &h->base, 8) ||
	    proc_mem_read(l->pid, shift, &bits, 4) || bits < 0 || bits > 4)
		return false;
	h->shift = (unsigned)bits;
	h->is_narrow = v.has_narrow_pointers;
	/* an array's length follows the mark, which then has the class too, or the mark and a class pointer of four bytes */
	h->array_nr = v.has_compact_headers ? 8 : 12;
	return hotspot_heap_find_fields(h, l);
}

/* Returns the address of the object that a field refers to, or 0 if there is none. */
static uint64_t follow(const struct hotspot_heap *h, const struct hotspot_layout *l, uint64_t object, uint32_t field)
{
	uint64_t to = 0;

	if (proc_mem_read(l->pid, object + field, &to, h->is_narrow ? 4 : 8) || !to)
		return 0;
	return h->is_narrow ? h->base + (to << h->shift) : to;
}

/* Writes a letter as UTF-8, or '?' for 0, and returns the number of its bytes. */
static size_t put_letter(char *to, uint32_t letter)
{
	if (letter < 0x80) {
		to[0] = (char)(letter ? letter : '?');
		return 1;
	}
	if (letter < 0x800) {
		to[0] = (char)(0xc0 | letter >> 6);
		to[1] = (char)(0x80 | (letter & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | letter >> 12);
	to[1] = (char)(0x80 | (letter >> 6 & 0x3f));
	to[2] = (char)(0x80 | (letter & 0x3f));
	return 3;
}

static void format_letters(const unsigned char *from, uint32_t bytes, bool is_wide, char to[HOTSPOT_THREAD_NAME_BYTES])
{
	size_t at = 0;

	for (uint32_t i = 0; i + is_wide < bytes && at + 4 < HOTSPOT_THREAD_NAME_BYTES; i += 1 + is_wide) {
		uint32_t letter = is_wide ? from[i] | (uint32_t)from[i + 1] << 8 : from[i];

		at += put_letter(to + at, letter - 0xd800 < 0x800 ? '?' : letter); /* a half of a surrogate pair becomes '?' */
	}
	to[at] = 0;
}

/* Reads the name of a thread, and cuts it to fit.  thread: address of its JavaThread.  Returns false if it has none, if it is longer than
 * LETTERS_MAX, if it cannot be read, or if objects moved meanwhile. */
static bool read_name(const struct hotspot_heap *h, const struct hotspot_layout *l, uint64_t thread, char name[HOTSPOT_THREAD_NAME_BYTES])
{
	uint64_t root, object, again, string, value;
	unsigned char bytes[2 * NAME_LETTERS], coder;
	uint32_t nr;

	if (proc_mem_read(l->pid, thread + l->thread_object, &root, 8) || !root || proc_mem_read(l->pid, root, &object, 8) || !object)
		return false;
	string = follow(h, l, object, h->name);
	value = string ? follow(h, l, string, h->value) : 0;
	if (!value || proc_mem_read(l->pid, string + h->coder, &coder, 1) || coder > UTF16 ||
	    proc_mem_read(l->pid, value + h->array_nr, &nr, 4) || !nr || nr > LETTERS_MAX)
		return false;
	nr = nr < sizeof(bytes) ? nr : sizeof(bytes);
	if (proc_mem_read(l->pid, value + h->array_nr + 4, bytes, nr))
		return false;
	if (proc_mem_read(l->pid, root, &again, 8) || again != object || follow(h, l, object, h->name) != string ||
	    follow(h, l, string, h->value) != value)
		return false;
	format_letters(bytes, nr, coder == UTF16, name);
	return true;
}

void hotspot_each_java_thread(const struct hotspot_layout *l,
			      void (*each)(void *context, const struct hotspot_layout *l, uint32_t tid, uint64_t thread), void *context)
{
	uint64_t list, first, thread, os, os_at = l->thread_os ? l->thread_os : l->java_thread_os;
	uint32_t nr, tid;

	if (!l->threads || !l->os_tid || !os_at || proc_mem_read(l->pid, l->threads, &list, 8) || !list ||
	    proc_mem_read(l->pid, list + l->threads_nr, &nr, 4) || proc_mem_read(l->pid, list + l->threads_data, &first, 8))
		return;
	for (uint32_t i = 0; i < nr && i < HOTSPOT_THREADS_MAX; i++)
		if (proc_mem_read(l->pid, first + 8ull * i, &thread, 8) == 0 && proc_mem_read(l->pid, thread + os_at, &os, 8) == 0 &&
		    proc_mem_read(l->pid, os + l->os_tid, &tid, 4) == 0)
			each(context, l, tid, thread);
}

struct naming {
	const struct hotspot_heap *heap;
	void (*each)(void *context, uint32_t tid, const char *name);
	void *context;
};

static void name_thread(void *naming, const struct hotspot_layout *l, uint32_t tid, uint64_t thread)
{
	const struct naming *n = naming;
	char name[HOTSPOT_THREAD_NAME_BYTES];

	if (read_name(n->heap, l, thread, name))
		n->each(n->context, tid, name);
}

void hotspot_each_thread(const struct hotspot_heap *h, const struct hotspot_layout *l,
			 void (*each)(void *context, uint32_t tid, const char *name), void *context)
{
	struct naming n = { h, each, context };

	hotspot_each_java_thread(l, name_thread, &n);
}
