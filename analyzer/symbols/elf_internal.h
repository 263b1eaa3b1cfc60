/* SPDX-License-Identifier: MIT */
/* Declares the members of an ELF object, for the files of this folder only. */
#ifndef TAILOR_ELF_INTERNAL_H
#define TAILOR_ELF_INTERNAL_H

#include "analyzer/symbols/debug_shelf.h"
#include "analyzer/symbols/elf_object.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/sorted.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

struct section {
	const char *name;
	uint32_t name_at, type, link, info;
	uint64_t flags, address, bytes, offset;
	const unsigned char *data; /* NULL: no bytes in the file, out of its bounds, in no known part, or not inflated yet */
	/* inflate.c uses these members and `inflated`; `bytes` is the inflated size of a compressed section */
	enum { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD } packing;
	bool failed;
	const unsigned char *packed;
	uint64_t packed_bytes;
	bool is_text_known;
	uint64_t text_bytes; /* bytes up to and including its last NUL, once is_text_known is set by elf_name_at() */
	unsigned char *inflated; /* memory of elf_inflate(), owned; data points there if inflating succeeded */
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
	} known[ELF_KNOWN_MAX]; /* parts whose bytes were added; those beyond ELF_KNOWN_MAX are not listed */
	size_t nr_known;
	bool memory;	  /* it was opened by elf_object_open_memory() */
	bool relocatable; /* symbol values count from their sections */
	bool has_lines;	  /* has bytes of a .debug_line */
	bool has_more;	  /* has .gnu_debugaltlink or .debug_addr, so DWARF may continue in other files: dwz's, or .dwo */
	bool names_file;  /* has .gnu_debugaltlink, by which libdw would open any file that it names; recorders omit this section */
	Elf *elf;
	struct section *sections;
	size_t nr_sections;
	struct elf_object *debug; /* debug file with the symbols, owned; NULL: none */
	struct elf_object *lender; /* another object with the symbols, not owned; NULL: none */
	struct go_table go; /* without functions if this is no Go program (go_symbols.c) */
	/* address of the table, and addresses from which offsets of functions and of inlined calls count; 0: unknown */
	uint64_t go_address, go_text, go_inlined;
	bool functions_read;
	struct elf_function *functions;
	size_t nr_functions;
	bool foreign; /* code of another architecture, whose bytes are not asked for */
	bool plt_read;
	uint64_t plt_address;
	size_t nr_plt;
	const char **plt_names; /* per entry; NULL: no name */
	/* the following members are for lines.c */
	struct {
		char *path, *build_id;
		bool is_counted; /* the budget has what it takes on its disk */
	} elsewhere[ELF_ELSEWHERE_MAX]; /* files of this machine that may have the lines */
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
	uint64_t elsewhere_bytes; /* size of the file that dwarf_fd has open */
	/* the following members are for debug_shelf.c */
	struct debug_shelf *shelf; /* NULL: debug information stays in memory */
	uint32_t shelf_number;
	struct elf_object *newer, *older; /* on the shelf, in memory */
	bool in_memory;
	bool is_lost; /* the shelf could not bring the debug sections back */
	uint32_t nr_loads;
	uint64_t counted_bytes; /* memory of what was read, when another object was asked next */
	char **texts; /* texts of answers, which outlive what they were read from */
	uint32_t nr_texts, texts_capacity;
	uint64_t *asked; /* bits: functions whose lines were asked for; NULL: none */
	struct elf_line *kept_lines; /* while debug information is not in memory: the rows of these functions, sorted by address */
	size_t nr_kept_lines;
	struct hash_map text_of; /* (hash, number of collisions) -> 1 + index in texts */
	/* the following members are for inlines.c */
	bool bodies_read; /* bodies of units with is_everywhere are read; they come first */
	size_t nr_everywhere;
	struct body {
		uint64_t start, end;
		Dwarf *dwarf; /* this file's or a .dwo's */
		Dwarf_Off die;
	} *bodies; /* subprograms of the units read so far, unit by unit, sorted by start */
	size_t nr_bodies, bodies_capacity;
};

/* Returns the number of functions that begin at address or before it. */
size_t elf_functions_up_to(struct elf_object *o, uint64_t address);
/* Opens a file of this machine, and sets *elf. Returns its descriptor, which the caller closes after elf_end(*elf). Returns -1, with *elf
 * NULL, if it cannot be opened, is no regular ELF file or has another build id. */
