/* SPDX-License-Identifier: MIT */
/*
 * Copies a trace without confidential data. The copy has no stack bytes (which become call chains), no literals of queries and IR, no
 * directories, no texts of source lines, no host name, no control groups, no full names of threads, and no arguments of the command. On
 * request it has no names and no machine code either. All other data that this version knows is kept, so that reports that do not need
 * these are unchanged. Context: thread.
 */
#ifndef TAILOR_SCRUB_H
#define TAILOR_SCRUB_H

#include "analyzer/model/model.h"
#include "jitreg/trace/writer.h"

struct scrub_options {
	/* drop names of components, generated functions, functions of kernel modules, memory, scopes and services, texts that hosts
	 * announce, and all of a mark's name but its first word */
	bool names;
	bool code;  /* drop machine code of generated code and of image files, and data sections of these, which may contain constants */
};

struct scrub_counts {
	/* stacks: those that were unwound; unknown: records that this version does not know, which are dropped */
	uint64_t samples, stacks, records, unknown;
};

/* Copy t, whose model is m, to c.  Records of samples that cannot be decoded are left out.  Returns 0, or -errno with a sentence if memory
 * runs out, a record cannot be written, or the budget of t is exceeded. */
int scrub_trace(struct trace_reader *t, struct model *m, const struct scrub_options *o, struct trace_writer *c, struct scrub_counts *counts,
		struct diag *d);

/* Returns whether a field of a record has a rule. Tests check that each field with text or bytes has one, so that no new field is copied
 * unconsidered. field: F() of jitreg/trace/schema.h. */
bool scrub_has_rule(uint32_t id, int field);

/* ------------------------------------------------------------------------------------------------ rules for texts */

/* Each function that returns a size changes the text in place, never makes it longer, and returns the new length. */
/* Replaces strings in quotes, and, if numbers is set, numbers that are no part of a word and no label ("12:"). '1995-03-15' becomes '?',
 * and 42 becomes 0. The string behind a quote that is not closed on its line is kept. */
size_t scrub_literals(char *text, size_t bytes, bool numbers);
/* Drops the directories of a path: "/home/ada/db/q3.ll" becomes "/q3.ll", and "db/q3.ll" becomes "/q3.ll" as well. */
size_t scrub_path(char *text, size_t bytes);
/* Drops the directories of the first path in each word of a sentence. */
size_t scrub_paths_in(char *text, size_t bytes);
/* Drops the directories in a name that a host gives its code: "py::f:/home/ada/x.py" becomes "py::f:/x.py". Modules of Node itself
 * ("node:...") are kept. text needs room for another byte, a NUL. */
size_t scrub_name(char *text, size_t bytes);
/* Scrubs the NUL-terminated strings of an ELF file, or of a part of one, that are absolute paths with a second slash, or relative paths of
 * source files. All characters but slashes and the names of source files become x, since the last part of another path may be a directory.
 * Strings of more than 4096 bytes are kept. Offsets are unchanged. If the bytes are a compressed section, whose strings cannot be seen,
 * they become zeros. */
void scrub_strings(char *bytes, size_t nr);
/* Sets the sections with code, and those whose names begin with .rodata, .data, .lrodata or .ldata, of a whole 64-bit ELF file to zeros.
 * Symbols, lines and unwind information are kept. Nothing happens if the header of the file is malformed. */
void scrub_elf_code(char *bytes, size_t nr);

#endif
