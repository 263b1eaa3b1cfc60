/* SPDX-License-Identifier: MIT */
/* Line tables by libdw: all rows of an object as one sorted array, built when the first address is asked for. */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>

#define ROWS_MAX (64u << 20)

void elf_lines_destroy(struct elf_object *o)
{
	free(o->lines);
	if (o->dwarf)
		dwarf_end(o->dwarf); /* owns the file names */
}

static bool add_row(struct elf_object *o, const struct elf_line *row)
{
	if (o->nr_lines >= ROWS_MAX || !GROW(o->lines, o->nr_lines, o->lines_capacity))
		return false;
	o->lines[o->nr_lines++] = *row;
	return true;
}

/* A unit's rows, sorted by address as libdw has them; a row reaches to the next, an end_sequence row to nothing. */
static void add_unit(struct elf_object *o, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t nr;

	if (dwarf_getsrclines(unit, &lines, &nr))
		return;
	for (size_t i = 0; i + 1 < nr; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
		struct elf_line row = { 0 };
		Dwarf_Addr start, end;
		int line = 0, column = 0;
		bool ends = false;

		if (!l || !next || dwarf_lineaddr(l, &start) || dwarf_lineaddr(next, &end) || end <= start ||
		    dwarf_lineendsequence(l, &ends) || ends)
			continue;
		dwarf_lineno(l, &line);
		dwarf_linecol(l, &column);
		row.file = dwarf_linesrc(l, NULL, NULL);
		row.line = line > 0 ? (uint32_t)line : 0;
		row.column = column > 0 ? (uint32_t)column : 0;
		row.address = start;
		row.end = end;
		if (!row.file)
			row.file = "";
		if (!add_row(o, &row))
			return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct elf_line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address ? 1 : 0;
}

void elf_lines_read(struct elf_object *o)
{
	Dwarf_Off at = 0, next;
	size_t header;
	Elf *elf;

	if (o->lines_read)
		return;
	o->lines_read = true;
	elf = elf_for_libdw(o);
	o->dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	while (o->dwarf && dwarf_nextcu(o->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (next <= at)
			break;
		if (dwarf_offdie(o->dwarf, at + header, &unit))
			add_unit(o, &unit);
		at = next;
	}
	if (o->nr_lines)
		qsort(o->lines, o->nr_lines, sizeof(*o->lines), by_address);
}

bool elf_has_lines(const struct elf_object *o)
{
	return o->has_lines || o->go.nr_functions;
}

/* Index of the first row behind address. */
static size_t upper_bound(struct elf_object *o, uint64_t address)
{
	size_t up_to;

	elf_lines_read(o);
	up_to = SORTED_COUNT(o->nr_lines, i, o->lines[i].address <= address);
	return up_to;
}

bool elf_find_line(struct elf_object *o, uint64_t address, struct elf_line *out)
{
	size_t i = upper_bound(o, address);

	if (i == 0 || o->lines[i - 1].end <= address)
		return elf_go_line(o, address, out);
	*out = o->lines[i - 1];
	return true;
}

void elf_find_lines_around(struct elf_object *o, uint64_t address, uint64_t start, uint64_t end, struct elf_line *before,
			   bool *has_before, struct elf_line *after, bool *has_after)
{
	size_t at = upper_bound(o, address);

	*has_before = *has_after = false;
	for (size_t i = at; i > 0 && o->lines[i - 1].address >= start && !*has_before; i--)
		if (o->lines[i - 1].line) {
			*before = o->lines[i - 1];
			*has_before = true;
		}
	for (size_t i = at; i < o->nr_lines && o->lines[i].address < end && !*has_after; i++)
		if (o->lines[i].line) {
			*after = o->lines[i];
			*has_after = true;
		}
}
