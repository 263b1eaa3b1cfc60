/* SPDX-License-Identifier: MIT */
/*
 * Reads the symbols of the running kernel, of its modules and of BPF programs, as /proc/kallsyms lists them (kernel/kallsyms.c):
 *
 *	ffffffff81000080 T entry_SYSCALL_64
 *	ffffffffc0201000 t nft_do_chain	[nf_tables]
 *
 * Lines of modules and programs are unordered, there are no sizes, and users without permission see zeros as addresses.  Invalid lines
 * are skipped.  Context: thread.
 */
#ifndef TAILOR_KALLSYMS_H
#define TAILOR_KALLSYMS_H

#include "jitreg/base/grow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KALLSYMS_PATH "/proc/kallsyms"

struct kallsyms_function {
	uint64_t address, bytes;
	const char *name;   /* both NUL-terminated, and valid until kallsyms_fini() */
	const char *module; /* name as in the file, without brackets; "": the kernel itself */
};

struct kallsyms_symbol;

struct kallsyms {
	ARRAY(struct kallsyms_symbol) symbols;
	ARRAY(char) text; /* names and modules */
	uint64_t hidden; /* lines whose address is 0 */
	bool no_memory; /* a line was lost because memory ran out */
	bool settled; /* symbols are sorted, so no line is added any more */
};

/* Adds one line, without its newline.  A new struct kallsyms is all zeros. */
void kallsyms_add_line(struct kallsyms *k, const char *line, size_t bytes);
/* Adds all lines of a file to a struct kallsyms of all zeros.  Returns 0, -ENOMEM, or -errno if the file cannot be read. */
int kallsyms_read(struct kallsyms *k, const char *path);
/*
 * Adds those lines of a file that kallsyms_find_function() needs for nr addresses to a struct kallsyms of all zeros. The addresses are
 * sorted by this function. If any is not before the last of the kernel's own symbols, all lines of modules are added. All lines of the file
 * are added if wanted is NULL, if lines are in an unusual order, or if very many have one address. Returns 0 or -errno.
 */
int kallsyms_read_near(struct kallsyms *k, const char *path, uint64_t *wanted, size_t nr);
/* Finds the function of an address. Returns false if there is none, and then *out is undefined. Lines that are added after the first call
 * are ignored. */
bool kallsyms_find_function(struct kallsyms *k, uint64_t address, struct kallsyms_function *out);
/* Returns the address of a symbol by its name, or 0 if it is not found. */
uint64_t kallsyms_find_address(const struct kallsyms *k, const char *name);
void kallsyms_fini(struct kallsyms *k);

#endif
