/* SPDX-License-Identifier: MIT */
/*
 * This file reads the data of a Method. A Method leads to its ConstMethod (name, bytecodes, lines), the ConstMethod to the constant pool,
 * and the pool to the class and to all names (method.hpp, constMethod.hpp). Bytecodes follow the ConstMethod, and the line table follows
 * them. The line table has pairs of differences, each packed into a byte if small (compressedStream.hpp).
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <stdlib.h>
#include <string.h>

#define LINES_BYTES 8192u
#define METHODS_MAX 65536u /* maximum number of methods of a class; those of a larger one are not found */
#define HAS_LINES 1u /* bit of ConstMethod's flags, the same in all versions */

static bool read_at(const struct hotspot_layout *l, uint64_t address, void *to, size_t bytes)
{
	return address >= 4096 && address % 4 == 0 && proc_mem_read(l->pid, address, to, bytes) == 0;
}

static bool read_word(const struct hotspot_layout *l, uint64_t address, uint64_t *out)
{
	return address % 8 == 0 && read_at(l, address, out, sizeof(*out));
}

static bool read_u16(const struct hotspot_layout *l, uint64_t address, uint16_t *out)
{
	return proc_mem_read(l->pid, address, out, sizeof(*out)) == 0;
}

/* Reads a Symbol's text, without a terminating 0.  *nr: its bytes, at most room. */
static bool read_symbol(const struct hotspot_layout *l, uint64_t symbol, char *text, size_t room, size_t *nr)
{
	uint16_t bytes;

	if (symbol % 8 || symbol < 4096 || !read_u16(l, symbol + l->symbol_bytes, &bytes) || !bytes)
		return false;
	*nr = bytes < room ? bytes : room;
	return proc_mem_read(l->pid, symbol + l->symbol_text, text, *nr) == 0;
}

bool hotspot_read_pool_symbol(const struct hotspot_layout *l, uint64_t pool, uint16_t index, char *text, size_t room, size_t *nr)
{
	uint64_t symbol;

	return index && read_word(l, pool + l->pool_bytes + 8ull * index, &symbol) && read_symbol(l, symbol, text, room, nr);
}

/* Makes "package.Class.method" from "package/Class", which is in out->name, and the method's name, which has this index.  Returns false if
 * that name cannot be read, or the whole contains a 0. */
static bool finish_name(const struct hotspot_layout *l, uint64_t pool, uint16_t index, size_t class_bytes, struct hotspot_method *out)
{
	size_t nr;

	for (size_t i = 0; i < class_bytes; i++)
		out->name[i] = out->name[i] == '/' ? '.' : out->name[i];
	out->name[class_bytes] = '.';
	if (!hotspot_read_pool_symbol(l, pool, index, out->name + class_bytes + 1, sizeof(out->name) - class_bytes - 2, &nr))
		return false;
	out->name[class_bytes + 1 + nr] = 0;
	return memchr(out->name, 0, class_bytes + 1 + nr) == NULL;
}

/* Sets out->file to the source file of a class with its package, as in "com/shop/Cart.java", or leaves it empty. */
static void read_file(const struct hotspot_layout *l, uint64_t pool, const char *class, size_t class_bytes, struct hotspot_method *out)
{
	size_t package = 0, nr;
	uint16_t index;

	for (size_t i = 0; i < class_bytes; i++)
		package = class[i] == '/' ? i + 1 : package;
	if (package >= sizeof(out->file) / 2 || !read_u16(l, pool + l->pool_file, &index) ||
	    !hotspot_read_pool_symbol(l, pool, index, out->file + package, sizeof(out->file) - package - 1, &nr))
		return;
	memcpy(out->file, class, package);
	out->file[package + nr] = 0;
}

bool hotspot_take_number(struct hotspot_stream *s, uint32_t *out)
{
	unsigned low = s->excludes_zero, high = 192 - low, shift = 0;
	uint32_t sum = 0;

	for (int i = 0; i < 5; i++, shift += 6) {
		unsigned byte;

		if (s->at == s->end || *s->at < low)
			return false;
		byte = *s->at++;
		sum += (byte - low) << shift;
		if (byte - low < high)
			break;
	}
	*out = sum;
	return true;
}

