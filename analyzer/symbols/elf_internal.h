/* SPDX-License-Identifier: MIT */
/* The fields of an ELF object, for the files of this folder only. */
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
	const unsigned char *data; /* NULL: no bytes in the file, out of its bounds, in no known part, or not inflated yet */
	/* used by inflate.c; bytes is the inflated size */
	enum { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD } packing;
	bool failed;
	const unsigned char *packed;
	uint64_t packed_bytes;
	bool is_text_known;
	uint64_t text_bytes; /* bytes up to its last NUL, for elf_name_at() */
	unsigned char *inflated; /* owned; equals data after elf_inflate() */
};

#define SECTIONS_A_STEP 8
#define ELF_FILE_BYTES_MAX (16ull << 30) /* limit of address space; memory is taken for the known parts only */

#define ELF_KNOWN_MAX 64
#define ELF_ELSEWHERE_MAX 8

struct elf_object {
	unsigned char *data;
	uint64_t bytes;
	struct budget *budget; /* NULL: there is no limit */
	struct {
		uint64_t offset, bytes;
	} known[ELF_KNOWN_MAX]; /* parts that were filled in; later ones are not listed */
	size_t nr_known;
	bool memory;	  /* object from a JIT's memory */
	bool relocatable; /* symbol values count from their sections */
	bool has_lines;	  /* has bytes of a .debug_line */
	bool has_more;	  /* DWARF continues in other files: .dwo, or those of dwz */
	bool names_file;  /* names a file that libdw would open, whichever it is; recorders omit this section */
	Elf *elf;
	struct section *sections;
	size_t nr_sections;
	struct elf_object *debug; /* debug file with the symbols; NULL: none */
	struct elf_object *lender; /* another object with the symbols, not owned; NULL: none */
	struct go_table go; /* without functions if this is no Go program (go_symbols.c) */
	uint64_t go_address, go_text, go_inlined; /* addresses of the table, and where functions and inlined calls count from; 0: unknown */
	bool functions_read;
	struct elf_function *functions;
	size_t nr_functions;
	bool plt_read;
	uint64_t plt_address;
	size_t nr_plt;
	const char **plt_names; /* per entry; NULL: no name */
	/* used by lines.c */
	struct {
		char *path, *build_id;
	} elsewhere[ELF_ELSEWHERE_MAX]; /* other files that may have the lines */
	size_t nr_elsewhere;
	bool lines_read;
	Dwarf *dwarf;
	unsigned char *plain; /* object for libdw if sections are compressed; see elf_for_libdw() */
	uint64_t plain_bytes;
	Elf *plain_elf;
	Elf *dwarf_elf; /* file of this machine that dwarf reads, open as dwarf_fd; NULL: dwarf reads this object */
	int dwarf_fd;
	struct unit {
		Dwarf_Off die;
		bool lines_read, bodies_read;
		bool is_everywhere; /* has no address ranges, so any address may belong to it */
		size_t first_body, nr_bodies;
	} *units; /* compilation units, sorted by offset */
	size_t nr_units, units_capacity;
	struct unit_range {
		uint64_t start, end;
		size_t unit;
	} *ranges; /* sorted by start */
	size_t nr_ranges, ranges_capacity;
	struct hash_map line_tables; /* (Dwarf, offset) -> LINE_TABLE_* */
	struct elf_line *lines; /* rows of the units read so far, sorted by address */
	size_t nr_lines, lines_capacity;
	/* used by inlines.c */
	bool bodies_read; /* bodies of units with is_everywhere are read; they come first */
	size_t nr_everywhere;
	struct body {
		uint64_t start, end;
		Dwarf *dwarf; /* this file's or a .dwo's */
		Dwarf_Off die;
	} *bodies; /* subprograms of the units read so far, unit by unit, sorted by start */
	size_t nr_bodies, bodies_capacity;
};

/* Number of functions that begin at address or before it. */
size_t elf_functions_up_to(struct elf_object *o, uint64_t address);
/* Opens a file of this machine.  Returns its descriptor, or -1 if it is no regular ELF file or has another build id. */
int elf_file_open(const char *path, const char *build_id, Elf **elf);
/* Do the debug sections of a file of this machine, which libdw would read, fit into the budget? */
bool elf_file_fits(const struct elf_object *o, Elf *elf);
/* Do sections with texts end with a NUL, as libdw has read them?  libdw does not check this, and would read on after their end. */
bool elf_texts_end(Elf *elf);
/* Does a file that libdw would open by itself fit into the budget?  Also true if there is none.  false for a FIFO, for which libdw would
 * wait.  folder: absolute, or relative to the debug file's folder, or NULL for that one. */
bool elf_path_fits(const struct elf_object *o, const char *folder, const char *name);
/* Finds the table of functions of a Go program, if there is one. */
void elf_go_find(struct elf_object *o);
/* The functions of that table, sorted by address; the caller frees *out.  Returns 0, or -1 without memory. */
int elf_go_functions(const struct elf_object *o, struct elf_function **out, size_t *nr);
bool elf_go_line(const struct elf_object *o, uint64_t address, struct elf_line *out);
size_t elf_go_inlines(const struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max);
/* Does a section have that name, or the name ".zdebug_x" if ".debug_x" is asked for? */
bool elf_is_named(const struct section *s, const char *name);
/* Reads the header of a compressed section, which is packed from now on.  Leaves other sections as they are. */
void elf_note_compression(struct section *s);
/* Inflates a packed section, which has data afterwards unless that failed. */
void elf_inflate(struct section *s);
/* The object with its debug sections inflated; NULL: too large, or without memory. */
Elf *elf_for_libdw(struct elf_object *o);
void elf_inflate_destroy(struct elf_object *o);
/* Spends steps of the budget.  false: it is exceeded. */
static inline bool elf_spend(const struct elf_object *o, uint64_t steps)
{
	return !o->budget || budget_spend(o->budget, steps);
}

/* Spends processor time of a library since *since, a value of budget_clock().  *since becomes now.  false: the budget is exceeded. */
static inline bool elf_spend_time(const struct elf_object *o, uint64_t *since)
{
	return !o->budget || budget_spend_time(o->budget, since);
}

/* Memory in bytes that libdw takes for the line table at an offset; UINT64_MAX: it must not be asked for that table. */
uint64_t elf_line_table_room(Dwarf *dwarf, uint64_t offset, const char *folder);
/* May libdw be asked for the lines and files of a unit? */
bool elf_may_read_lines(struct elf_object *o, Dwarf_Die *unit);
/* May libdw open the file that the rest of a unit is in? */
bool elf_may_read_split(const struct elf_object *o, Dwarf_Die *unit);
/* Reads the compilation units, at the first call. */
void elf_units_read(struct elf_object *o);
/* The compilation unit that describes an address; NULL: none does. */
struct unit *elf_find_unit(struct elf_object *o, uint64_t address);
void elf_inlines_destroy(struct elf_object *o);
void elf_lines_destroy(struct elf_object *o);

#endif
