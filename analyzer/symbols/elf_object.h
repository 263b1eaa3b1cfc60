/* SPDX-License-Identifier: MIT */
/*
 * Reads ELF and DWARF: functions, lines and unwind sections of images and of objects that existed in a JIT's memory only. Only this folder
 * uses libdw and libelf. No input is trusted.
 *
 * Addresses are the file's own (st_value, sh_addr), and callers add the load bias. In an ELF object of a JIT's memory they are final.
 * Context: thread. An object belongs to one thread.
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
	/* name in a symbol table of the object, its debug file or its lender, or in Go's table; it is valid as long as the object and its
	 * lender */
	const char *name;
	uint64_t address;
	uint64_t bytes; /* 0: the symbol has no size */
	/* Other functions with the same code, which a linker has folded into one (--icf): the name of one of them, and how many there are.
	 * Aliases of one function do not count. */
	const char *folded;
	uint32_t nr_folded;
	bool label; /* symbol for data or without a type (GHC, assembler), which names code that no function covers */
};

struct elf_line {
	const char *file; /* owned by the object */
	uint32_t line;	  /* 0: the line table says that the code has no line */
	uint32_t column;
	uint64_t address; /* first address of the row's code, which reaches up to end */
	uint64_t end;
};

struct elf_section {
	uint64_t address;
	uint64_t bytes;
	const void *data; /* NULL: the section has no bytes in the file, or in no known part */
	bool executable;
};

/*
 * Creates an ELF object for a file of file_bytes of which only parts are known. Add the parts, then open it. budget: that of all work on
 * the object, which must outlive it, or NULL for no limit. Once it is exceeded, answers are as if the file lacked the information.
 * elf_object_add_part() copies the bytes, and returns 0, or -EBADMSG if they are not within the file. The other two return 0, or -errno
 * with the reason in d.
 */
int elf_object_create(uint64_t file_bytes, struct budget *budget, struct elf_object **out, struct diag *d);
int elf_object_add_part(struct elf_object *o, uint64_t file_offset, const void *bytes, size_t nr);
int elf_object_open(struct elf_object *o, struct diag *d);
/* Opens a copy of a relocatable object as LLVM registers it with the GDB JIT interface.  Its section addresses are final, but LLVM has
 * not relocated its debug sections and .eh_frame, so they are relocated in the copy.  Returns 0, or -errno with the reason in d. */
int elf_object_open_memory(const void *bytes, size_t nr, struct budget *budget, struct elf_object **out, struct diag *d);
/* Gives o a debug file with the symbols that were stripped from it. From now on, o owns debug. Call before the first question. If o has
 * a debug file already, or if its functions have been read, debug is destroyed. */
void elf_object_set_debug(struct elf_object *o, struct elf_object *debug);
/* Lets o use the symbols of lender, an object of a file with the same build id, which must outlive o. Call before the first question.
 * Does nothing if lender is o or borrows symbols itself, or if o's functions have been read. */
void elf_object_borrow_symbols(struct elf_object *o, struct elf_object *lender);
/* Returns the bytes of the inflated sections of o and its debug file, as their headers claim.  Later questions may take so much memory. */
uint64_t elf_object_inflated_bytes(const struct elf_object *o);
/* Adds a file of this machine that may have the lines and inlined functions that o lacks.  When they are first asked for, the first of
 * these files that has this build id (in hex) is used.  At most eight are remembered, and none if o has all lines itself. */
void elf_object_add_lines(struct elf_object *o, const char *path, const char *build_id);
/* Adds a folder, which must stay valid, in which debug_path_search() looks for debug files. Returns false if there are eight already. */
bool debug_path_add(const char *folder);
/* Adds symbols and lines that o lacks from files in the folders of debug_path_add(). path: the path of o's image. Call before the first
 * question. */
void debug_path_search(struct elf_object *o, const char *path, const char *build_id);
/* Does the same, if o has no symbols, from this machine's package of debug symbols with the build id (in hex). */
void debug_path_search_machine(struct elf_object *o, const char *build_id);
void elf_object_destroy(struct elf_object *o);

/* Finds the function that covers address.  A function without a size reaches to the next function or to the end of its section.  Returns
 * false if there is none. */
bool elf_find_function(struct elf_object *o, uint64_t address, struct elf_function *out);
/* Has the object or its debug file a .symtab or Go's table of functions, or does it borrow symbols? A .dynsym does not count, since it has
 * exported functions only. */
