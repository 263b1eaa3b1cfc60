/* SPDX-License-Identifier: MIT */
/*
 * ELF and DWARF: functions, lines and unwind sections of images and of objects that existed in a JIT's memory only.  The
 * one door to libdw and libelf.  All input is hostile.
 *
 * Addresses are the file's own (st_value, sh_addr): callers add the load bias.  In a JIT's memory ELF they are final.
 * Context: thread; an object belongs to one thread.
 */
#ifndef TAILOR_ELF_OBJECT_H
#define TAILOR_ELF_OBJECT_H

#include "jitreg/base/diag.h"
#include "jitreg/base/go_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct elf_object;

struct elf_function {
	const char *name; /* as in the symbol table; owned by the object */
	uint64_t address;
	uint64_t bytes; /* 0 when the symbol does not say */
	bool label; /* it says of itself that it is data, or nothing (GHC, assembler): it names code that no function covers */
};

struct elf_line {
	const char *file; /* owned by the object */
	uint32_t line;	  /* 0: the compiler says that there is none */
	uint32_t column;
	uint64_t address; /* of the row, up to end */
	uint64_t end;
};

struct elf_section {
	uint64_t address;
	uint64_t bytes;
	const void *data; /* NULL when the file does not hold it, or none of the parts that are known */
	bool executable;
};

/*
 * An ELF file of file_bytes of which only parts are known; add them, then open.  budget: of all that is asked of it, or NULL; it outlives
 * the object.  Where it is exceeded answers are as if the file did not have what was asked for.
 */
int elf_object_create(uint64_t file_bytes, struct budget *budget, struct elf_object **out, struct diag *d);
int elf_object_add_part(struct elf_object *o, uint64_t file_offset, const void *bytes, size_t nr);
int elf_object_open(struct elf_object *o, struct diag *d);
/* Relocatable object as LLVM hands it to the GDB JIT interface: section addresses final, debug sections not relocated
 * (they are, here, in a private copy). */
int elf_object_open_memory(const void *bytes, size_t nr, struct budget *budget, struct elf_object **out, struct diag *d);
/* debug has the symbols that were taken out of o, which owns it from now on; before the first question.  The first one stays. */
void elf_object_set_debug(struct elf_object *o, struct elf_object *debug);
/* lender is of a file with the same build id, and has the symbols that o lacks; it outlives all questions to o.  Before the first one. */
void elf_object_borrow_symbols(struct elf_object *o, struct elf_object *lender);
/* What its compressed sections, and its debug file's, say that they have inflated: memory that later questions may take. */
uint64_t elf_object_inflated_bytes(const struct elf_object *o);
/* A file of this machine that may have the lines and inlined functions that o lacks: looked at when they are first asked for, and taken if
 * it has the build id (in hex).  Of several the first one that does; beyond eight none is remembered. */
void elf_object_add_lines(struct elf_object *o, const char *path, const char *build_id);
/* A folder with debug files, for objects that are searched for from then on; it must stay.  false: there are eight already. */
bool debug_path_add(const char *folder);
/* Symbols and lines that o lacks, from those folders; path: of its image.  Before the first question. */
void debug_path_search(struct elf_object *o, const char *path, const char *build_id);
void elf_object_destroy(struct elf_object *o);

/* The function that covers address; one without a size reaches to the next, inside of its section.  false: none. */
bool elf_find_function(struct elf_object *o, uint64_t address, struct elf_function *out);
/* Has it a symbol table for debugging, or Go's, here or in its debug file?  .dynsym has what others may call, and no more. */
bool elf_has_symbols(const struct elf_object *o);
bool elf_has_lines(struct elf_object *o);
/* Do its lines and inlined functions go on in files that a trace does not have (.dwo, dwz's)? */
bool elf_object_is_partial(const struct elf_object *o);
/* Is there a file at path, on this machine, that has this build id (in hex)? */
bool elf_file_is(const char *path, const char *build_id);
/* All functions, sorted by address. */
size_t elf_nr_functions(struct elf_object *o);
struct elf_function elf_get_function(struct elf_object *o, size_t i);

/* The bytes of the function that covers address; one without a size ends where the next begins, at most with its section.  An entry of .plt
 * is a function. */
struct elf_code {
	uint64_t address, bytes;
	const unsigned char *data;
};
/* false: there is none, its bytes are not known, or it is a part of one that compilers put elsewhere (".cold"). */
bool elf_find_code(struct elf_object *o, uint64_t address, struct elf_code *out);

/* The line table row that covers address.  false: no row (a row that says line 0 is a row). */
bool elf_find_line(struct elf_object *o, uint64_t address, struct elf_line *out);

/* The nearest rows with a line before and behind address, inside of [start, end).  false for one that is not there. */
void elf_find_lines_around(struct elf_object *o, uint64_t address, uint64_t start, uint64_t end, struct elf_line *before,
			   bool *has_before, struct elf_line *after, bool *has_after);

/* A function that a compiler put into another one, and where that called it. */
struct elf_inline {
	const char *name; /* owned by the object */
	const char *call_file;
	uint32_t call_line; /* 0: unknown */
};
/* The inlined functions that address is in, the innermost first; returns how many, at most max. */
size_t elf_find_inlines(struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max);

/* A Go program's table of functions, and the address that its code is counted from; false: it is none. */
bool elf_find_go(const struct elf_object *o, struct go_table *out, uint64_t *text);
bool elf_find_section(struct elf_object *o, const char *name, struct elf_section *out);
/* n-th executable section (memory ELF: its code ranges); false behind the last. */
bool elf_get_text(struct elf_object *o, size_t n, struct elf_section *out);
/* File offset of a mapping -> the file's address there, by PT_LOAD, where two share a page by the executable one.  false:
 * no segment holds it. */
bool elf_offset_to_address(struct elf_object *o, uint64_t file_offset, uint64_t *address);
/* The code that the kernel jumps to, which has no caller: the dynamic linker's has no unwind information that says so. */
bool elf_is_entry(const struct elf_object *o, uint64_t address);
/* Name of the target of the PLT entry at address, if there is one; owned by the object. */
bool elf_find_plt(struct elf_object *o, uint64_t address, const char **name);

/* Name of the symbol that a relocation of the bytes at address refers to (a JIT's memory ELF: what an instruction calls). */
bool elf_find_reference(struct elf_object *o, uint64_t address, uint64_t bytes, const char **name);

#endif