int elf_file_open(const char *path, const char *build_id, Elf **elf);
/* Do the debug sections of a file of this machine, which libdw would read, fit into the budget? If not, it counts as exceeded. */
bool elf_file_fits(const struct elf_object *o, Elf *elf);
/* Do sections with texts end with a NUL, as libdw has read them?  libdw does not check this, and would read on after their end. */
bool elf_texts_end(Elf *elf);
/* Does a file that libdw would open by itself fit into the budget? If not, it counts as exceeded. The answer is true if there is no file,
 * or a folder, or a file that is not ELF. It is false for a file that cannot be opened, and for a FIFO or a device, for which libdw might
 * wait. folder: absolute, or relative to the debug file's folder, or NULL for that one. */
bool elf_path_fits(const struct elf_object *o, const char *folder, const char *name);
/* Finds the table of functions of a Go program, if there is one. */
void elf_go_find(struct elf_object *o);
/* Sets *out to the functions of that table, in its order of addresses. The caller frees it. Returns 0, or -1 if memory ran out. */
int elf_go_functions(const struct elf_object *o, struct elf_function **out, size_t *nr);
bool elf_go_line(const struct elf_object *o, uint64_t address, struct elf_line *out);
bool elf_go_declaration(const struct elf_object *o, uint64_t address, struct elf_declaration *out);
size_t elf_go_inlines(const struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max);
/* Does a section have that name, or the name ".zdebug_x" if ".debug_x" is asked for? */
bool elf_is_named(const struct section *s, const char *name);
/* Reads the header of a compressed section.  From then on its data is NULL until elf_inflate().  Leaves other sections as they are. */
void elf_note_compression(struct section *s);
/* Inflates a compressed section at the first call.  It has data afterwards unless it is damaged or memory ran out. */
void elf_inflate(struct section *s);
/* Returns an Elf of the object whose debug sections are inflated, which is its own if none is compressed. The object owns it. Returns
 * NULL if it would be too large, or if memory ran out. */
Elf *elf_for_libdw(struct elf_object *o);
void elf_inflate_destroy(struct elf_object *o);
/* Spends steps of the object's budget.  Returns false if it is exceeded. */
static inline bool elf_spend(const struct elf_object *o, uint64_t steps)
{
	return !o->budget || budget_spend(o->budget, steps);
}

/* Spends the thread's CPU time since *since, a value of budget_clock(), and sets *since to now. Returns false if the budget is
 * exceeded. */
static inline bool elf_spend_time(const struct elf_object *o, uint64_t *since)
{
	return !o->budget || budget_spend_time(o->budget, since);
}

/* Returns an upper bound of the bytes that libdw takes for the line table at an offset, or UINT64_MAX if libdw must not be asked for
 * that table. */
uint64_t elf_line_table_room(Dwarf *dwarf, uint64_t offset, const char *folder);
/* May libdw be asked for the lines and files of a unit? Not if its line table is malformed, or would take more memory than the budget
 * has, which counts as exceeded then. */
bool elf_may_read_lines(struct elf_object *o, Dwarf_Die *unit);
/* May libdw open the .dwo file of a unit, by elf_path_fits()?  Also true if the unit has none. */
bool elf_may_read_split(const struct elf_object *o, Dwarf_Die *unit);
/* Reads the address ranges of all compilation units at the first call, and does nothing later. */
void elf_units_read(struct elf_object *o);
/* Returns the compilation unit whose ranges have an address, or NULL if none has. */
struct unit *elf_find_unit(struct elf_object *o, uint64_t address);
/* Is this a debug section that libdw reads for lines and inlined functions? */
bool elf_is_for_libdw(const struct section *s);
/* Brings debug sections into memory if the object is on a shelf.  Returns false if they are lost. */
bool debug_take(struct elf_object *o);
/* Takes the object off its shelf, and frees all that is known for lines and inlined functions. */
void debug_destroy(struct elf_object *o);
/* Returns the number of functions that begin at an address or before it if the last one has the address, else 0. The functions have been
 * read (elf_nr_functions()). */
static inline size_t elf_number_of_function(const struct elf_object *o, uint64_t address)
{
	const size_t nr = SORTED_COUNT(o->nr_functions, i, o->functions[i].address <= address);

	return nr && address - o->functions[nr - 1].address < o->functions[nr - 1].bytes ? nr : 0;
}
/* Notes that lines of a function are asked for, by its elf_number_of_function().  Returns true, with its rows in *row and *nr, if all of
 * them are kept while debug information is not in memory. */
bool debug_find_kept_lines(struct elf_object *o, size_t number, const struct elf_line **row, size_t *nr);
/* Returns a text that stays valid until an object on a shelf is destroyed, or the text itself for other objects.  Returns "" if memory
 * runs out. */
const char *debug_keep_text(struct elf_object *o, const char *text);

#endif
