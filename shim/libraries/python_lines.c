/* SPDX-License-Identifier: MIT */
/*
 * Registers the bytecodes of CPython's functions with their lines.  The interpreter has the address of the bytecode that it runs in a
 * register or a word of its frame, so the line of a sample inside of a function can be found later, at no cost here.
 *
 * The tables of lines have three forms, all of which leave addresses and lines as differences: co_lnotab until 3.9, co_linetable in 3.10
 * (PEP 626), and another co_linetable since 3.11, which has columns, too (Objects/locations.md of CPython).
 */
#include "shim/libraries/python.h"

#include "agent/guest/sys.h"
#include "shim/announce/announce.h"

#include <string.h>

#define UNIT_BYTES 2	 /* size of an instruction without its argument's extensions and caches */
#define NO_LINE (-128)	 /* line of a range without one in 3.10 */

struct lines {
	struct line_table table;
	const struct python_bytecodes *of;
	const char *file;
	uint64_t at;  /* offset of the next range of bytecodes */
	int64_t line; /* line of the range before */
	bool is_full;
};

/* Adds the line of the bytecodes from l->at on.  Ranges without a line count for the line before them.  The address at which a function
 * begins has the line where it begins, which is part of its name. No bytecode runs there (walk.h), and the first one is a byte further. */
static void add_line(struct lines *l)
{
	uint64_t address = l->of->address + (l->at ? l->at : 1);

	if (l->is_full || l->at >= l->of->bytes || l->line <= 0 || l->line > INT32_MAX)
		return;
	if (line_table_add(&l->table, address, (uint32_t)l->line, l->file, strlen(l->file)))
		return;
	l->is_full = true;
	l->table.capacity = PYTHON_LINES_BYTES; /* the last entry has been kept free for this */
	line_table_add(&l->table, address, 0, l->file, strlen(l->file));
}

static void add_lines_3_8(struct lines *l)
{
	const unsigned char *t = l->of->lines;

	add_line(l);
	for (size_t i = 0; i + 2 <= l->of->lines_bytes; i += 2) {
		l->at += t[i];
		l->line += (signed char)t[i + 1];
		if (i + 2 == l->of->lines_bytes || t[i + 2]) /* else the difference goes on in the next pair */
			add_line(l);
	}
}

static void add_lines_3_10(struct lines *l)
{
	const unsigned char *t = l->of->lines;

	for (size_t i = 0; i + 2 <= l->of->lines_bytes; i += 2) {
		if ((signed char)t[i + 1] != NO_LINE) {
			l->line += (signed char)t[i + 1];
			if (t[i])
				add_line(l);
		}
		l->at += t[i];
	}
}

/* Reads a number of six bits a byte, the lowest first. Bit 6 says that another byte follows. */
static uint64_t read_number(const unsigned char *t, size_t nr, size_t *i)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *i < nr; shift += 6) {
		unsigned char byte = t[(*i)++];

		value |= shift < 64 ? (uint64_t)(byte & 63) << shift : 0;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int64_t read_difference(const unsigned char *t, size_t nr, size_t *i)
{
	uint64_t value = read_number(t, nr, i);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* An entry has bit 7 in its first byte alone, so what an entry has behind its line need not be read. */
static void add_lines_3_11(struct lines *l)
{
	enum { ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };
	const unsigned char *t = l->of->lines;
	const size_t nr = l->of->lines_bytes;

	for (size_t i = 0; i < nr;) {
		unsigned char first = t[i++];
		unsigned kind = first >> 3 & 15;

		if (kind >= ONE_LINE && kind <= ONE_LINE_LAST)
			l->line += kind - ONE_LINE;
		else if (kind == NO_COLUMNS || kind == LONG)
			l->line += read_difference(t, nr, &i);
		if (kind != NO_LOCATION)
			add_line(l);
		l->at += ((first & 7u) + 1) * UNIT_BYTES;
		while (i < nr && !(t[i] & 0x80))
			i++;
	}
}

void python_lines_read(int minor, const struct python_bytecodes *of, const char *file, unsigned char buffer[PYTHON_LINES_BYTES],
		       struct line_table *out)
{
	const size_t entry = 16 + strlen(file) + 1;
	struct lines l = { .table = { .buffer = buffer, .capacity = entry < PYTHON_LINES_BYTES ? PYTHON_LINES_BYTES - entry : 0 },
			   .of = of, .file = file, .line = of->first_line };

	line_table_add(&l.table, of->address, of->first_line, file, strlen(file));
	if (minor >= 11)
		add_lines_3_11(&l);
	else if (minor == 10)
		add_lines_3_10(&l);
	else
		add_lines_3_8(&l);
	*out = l.table;
}

/* There is one buffer, because the interpreter's lock is held. */
bool python_lines_register(int minor, const struct python_bytecodes *of, const char *name, const char *file)
{
	static unsigned char *buffer;
	struct line_table t;
	long p;

	if (!buffer) {
		p = sys_mmap(NULL, PYTHON_LINES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (p < 0)
			return false;
		buffer = (unsigned char *)p;
	}
	python_lines_read(minor, of, file, buffer, &t);
	line_table_send(&t, of->address);
	return jitreg_code_load(of->address, of->bytes, 0, name, NULL) == 0;
}
