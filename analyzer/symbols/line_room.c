/* SPDX-License-Identifier: MIT */
/*
 * Estimates the memory that libdw takes for a line table, before libdw is asked for it.  libdw has no limit, and keeps all rows and a path
 * for each file.  The estimate is an upper bound, by the least number of bytes that a row or file takes in the table.
 */
#include "analyzer/symbols/elf_internal.h"

#include "jitreg/base/leb128.h"

#include <dwarf.h>
#include <string.h>

/* bytes of a row: libdw's row with its list node while it reads the table, and the row of lines.c, in arrays that grow */
#define ROW_BYTES 256u
#define FILE_BYTES 128u /* bytes of a file without its name */
#define LTO ".gnu.debuglto_"
#define NAMES_MAX (64u << 20)

struct table {
	Elf_Data *texts, *line_texts; /* .debug_str, .debug_line_str; NULL: no such section */
	const unsigned char *at, *end;
	uint64_t offset_bytes; /* 4 or 8 */
	bool bad;
	uint64_t longest_folder, nr_files, name_bytes;
};

static uint64_t take(struct table *t, uint64_t bytes)
{
	uint64_t v = 0;

	t->bad |= bytes > (uint64_t)(t->end - t->at);
	if (t->bad)
		return 0;
	memcpy(&v, t->at, bytes < sizeof(v) ? bytes : sizeof(v));
	t->at += bytes;
	return v;
}

static uint64_t take_number(struct table *t)
{
	uint64_t v = 0;

	t->bad |= !leb128_take(&t->at, t->end, &v);
	return v;
}

static uint64_t take_text(struct table *t)
{
	uint64_t bytes = strnlen((const char *)t->at, (size_t)(t->end - t->at));

	take(t, bytes + 1);
	return bytes;
}

/* Is `found` one of the names by which libdw knows section `name`? */
static bool is_section(const char *found, const char *name)
{
	const struct section s = { .name = found };
	size_t bytes = strlen(name);

	return elf_is_named(&s, name) || (strncmp(found, name, bytes) == 0 && strcmp(found + bytes, ".dwo") == 0) ||
	       (strncmp(found, LTO, strlen(LTO)) == 0 && strcmp(found + strlen(LTO), name) == 0);
}

/* Finds a section as libdw reads it, inflated already.  Returns false if there are several, since libdw does not say which one it takes. */
static bool find_section(Elf *elf, const char *name, Elf_Data **out)
{
	Elf_Scn *scn = NULL;
	size_t names;

	*out = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr h;
		const char *found = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		if (found && is_section(found, name)) {
			if (*out)
				return false;
			*out = elf_getdata(scn, NULL);
		}
	}
	return true;
}

static uint64_t bytes_of_text_at(const Elf_Data *data, uint64_t offset)
{
	return data && data->d_buf && offset < data->d_size ? strnlen((const char *)data->d_buf + offset, data->d_size - offset) : 0;
}

/* Reads a value.  Returns its length if it is a text, else 0. */
static uint64_t take_form(struct table *t, uint64_t form)
{
	switch (form) {
	case DW_FORM_string:
		return take_text(t);
	case DW_FORM_line_strp:
		return bytes_of_text_at(t->line_texts, take(t, t->offset_bytes));
	case DW_FORM_strp:
		return bytes_of_text_at(t->texts, take(t, t->offset_bytes));
	case DW_FORM_udata:
		take_number(t);
		return 0;
	case DW_FORM_block:
		take(t, take_number(t));
		return 0;
	case DW_FORM_data1:
		take(t, 1);
		return 0;
	case DW_FORM_data2:
		take(t, 2);
		return 0;
	case DW_FORM_data4:
		take(t, 4);
		return 0;
	case DW_FORM_data8:
		take(t, 8);
		return 0;
	case DW_FORM_data16:
		take(t, 16);
		return 0;
	}
	t->bad = true; /* compilers use no other forms */
	return 0;
}