bool elf_has_symbols(const struct elf_object *o);
/* Has the object line tables or Go's table of functions, or has one of the files of elf_object_add_lines() debug information? The first
 * call opens these files, and reads the list of compilation units. */
bool elf_has_lines(struct elf_object *o);
/* May lines and inlined functions of the object be in further files, which traces do not contain (.dwo files, dwz's)?  The sections
 * .gnu_debugaltlink and .debug_addr tell this, so true does not prove it.  The caller then looks for the file on this machine. */
bool elf_object_is_partial(const struct elf_object *o);
/* Is there an ELF file at path, on this machine, that has this build id (in hex)? */
bool elf_file_is(const char *path, const char *build_id);
/* Return the number of functions, and function i of them in the order of addresses. */
size_t elf_nr_functions(struct elf_object *o);
struct elf_function elf_get_function(struct elf_object *o, size_t i);

/* These are the bytes of a function. One without a size ends where the next one begins, or with its section. An entry of .plt is a
 * function. */
struct elf_code {
	uint64_t address, bytes;
	const unsigned char *data;
};
/* Finds the code of the function that covers address.  Returns false if there is none, if its bytes are not known, or if it is a part
 * that compilers moved out of a function (".cold"). */
bool elf_find_code(struct elf_object *o, uint64_t address, struct elf_code *out);

/* Finds the line table row that covers address.  Returns false if there is none.  A row with line 0 counts as a row. */
bool elf_find_line(struct elf_object *o, uint64_t address, struct elf_line *out);

/* Finds the nearest rows with a line, before and after address, that begin in [start, end). *has_before, *has_after: is there one? */
void elf_find_lines_around(struct elf_object *o, uint64_t address, uint64_t start, uint64_t end, struct elf_line *before,
			   bool *has_before, struct elf_line *after, bool *has_after);

/* This is the place in the source where a function is declared. */
struct elf_declaration {
	const char *file; /* owned by the object; NULL: unknown */
	uint32_t line;	  /* 0: unknown */
};

/* This is an inlined function, with the file ("" if unknown) and line of its call. */
struct elf_inline {
	const char *name; /* owned by the object */
	const char *call_file;
	uint32_t call_line; /* 0: unknown */
	struct elf_declaration declared;
};
/* Finds the inlined functions around address, the innermost first.  Returns how many there are, at most max. */
size_t elf_find_inlines(struct elf_object *o, uint64_t address, struct elf_inline *out, size_t max);

/* Finds the declaration of the function that has a frame at address, not of one that is inlined there.  Returns false if neither debug
 * information nor Go's table has its line. */
bool elf_find_declaration(struct elf_object *o, uint64_t address, struct elf_declaration *out);

/* Sets *out to a Go program's table of functions, and *text to the address from which its offsets of code count.  Returns false if this
 * is no Go program. */
bool elf_find_go(const struct elf_object *o, struct go_table *out, uint64_t *text);
bool elf_find_section(struct elf_object *o, const char *name, struct elf_section *out);
/* Finds the n-th executable section that is not empty, which is a code range of a JIT's object.  Returns false if there are no more. */
bool elf_get_text(struct elf_object *o, size_t n, struct elf_section *out);
/* Converts the file offset of a mapping to the file's address, by PT_LOAD.  If two segments share a page, the executable one is used.
 * Returns false if no segment has the offset. */
bool elf_offset_to_address(struct elf_object *o, uint64_t file_offset, uint64_t *address);
/* Finds how far elf_offset_to_address() goes on in step with the file's offsets, from one in an executable segment. Returns false if no
 * executable segment has the offset. */
struct elf_mapped_range {
	uint64_t address, bytes; /* of file_offset; from there */
};
bool elf_find_mapped_range(struct elf_object *o, uint64_t file_offset, struct elf_mapped_range *out);
/* Is address in the 64 bytes at the file's entry point, whose code has no caller?  Unwinding has to end there, but the dynamic linker's
 * unwind information does not say so. */
bool elf_is_entry(const struct elf_object *o, uint64_t address);
/* Sets *name to the name of the target of the PLT entry at address, which the object owns. Returns false if there is no entry, or if it
 * has no name. */
bool elf_find_plt(struct elf_object *o, uint64_t address, const char **name);

/* Sets *name to the name of the symbol that a relocation of the bytes at address refers to, which the object owns. In a JIT's object this
 * is what an instruction calls or refers to. Returns false if there is none. */
bool elf_find_reference(struct elf_object *o, uint64_t address, uint64_t bytes, const char **name);

#endif
