/* SPDX-License-Identifier: MIT */
/* Reads line tables by libdw.  The address ranges of compilation units are read when the first address is asked for.  The rows of a unit
 * are read when an address in it is first asked for, and merged into one sorted array.  Rows of units without ranges are read at once. */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX (64u << 20)
#define RANGES_MAX (16u << 20)
#define ROWS_A_STEP 8
/* This is the number of ranges before an address that are searched. Ranges of functions that the linker dropped begin at 0, and overlap
 * others. */
#define RANGES_BACK 8

void elf_object_add_lines(struct elf_object *o, const char *path, const char *build_id)
{
	size_t n = o->nr_elsewhere;

	if ((o->has_lines && !o->has_more) || n == ELF_ELSEWHERE_MAX)
		return;
	o->elsewhere[n].path = strdup(path);
	o->elsewhere[n].build_id = strdup(build_id);
	o->nr_elsewhere++;
}

static void open_dwarf(struct elf_object *o, bool has_sections)
{
	const void *build_id;
	struct stat st;
	const char *shared; /* file in which dwz put the common parts of several files */
	Elf *elf;

	for (size_t i = 0; i < o->nr_elsewhere && !o->dwarf; i++) {
		if (!o->elsewhere[i].path || !o->elsewhere[i].build_id)
			continue;
		o->dwarf_fd = elf_file_open(o->elsewhere[i].path, o->elsewhere[i].build_id, &o->dwarf_elf);
		if (o->dwarf_fd < 0)
			continue;
		o->elsewhere_bytes = fstat(o->dwarf_fd, &st) == 0 ? (uint64_t)st.st_size : 0;
		if (o->budget && o->elsewhere_bytes && !o->elsewhere[i].is_counted)
			budget_add_file(o->budget, &st);
		o->elsewhere[i].is_counted = true;
		o->dwarf = elf_file_fits(o, o->dwarf_elf) ? dwarf_begin_elf(o->dwarf_elf, DWARF_C_READ, NULL) : NULL;
		if (o->dwarf && elf_texts_end(o->dwarf_elf) &&
		    (dwelf_dwarf_gnu_debugaltlink(o->dwarf, &shared, &build_id) <= 0 || elf_path_fits(o, NULL, shared)))
			return;
		dwarf_end(o->dwarf);
		o->dwarf = NULL;
		elf_end(o->dwarf_elf);
		close(o->dwarf_fd);
		o->dwarf_elf = NULL;
	}
	elf = o->names_file || !has_sections ? NULL : elf_for_libdw(o);
	if (elf)
		o->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
}

enum { LINE_TABLE_FITS = 1, LINE_TABLE_REFUSED = 2, LINE_TABLE_ADDED = 3 };

/* Sets *offset to the offset of a unit's line table.  Returns false if the unit has none, and *offset is 0 then. */
static bool find_line_table(Dwarf_Die *unit, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word;

	*offset = 0;
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &word))
		return false;
	*offset = word;
	return true;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* A unit of a .dwo file names no line table.  Its table of files begins at offset 0 of its own file, and its rows belong to the unit that
 * it was split from. */
bool elf_may_read_lines(struct elf_object *o, Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	uint64_t offset, room;
	uint32_t known;

	find_line_table(unit, &offset);
	known = hash_map_find(&o->line_tables, (uintptr_t)dwarf, offset);
	if (known)
		return known != LINE_TABLE_REFUSED;
	room = elf_line_table_room(dwarf, offset, text_of(unit, DW_AT_comp_dir));
	known = room == UINT64_MAX || (o->budget && !budget_has_room(o->budget, room)) ? LINE_TABLE_REFUSED : LINE_TABLE_FITS;
	return hash_map_set(&o->line_tables, (uintptr_t)dwarf, offset, known) && known == LINE_TABLE_FITS;
}

/* Checks both places where libdw looks for a .dwo file: the folder where the unit was compiled, and the debug file's folder. */
bool elf_may_read_split(const struct elf_object *o, Dwarf_Die *unit)
{
	const char *name = text_of(unit, DW_AT_dwo_name);

	name = name ? name : text_of(unit, DW_AT_GNU_dwo_name);
	return !name || (elf_path_fits(o, NULL, name) && elf_path_fits(o, text_of(unit, DW_AT_comp_dir), name));
}

