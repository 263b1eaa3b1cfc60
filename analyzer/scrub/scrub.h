/* SPDX-License-Identifier: MIT */
/*
 * A trace without confidential data: without stack bytes, literals of queries and IR, directories, the host name and the arguments of the
 * command; on request also without names and machine code.  All other data is kept, so that reports that do not need these are unchanged.
 * Context: thread.
 */
#ifndef TAILOR_SCRUB_H
#define TAILOR_SCRUB_H

#include "analyzer/model/model.h"
#include "jitreg/trace/writer.h"

struct scrub_options {
	bool names; /* drop names of components, marks and generated functions, and source texts of generated code */
	bool code;  /* drop bytes of generated code, which may contain constants */
};

struct scrub_counts {
	uint64_t samples, stacks, records, unknown; /* unknown: records of a later format version, which are dropped */
};

/* Copy t (of which m is the model) to c.  0, or -errno with a sentence: no memory, or a record that could not be written. */
int scrub_trace(struct trace_reader *t, struct model *m, const struct scrub_options *o, struct trace_writer *c, struct scrub_counts *counts,
		struct diag *d);

/* Is it decided what becomes of a field that holds text or bytes?  (F() of jitreg/trace/schema.h) */
bool scrub_has_rule(uint32_t id, int field);

/* ------------------------------------------------------------------------------------------------ rules for texts */

/* Each changes text in place; none makes it longer.  Returns the new length. */
/* Strings in quotes, and if numbers is set, numbers that are no part of a word: '1995-03-15' and 42 become '?' and 0. */
size_t scrub_literals(char *text, size_t bytes, bool numbers);
/* "/home/ada/db/q3.ll" becomes "/q3.ll". */
size_t scrub_path(char *text, size_t bytes);
/* Paths in a sentence. */
size_t scrub_paths_in(char *text, size_t bytes);
/* A name with a path in it, as hosts give their code: "py::f:/home/ada/x.py" becomes "py::f:/x.py".  text[bytes] may be written. */
size_t scrub_name(char *text, size_t bytes);
/* Strings of an ELF file that are absolute paths, or relative ones of source files: all but names of source files becomes x, as their last
 * part may be a directory; offsets are unchanged.  A compressed section becomes zeros. */
void scrub_strings(char *bytes, size_t nr);
/* Code and constants of an ELF file become 0; symbols, lines and unwind information are kept. */
void scrub_elf_code(char *bytes, size_t nr);

#endif