/* Reads entries of version 5, in front of which are their format and their number. Returns the number. */
static uint64_t take_entries(struct table *t, uint64_t *longest)
{
	uint64_t form[256], nr_forms = take(t, 1), nr;

	for (uint64_t i = 0; i < nr_forms; i++) {
		take_number(t);
		form[i] = take_number(t);
	}
	nr = take_number(t);
	t->bad |= nr_forms == 0 && nr > 0;
	for (uint64_t i = 0; i < nr && !t->bad; i++)
		for (uint64_t f = 0; f < nr_forms; f++) {
			uint64_t bytes = take_form(t, form[f]);

			*longest = bytes > *longest ? bytes : *longest;
			t->name_bytes += bytes + 1;
			t->bad |= t->name_bytes > NAMES_MAX; /* bounds the time of this loop, too */
		}
	return nr;
}

static void take_old_entries(struct table *t)
{
	while (!t->bad && t->at < t->end && *t->at) {
		uint64_t bytes = take_text(t);

		t->longest_folder = bytes > t->longest_folder ? bytes : t->longest_folder;
		t->name_bytes += FILE_BYTES;
	}
	take(t, 1);
	while (!t->bad && t->at < t->end && *t->at) {
		t->name_bytes += take_text(t);
		for (int i = 0; i < 3; i++)
			take_number(t);
		t->nr_files++;
	}
	take(t, 1);
}

/* Counts the bytes that can be opcodes of rows, and returns their number, since each row needs one such byte.  Counts the files that the
 * program defines, too, which have the bytes "0, length, 3". */
static uint64_t count_rows(struct table *t, unsigned opcode_base)
{
	uint64_t nr = 0;

	for (const unsigned char *p = t->at; p < t->end && !t->bad; p++) {
		nr += *p >= opcode_base || *p == DW_LNS_copy;
		if (*p == DW_LNE_define_file && p - t->at >= 2 && p[-2] == 0) {
			t->nr_files++;
			t->name_bytes += strnlen((const char *)p + 1, (size_t)(t->end - p - 1));
			t->bad |= t->name_bytes > NAMES_MAX;
		}
	}
	return nr;
}

uint64_t elf_line_table_room(Dwarf *dwarf, uint64_t offset, const char *folder)
{
	struct table t = { .offset_bytes = 4, .longest_folder = folder ? strlen(folder) : 0 };
	Elf *elf = dwarf_getelf(dwarf);
	uint64_t bytes, version, opcode_base, rows;
	Elf_Data *data;

	if (!find_section(elf, ".debug_line", &data) || !find_section(elf, ".debug_str", &t.texts) ||
	    !find_section(elf, ".debug_line_str", &t.line_texts))
		return UINT64_MAX;
	if (!data || !data->d_buf)
		return 0;
	if (offset >= data->d_size)
		return UINT64_MAX;
	t.at = (const unsigned char *)data->d_buf + offset;
	t.end = (const unsigned char *)data->d_buf + data->d_size;
	bytes = take(&t, 4);
	if (bytes == UINT32_MAX) {
		t.offset_bytes = 8;
		bytes = take(&t, 8);
	}
	if (t.bad || bytes > (uint64_t)(t.end - t.at))
		return UINT64_MAX;
	t.end = t.at + bytes;
	version = take(&t, 2);
	take(&t, version >= 5 ? 2 : 0);
	take(&t, t.offset_bytes + (version >= 4 ? 5 : 4));
	opcode_base = take(&t, 1);
	take(&t, opcode_base ? opcode_base - 1 : UINT64_MAX);
	if (!t.bad && version >= 5) {
		uint64_t nr_folders = take_entries(&t, &t.longest_folder), none = 0;

		t.nr_files = take_entries(&t, &none) + nr_folders;
	} else if (!t.bad) {
		take_old_entries(&t);
	}
	rows = count_rows(&t, (unsigned)opcode_base);
	if (t.bad || t.longest_folder > UINT32_MAX) /* so that the product below does not overflow */
		return UINT64_MAX;
	return rows * ROW_BYTES + t.nr_files * (FILE_BYTES + t.longest_folder) + t.name_bytes;
}
