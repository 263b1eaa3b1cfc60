/* SPDX-License-Identifier: MIT */
/* Finds functions, lines and inlined functions of Go programs in the table that all Go programs have (jitreg/base/go_table.h). */
#include "analyzer/symbols/elf_internal.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 64 /* depth of nested inlined calls */

/* Returns the bytes of runtime.moduledata, which the recorder keeps as a part of the file, or NULL if there are none. */
static const unsigned char *find_module(const struct elf_object *o, uint64_t table)
{
	const uint64_t begin[2] = { table, table + o->go.names };

	for (size_t i = 0; i < o->nr_known; i++)
		if (o->known[i].bytes >= GO_MODULE_BYTES && memcmp(o->data + o->known[i].offset, begin, sizeof(begin)) == 0)
			return o->data + o->known[i].offset;
	return NULL;
}

static const struct section *find_section(const struct elf_object *o, const char *name)
{
	for (size_t i = 0; i < o->nr_sections; i++)
		if (o->sections[i].name && strcmp(o->sections[i].name, name) == 0)
			return &o->sections[i];
	return NULL;
}

static bool find_address(const struct elf_object *o, uint64_t offset, uint64_t *address)
{
	size_t nr;

	if (elf_getphdrnum(o->elf, &nr))
		return false;
	for (size_t i = 0; i < nr && i < 4096; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(o->elf, (int)i, &ph) && ph.p_type == PT_LOAD && offset - ph.p_offset < ph.p_filesz) {
			*address = ph.p_vaddr + (offset - ph.p_offset);
			return true;
		}
	}
	return false;
}

/* Opens the table of a file without sections.  The recorder has found the table there, so that a known part begins with it. */
static bool open_part(struct elf_object *o, uint64_t *address)
{
	for (size_t i = 0; o->nr_sections <= 1 && i < o->nr_known; i++)
		if (go_table_open(o->data + o->known[i].offset, o->known[i].bytes, &o->go))
			return find_address(o, o->known[i].offset, address);
	return false;
}

static bool open_section(struct elf_object *o, uint64_t *address)
{
	const struct section *s = find_section(o, ".gopclntab");

	s = s ? s : find_section(o, ".data.rel.ro.gopclntab");
	if (!s || !s->data)
		return false;
	*address = s->address;
	return go_table_open(s->data, s->bytes, &o->go);
}

void elf_go_find(struct elf_object *o)
{
	const struct section *text = find_section(o, ".text");
	const unsigned char *module;

	if (!open_section(o, &o->go_address) && !open_part(o, &o->go_address)) {
		o->go.nr_functions = 0;
		return;
	}
	o->go_text = o->go.text ? o->go.text : text ? text->address : 0;
	module = find_module(o, o->go_address);
	if (module)
		go_module_read(&o->go, module, &o->go_text, &o->go_inlined);
}

bool elf_find_go(const struct elf_object *o, struct go_table *out, uint64_t *text)
{
	*out = o->go;
	*text = o->go_text;
	return o->go.nr_functions > 0;
}

int elf_go_functions(const struct elf_object *o, struct elf_function **out, size_t *nr)
{
	struct elf_function *all = malloc(((size_t)o->go.nr_functions + 1) * sizeof(*all));

	if (!all)
		return -1;
	*nr = 0;
	for (uint32_t i = 0; i < o->go.nr_functions; i++) {
		struct go_function f;
		const char *name = go_table_function(&o->go, i, &f) ? go_table_name(&o->go, f.name) : NULL;

		if (name && *name)
			all[(*nr)++] = (struct elf_function){ .name = name, .address = o->go_text + f.start, .bytes = f.end - f.start };
	}
	*out = all;
	return 0;
}

static bool find_function(const struct elf_object *o, uint64_t address, struct go_function *out)
{
	uint32_t n = go_table_find(&o->go, address - o->go_text);

	return n != GO_NONE && go_table_function(&o->go, n, out);
}

