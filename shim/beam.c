/* SPDX-License-Identifier: MIT */
/*
 * The blob that describes a module has the following layout.
 *
 *   u32 1, u32 (unused)
 *   the module:   u64 base; u32 nr_ranges, code_bytes; u16 name_bytes; name; padding up to 24 + name_bytes
 *   each range:   u32 start, end, nr_lines; u16 name_bytes; name; padding up to 16 + name_bytes
 *     each line:  u32 start, line; u16 file_bytes; file; padding up to 12 + file_bytes
 *
 * Names end with a NUL, which their length counts.  Offsets are relative to base.  A blob that begins with 0 describes the emulator instead
 * of a module.
 */
#include "shim/beam.h"

#include <string.h>

#define KIND_EMULATOR 0u
#define KIND_MODULE 1u
#define MODULE_BYTES 24u
#define RANGE_BYTES 16u
#define LINE_BYTES 12u
#define CODE_BYTES_MAX (1u << 30)
#define ENTRY_BYTES 16u /* size of a jitdump line entry, in front of the file's name */

struct cursor {
	const unsigned char *at;
	size_t left;
};

static uint32_t get_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

/*
 * Takes a structure from the cursor, which has `fixed` bytes besides its name. The name begins at name_at, behind its length (u16).
 * *name_bytes counts the NUL. Returns the structure, or NULL if it is cut off or its name is invalid.
 */
static const unsigned char *take_named_structure(struct cursor *c, size_t fixed, size_t name_at, const char **name, size_t *name_bytes)
{
	const unsigned char *p = c->at;
	uint16_t bytes;

	if (c->left < fixed)
		return NULL;
	memcpy(&bytes, p + name_at - 2, 2);
	if (!bytes || bytes > c->left - fixed || p[name_at + bytes - 1] || memchr(p + name_at, 0, bytes) != p + name_at + bytes - 1)
		return NULL;
	*name = (const char *)p + name_at;
	*name_bytes = bytes;
	c->at += fixed + bytes;
	c->left -= fixed + bytes;
	return p;
}

static bool read_line_entries(struct cursor *c, uint32_t nr, uint64_t base, uint32_t end, unsigned char *scratch, size_t scratch_bytes,
			      struct beam_function *f)
{
	for (uint32_t i = 0; i < nr; i++) {
		const char *file;
		size_t file_bytes;
		const unsigned char *p = take_named_structure(c, LINE_BYTES, 10, &file, &file_bytes);
		uint32_t discriminator = 0;
		uint64_t address;

		if (!p || get_u32(p) > end)
			return false;
		if (ENTRY_BYTES + file_bytes > scratch_bytes - f->lines_bytes)
			continue;
		address = base + get_u32(p);
		memcpy(scratch + f->lines_bytes, &address, 8);
		memcpy(scratch + f->lines_bytes + 8, p + 4, 4);
		memcpy(scratch + f->lines_bytes + 12, &discriminator, 4);
		memcpy(scratch + f->lines_bytes + ENTRY_BYTES, file, file_bytes);
		f->lines_bytes += ENTRY_BYTES + file_bytes;
		f->nr_lines++;
	}
	return true;
}

bool beam_read_functions(const void *blob, size_t bytes, void *scratch, size_t scratch_bytes,
			 void (*each)(void *context, const struct beam_function *f), void *context)
{
	struct cursor c = { blob, bytes };
	uint32_t nr_ranges, code_bytes;
	const unsigned char *p;
	const char *name;
	size_t name_bytes;
	uint64_t base;

	if (bytes < 8)
		return false;
	if (get_u32(c.at) == KIND_EMULATOR)
		return bytes <= 64;
	if (get_u32(c.at) != KIND_MODULE)
		return false;
	c.at += 8;
	c.left -= 8;
	p = take_named_structure(&c, MODULE_BYTES, 18, &name, &name_bytes);
	if (!p)
		return false;
	memcpy(&base, p, 8);
	nr_ranges = get_u32(p + 8);
	code_bytes = get_u32(p + 12);
	if (code_bytes > CODE_BYTES_MAX || base > UINT64_MAX - CODE_BYTES_MAX)
		return false;
	for (uint32_t i = 0; i < nr_ranges; i++) {
		struct beam_function f = { .lines = scratch };
		uint32_t start, end;

		p = take_named_structure(&c, RANGE_BYTES, 14, &f.name, &name_bytes);
		if (!p)
			return false;
		start = get_u32(p);
		end = get_u32(p + 4);
		if (start > end || end > code_bytes || !read_line_entries(&c, get_u32(p + 8), base, end, scratch, scratch_bytes, &f))
			return false;
		f.address = base + start;
		f.bytes = end - start;
		if (f.bytes)
			each(context, &f);
	}
	return true;
}
