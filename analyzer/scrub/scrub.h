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

/* Copy t (of which m is the model) to c.  Returns 0, or -errno with a sentence if memory runs out or a record cannot be written. */
int scrub_trace(struct trace_reader *t, struct model *m, const struct scrub_options *o, struct trace_writer *c, struct scrub_counts *counts,
		struct diag *d);

/* Does a field that holds text or bytes have a rule?  Tests check that each one has.  field: F() of jitreg/trace/schema.h. */
bool scrub_has_rule(uint32_t id, int field);

/* ------------------------------------------------------------------------------------------------ rules for texts */

/* Each rule changes text in place, never makes it longer, and returns the new length. */
/* Replace strings in quotes, and if numbers is set, numbers that are no part of a word: '1995-03-15' and 42 become '?' and 0. */
size_t scrub_literals(char *text, size_t bytes, bool numbers);
/* Drop the directories of a path: "/home/ada/db/q3.ll" becomes "/q3.ll". */
size_t scrub_path(char *text, size_t bytes);
/* Drop the directories of all paths in a sentence. */
size_t scrub_paths_in(char *text, size_t bytes);
/* Drop the directories in a name that a host gives its code: "py::f:/home/ada/x.py" becomes "py::f:/x.py".  Writes text[bytes]. */
size_t scrub_name(char *text, size_t bytes);
/* Scrub the strings of an ELF file that are absolute paths, or relative paths of source files.  All but the names of source files becomes
 * x, since the last part of another path may be a directory.  Offsets are unchanged.  A compressed section becomes zeros. */
void scrub_strings(char *bytes, size_t nr);
/* Zero the code and constants of an ELF file.  Symbols, lines and unwind information are kept. */
void scrub_elf_code(char *bytes, size_t nr);

#endif