static bool add_line_row(struct elf_object *o, const struct elf_line *row)
{
	if (o->nr_lines >= ROWS_MAX || !GROW(o->lines, o->nr_lines, o->lines_capacity))
		return false;
	o->lines[o->nr_lines++] = *row;
	return true;
}

/*
 * Is a row no code, because it is at the address where a sequence has ended?  The last rows of a sequence may be at its end, and cover no
 * bytes.  After sorting they follow the row that ends the sequence, and would reach to the next sequence.  But the first row of a sequence
 * that begins at that address is code.  The ranges of a unit with this table have its address then.
 */
static bool is_past_the_end(struct elf_object *o, uint64_t address, uint64_t table)
{
	struct unit *unit = o->nr_ranges ? elf_find_unit(o, address) : NULL;
	uint64_t offset;
	Dwarf_Die die;

	return o->nr_ranges && !(unit && dwarf_offdie(o->dwarf, unit->die, &die) && find_line_table(&die, &offset) && offset == table);
}

/* Adds a unit's rows, which libdw sorts by address.  A row reaches to the next one, and an end_sequence row covers nothing. */
static void add_unit_lines(struct elf_object *o, Dwarf_Die *unit)
{
	Dwarf_Addr ended = 0;
	Dwarf_Lines *lines;
	uint64_t offset;
	size_t nr;

	/* many units share one table if compilers or dwz moved parts out of them, so each table is added once */
	if (!find_line_table(unit, &offset) || hash_map_find(&o->line_tables, (uintptr_t)o->dwarf, offset) == LINE_TABLE_ADDED ||
	    !elf_may_read_lines(o, unit) || dwarf_getsrclines(unit, &lines, &nr) ||
	    !hash_map_set(&o->line_tables, (uintptr_t)o->dwarf, offset, LINE_TABLE_ADDED))
		return;
	for (size_t i = 0; i + 1 < nr; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
		struct elf_line row = { 0 };
		Dwarf_Addr start, end;
		int line = 0, column = 0;
		bool ends = false;

		if (!l || !next || dwarf_lineaddr(l, &start) || dwarf_lineaddr(next, &end) || dwarf_lineendsequence(l, &ends))
			continue;
		if (ends)
			ended = start;
		if (ends || end <= start || (start == ended && is_past_the_end(o, start, offset)))
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
		if (!add_line_row(o, &row))
			return;
	}
}

static int compare_line_addresses(const void *a, const void *b)
{
	const struct elf_line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address ? 1 : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Adds the address ranges of a unit.  Returns false if it has none. */
static bool add_ranges(struct elf_object *o, Dwarf_Die *die, size_t unit)
{
	Dwarf_Addr base, start, end;
	size_t before = o->nr_ranges;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && elf_spend(o, 1)) {
		if (start >= end)
			continue;
		if (o->nr_ranges >= RANGES_MAX || !GROW(o->ranges, o->nr_ranges, o->ranges_capacity))
			break;
		o->ranges[o->nr_ranges++] = (struct unit_range){ start, end, unit };
	}
	return o->nr_ranges > before;
}