static bool find_line(const struct elf_object *o, const struct go_function *f, uint32_t place, struct elf_line *out)
{
	struct go_values file, line;
	const char *name;

	if (!go_values_find(&o->go, f, GO_LINE, place, &line) || !go_values_find(&o->go, f, GO_FILE, place, &file) ||
	    !(name = go_table_file(&o->go, f, file.value)))
		return false;
	*out = (struct elf_line){ .file = name, .line = line.value > 0 ? (uint32_t)line.value : 0 };
	out->address = o->go_text + f->start + (line.from > file.from ? line.from : file.from);
	out->end = o->go_text + f->start + (line.to < file.to ? line.to : file.to);
	return true;
}

bool elf_go_line(const struct elf_object *o, uint64_t address, struct elf_line *out)
{
	struct go_function f;

	return find_function(o, address, &f) && find_line(o, &f, (uint32_t)(address - o->go_text - f.start), out);
}

bool elf_go_declaration(const struct elf_object *o, uint64_t address, struct elf_declaration *out)
{
	struct elf_line first = { 0 };
	struct go_function f;

	if (!find_function(o, address, &f) || !f.start_line || f.start_line > INT32_MAX)
		return false;
	find_line(o, &f, 0, &first);
	*out = (struct elf_declaration){ first.file, f.start_line };
	return true;
}

/* Returns nr bytes at an address in a known part of a file without sections, or NULL. */
static const unsigned char *bytes_in_part(const struct elf_object *o, uint64_t address, uint64_t nr)
{
	uint64_t begin;

	for (size_t i = 0; o->nr_sections <= 1 && i < o->nr_known; i++)
		if (find_address(o, o->known[i].offset, &begin) && address - begin < o->known[i].bytes &&
		    nr <= o->known[i].bytes - (address - begin))
			return o->data + o->known[i].offset + (address - begin);
	return NULL;
}

/* Returns nr bytes at an address of the file, in Go's table, in a section or in a known part, or NULL if they are not known. */
static const unsigned char *bytes_at(const struct elf_object *o, uint64_t address, uint64_t nr)
{
	if (address - o->go_address < o->go.nr && nr <= o->go.nr - (address - o->go_address))
		return o->go.bytes + (address - o->go_address);
	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *s = &o->sections[i];

		if (s->data && s->flags & SHF_ALLOC && address - s->address < s->bytes && nr <= s->bytes - (address - s->address))
			return s->data + (address - s->address);
	}
	return bytes_in_part(o, address, nr);
}

size_t elf_go_inlines(const struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max)
{
	struct go_function f;
	uint32_t place;
	size_t nr = 0;

	if (!o->go_inlined || !find_function(o, address, &f) || f.inlined == GO_NONE)
		return 0;
	place = (uint32_t)(address - o->go_text - f.start);
	for (int steps = 0; nr < max && steps < STEPS_MAX; steps++) {
		uint64_t each = go_inlined_bytes(&o->go);
		struct elf_line line = { 0 }, own = { 0 };
		const unsigned char *calls;
		struct go_inlined call;
		struct go_values v;
		const char *name;

		if (!go_values_find(&o->go, &f, GO_INLINED, place, &v) || v.value < 0 || v.value >= (int32_t)GO_INLINED_MAX)
			break;
		calls = bytes_at(o, o->go_inlined + f.inlined, each * ((uint64_t)v.value + 1));
		if (!calls)
			break;
		call = go_inlined_read(&o->go, calls, (uint32_t)v.value);
		name = go_table_name(&o->go, call.name);
		find_line(o, &f, place, &own);
		place = call.parent;
		if (!name || !*name)
			break;
		find_line(o, &f, place, &line);
		out[nr++] = (struct elf_inline){ name, line.file ? line.file : "", line.line,
						 { own.file, call.start_line > INT32_MAX ? 0 : call.start_line } };
	}
	return nr;
}
