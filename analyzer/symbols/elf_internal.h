/* SPDX-License-Identifier: MIT */
/* An ELF object inside: for the files of this folder only. */
#ifndef TAILOR_ELF_INTERNAL_H
#define TAILOR_ELF_INTERNAL_H

#include "analyzer/symbols/elf_object.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/hash_map.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

struct section {
	const char *name;
	uint32_t name_at, type, link, info;
	uint64_t flags, address, bytes, offset;
	const unsigned char *data; /* NULL: not in the file, out of it, in none of its parts, or not inflated yet */
	/* inflate.c; bytes is what it has inflated */
	enum { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD } packing;
	bool failed;
	const unsigned char *packed;
	uint64_t packed_bytes;
	bool is_text_known;
	uint64_t text_bytes; /* up to its last NUL: elf_name_at() */
	unsigned char *inflated; /* owned: data, when it was asked for alone */
};

#define SECTIONS_A_STEP 8
#define ELF_FILE_BYTES_MAX (16ull << 30) /* of address space, not memory: parts alone are filled in */

#define ELF_KNOWN_MAX 64
#define ELF_ELSEWHERE_MAX 8

struct elf_object {
	unsigned char *data;
	uint64_t bytes;
	struct budget *budget; /* NULL: there is no limit */
	struct {
		uint64_t offset, bytes;
	} known[ELF_KNOWN_MAX]; /* parts that were filled in; what came later is not listed */
	size_t nr_known;
	bool memory;	  /* a JIT's */
	bool relocatable; /* symbols count from their sections */
	bool has_lines;	  /* a .debug_line, of which there are bytes */
	bool has_more;	  /* its DWARF goes on in other files: .dwo, or what dwz made */
	bool names_file;  /* libdw would open the one that it names, whatever that is; recorders leave the section out */
	Elf *elf;
	struct section *sections;
	size_t nr_sections;
	struct elf_object *debug; /* with its symbols; NULL: they are here, or nowhere */
	struct elf_object *lender; /* another one with its symbols, which is not owned; NULL: there is none */
	struct go_table go; /* no functions: it is no Go program (go_symbols.c) */
	uint64_t go_address, go_text, go_inlined; /* of the table, of what functions and inlined calls count from; 0: not known */
	bool functions_read;
	struct elf_function *functions;
	size_t nr_functions;
	bool plt_read;
	uint64_t plt_address;
	size_t nr_plt;
	const char **plt_names; /* NULL: of no name */
	/* lines.c */
	struct {
		char *path, *build_id;
	} elsewhere[ELF_ELSEWHERE_MAX]; /* where lines may be */
	size_t nr_elsewhere;
	bool lines_read;
	Dwarf *dwarf;
	unsigned char *plain; /* what libdw reads where sections are compressed: elf_for_libdw() */
	uint64_t plain_bytes;
	Elf *plain_elf;
	Elf *dwarf_elf; /* of a file of this machine, which dwarf_fd is; NULL: of this object */
	int dwarf_fd;
	struct unit {
		Dwarf_Off die;
		bool lines_read, bodies_read;
		bool is_everywhere; /* it does not say which addresses it describes */
		size_t first_body, nr_bodies;
	} *units; /* of compilation, by offset */
	size_t nr_units, units_capacity;
	struct unit_range {
		uint64_t start, end;
		size_t unit;
	} *ranges; /* by start */
	size_t nr_ranges, ranges_capacity;
	struct hash_map line_tables; /* by Dwarf and offset: LINE_TABLE_* */
	struct elf_line *lines; /* of the units that were asked for, by address */
	size_t nr_lines, lines_capacity;
	/* inlines.c */
	bool bodies_read; /* of units that are everywhere, the first ones */
	size_t nr_everywhere;
	struct body {
		uint64_t start, end;
		Dwarf *dwarf; /* of this file or of a .dwo */
		Dwarf_Off die;
	} *bodies; /* of subprograms of the units that were asked for, unit by unit, by start */
	size_t nr_bodies, bodies_capacity;
};

/* How many of the functions begin at address or before. */
size_t elf_functions_up_to(struct elf_object *o, uint64_t address);
/* A file of this machine: -1: it is no regular one, or has another build id. */
int elf_file_open(const char *path, const char *build_id, Elf **elf);
/* Does what libdw would read of a file of this machine fit into the budget? */
bool elf_file_fits(const struct elf_object *o, Elf *elf);
/* Do the sections that have texts end with a NUL, as libdw has read them?  It looks for none: texts would go on behind them. */
bool elf_texts_end(Elf *elf);
/* As well of a file that libdw opens by itself, if there is one: it would wait for a FIFO.  folder: absolute, from the debug file's, or
 * NULL for that. */
bool elf_path_fits(const struct elf_object *o, const char *folder, const char *name);
/* A Go program's table of functions, if it has one. */
void elf_go_find(struct elf_object *o);
/* Its functions, which the caller frees, by address; -1 without memory. */
int elf_go_functions(const struct elf_object *o, struct elf_function **out, size_t *nr);
bool elf_go_line(const struct elf_object *o, uint64_t address, struct elf_line *out);
size_t elf_go_inlines(const struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max);
/* Has it that name, or ".zdebug_x" where ".debug_x" is asked for? */
bool elf_is_named(const struct section *s, const char *name);
/* A section as the file has it: from now on packed, if it is compressed. */
void elf_note_compression(struct section *s);
/* It has data afterwards, if it is packed and can be inflated. */
void elf_inflate(struct section *s);
/* The object with its debug sections inflated; NULL without memory. */
Elf *elf_for_libdw(struct elf_object *o);
void elf_inflate_destroy(struct elf_object *o);
/* false: more than there is. */
static inline bool elf_spend(const struct elf_object *o, uint64_t steps)
{
	return !o->budget || budget_spend(o->budget, steps);
}

/* Of libraries' work since *since, which was budget_clock(). */
static inline bool elf_spend_time(const struct elf_object *o, uint64_t *since)
{
	return !o->budget || budget_spend_time(o->budget, since);
}

/* How much memory libdw takes for the line table at an offset; UINT64_MAX: it must not be asked. */
uint64_t elf_line_table_room(Dwarf *dwarf, uint64_t offset, const char *folder);
/* May libdw be asked for the lines and files of a unit? */
bool elf_may_read_lines(struct elf_object *o, Dwarf_Die *unit);
/* May libdw open the file that the rest of a unit is in? */
bool elf_may_read_split(const struct elf_object *o, Dwarf_Die *unit);
/* The units of compilation are known from then on. */
void elf_units_read(struct elf_object *o);
/* The one that describes an address; NULL: none does. */
struct unit *elf_find_unit(struct elf_object *o, uint64_t address);
void elf_inlines_destroy(struct elf_object *o);
void elf_lines_destroy(struct elf_object *o);

#endif