void elf_units_read(struct elf_object *o)
{
	Dwarf_Off at = 0, next;
	bool has_sections = debug_take(o);
	uint64_t since;
	size_t header;

	if (o->lines_read)
		return;
	o->lines_read = true;
	since = budget_clock();
	open_dwarf(o, has_sections);
	while (o->dwarf && elf_spend_time(o, &since) && dwarf_nextcu(o->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die die;

		if (next <= at)
			break;
		if (dwarf_offdie(o->dwarf, at + header, &die) && GROW(o->units, o->nr_units, o->units_capacity)) {
			o->units[o->nr_units++] = (struct unit){ .die = at + header };
			if (!add_ranges(o, &die, o->nr_units - 1))
				o->units[o->nr_units - 1].is_everywhere = o->units[o->nr_units - 1].lines_read = true;
		}
		at = next;
	}
	if (o->nr_ranges)
		qsort(o->ranges, o->nr_ranges, sizeof(*o->ranges), by_start);
	for (size_t i = 0; i < o->nr_units && elf_spend_time(o, &since); i++) {
		Dwarf_Die die;

		if (o->units[i].is_everywhere && dwarf_offdie(o->dwarf, o->units[i].die, &die))
			add_unit_lines(o, &die);
	}
	if (o->nr_lines)
		qsort(o->lines, o->nr_lines, sizeof(*o->lines), compare_line_addresses);
}

struct unit *elf_find_unit(struct elf_object *o, uint64_t address)
{
	size_t up_to;

	elf_units_read(o);
	up_to = SORTED_COUNT(o->nr_ranges, i, o->ranges[i].start <= address);
	for (size_t i = up_to; i > 0 && i + RANGES_BACK > up_to; i--)
		if (address < o->ranges[i - 1].end)
			return &o->units[o->ranges[i - 1].unit];
	return NULL;
}

/* Merges the sorted rows from `from` on with the sorted rows before them.  If memory runs out, the rows from `from` on are dropped. */
static void merge_rows(struct elf_object *o, size_t from)
{
	size_t nr = o->nr_lines - from, at = from, to = o->nr_lines;
	struct elf_line *new = nr ? malloc(nr * sizeof(*new)) : NULL;

	if (!new) {
		o->nr_lines = from;
		return;
	}
	elf_spend(o, o->nr_lines / ROWS_A_STEP);
	memcpy(new, o->lines + from, nr * sizeof(*new));
	while (nr)
		if (at && o->lines[at - 1].address > new[nr - 1].address)
			o->lines[--to] = o->lines[--at];
		else
			o->lines[--to] = new[--nr];
	free(new);
}

static void need_rows(struct elf_object *o, uint64_t address)
{
	struct unit *unit = elf_find_unit(o, address);
	uint64_t since = unit && !unit->lines_read ? budget_clock() : 0;
	size_t before = o->nr_lines;
	Dwarf_Die die;

	if (!unit || unit->lines_read || !elf_spend(o, 0))
		return;
	unit->lines_read = true;
	if (dwarf_offdie(o->dwarf, unit->die, &die))
		add_unit_lines(o, &die);
	merge_rows(o, before);
	elf_spend_time(o, &since);
}

bool elf_has_lines(struct elf_object *o)
{
	elf_units_read(o);
	return o->has_lines || o->go.nr_functions || (o->dwarf_elf && o->nr_units);
}

/* Returns the index of the first row that begins after address, once the rows of its unit have been read.  Sets *row and *nr to the
 * rows, of which a file without units has none. */
static size_t upper_bound(struct elf_object *o, uint64_t address, const struct elf_line **row, size_t *nr)
{
	const bool has_units = !o->lines_read || o->nr_units;
	const size_t number = has_units && o->shelf && elf_nr_functions(o) ? elf_number_of_function(o, address) : 0;

	if (!has_units || !debug_find_kept_lines(o, number, row, nr)) {
		if (has_units)
			need_rows(o, address);
		*row = o->lines;
		*nr = o->nr_lines;
	}
	return SORTED_COUNT(*nr, i, (*row)[i].address <= address);
}

bool elf_find_line(struct elf_object *o, uint64_t address, struct elf_line *out)
{
	const struct elf_line *row;
	size_t nr, i = upper_bound(o, address, &row, &nr);

	if (i == 0 || row[i - 1].end <= address)
		return elf_go_line(o, address, out);
	*out = row[i - 1];
	out->file = debug_keep_text(o, out->file);
	return true;
}

void elf_find_lines_around(struct elf_object *o, uint64_t address, uint64_t start, uint64_t end, struct elf_line *before,
			   bool *has_before, struct elf_line *after, bool *has_after)
{
	const struct elf_line *row;
	size_t nr, at = upper_bound(o, address, &row, &nr);

	*has_before = *has_after = false;
	for (size_t i = at; i > 0 && row[i - 1].address >= start && !*has_before; i--)
		if (row[i - 1].line) {
			*before = row[i - 1];
			before->file = debug_keep_text(o, before->file);
			*has_before = true;
		}
	for (size_t i = at; i < nr && row[i].address < end && !*has_after; i++)
		if (row[i].line) {
			*after = row[i];
			after->file = debug_keep_text(o, after->file);
			*has_after = true;
		}
}