/* Takes a signed number, whose lowest bit is the sign. */
static bool take_signed(struct hotspot_stream *s, int32_t *out)
{
	uint32_t number;

	if (!hotspot_take_number(s, &number))
		return false;
	*out = (int32_t)(number >> 1) ^ -(int32_t)(number & 1);
	return true;
}

static bool take_line(struct hotspot_stream *s, int64_t *bci, int64_t *line)
{
	int32_t more, lines;
	unsigned char byte;

	if (s->at == s->end)
		return false;
	byte = *s->at++;
	if (byte && byte != 0xff) {
		*bci += byte >> 3;
		*line += byte & 7;
		return true;
	}
	if (!byte || !take_signed(s, &more) || !take_signed(s, &lines))
		return false;
	*bci += more;
	*line += lines;
	return true;
}

static void read_lines(const struct hotspot_layout *l, struct hotspot_method *out)
{
	static unsigned char bytes[LINES_BYTES];
	const struct iovec piece = { (void *)(uintptr_t)(out->code + out->code_bytes), sizeof(bytes) };
	ssize_t n = proc_mem_read_many(l->pid, &piece, 1, bytes);
	struct hotspot_stream s = { bytes, bytes + (n > 0 ? n : 0), l->major >= 20 };
	int64_t bci = 0, line = 0;

	while (out->nr_lines < HOTSPOT_LINES_MAX && take_line(&s, &bci, &line)) {
		if (bci < 0 || (uint64_t)bci >= out->code_bytes || line <= 0 || line > UINT16_MAX)
			break;
		out->line[out->nr_lines++] = (struct hotspot_line){ out->code + (uint64_t)bci, (uint32_t)line };
	}
}

bool hotspot_read_method(const struct hotspot_layout *l, uint64_t address, bool with_lines, struct hotspot_method *out)
{
	char class[HOTSPOT_NAME_BYTES / 2];
	uint64_t inner, pool, holder, holders_pool, symbol;
	uint16_t code_bytes, name, flags = 0;
	size_t class_bytes;

	out->file[0] = 0;
	out->code = out->code_bytes = out->nr_lines = 0;
	if (!read_word(l, address + l->method_const, &inner) || !read_word(l, inner + l->const_pool, &pool) ||
	    !read_u16(l, inner + l->const_code_bytes, &code_bytes) || !read_u16(l, inner + l->const_name, &name) ||
	    !read_word(l, pool + l->pool_holder, &holder) || !read_word(l, holder + l->class_pool, &holders_pool) || holders_pool != pool ||
	    !read_word(l, holder + l->class_name, &symbol) || !read_symbol(l, symbol, class, sizeof(class), &class_bytes))
		return false;
	memcpy(out->name, class, class_bytes);
	if (!finish_name(l, pool, name, class_bytes, out))
		return false;
	if (!with_lines)
		return true;
	out->code = code_bytes ? inner + l->const_bytes : 0;
	out->code_bytes = code_bytes;
	read_file(l, pool, class, class_bytes, out);
	if (code_bytes && *out->file && l->const_flags && read_u16(l, inner + l->const_flags, &flags) && (flags & HAS_LINES))
		read_lines(l, out);
	return true;
}

bool hotspot_is_method(const struct hotspot_layout *l, uint64_t address)
{
	static uint64_t methods[METHODS_MAX];
	uint64_t inner, pool, holder, array;
	int32_t nr;

	if (!read_word(l, address + l->method_const, &inner) || !read_word(l, inner + l->const_pool, &pool) ||
	    !read_word(l, pool + l->pool_holder, &holder) || !read_word(l, holder + l->class_methods, &array) ||
	    !read_at(l, array + l->methods_nr, &nr, sizeof(nr)) || nr <= 0 || nr > (int32_t)METHODS_MAX ||
	    !read_at(l, array + l->methods_data, methods, (size_t)nr * sizeof(methods[0])))
		return false;
	for (int32_t i = 0; i < nr; i++)
		if (methods[i] == address)
			return true;
	return false;
}
