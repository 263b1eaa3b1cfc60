/* SPDX-License-Identifier: MIT */
/*
 * A trace without what it must not tell: stack bytes, literals of queries and IR, directories, the machine's name and the command's
 * arguments; on request also names and machine code.  Everything else stays, so that reports that need none of it are the same.
 * Context: thread.
 */
#ifndef TAILOR_SCRUB_H
#define TAILOR_SCRUB_H

#include "analyzer/model/model.h"
#include "jitreg/trace/writer.h"

struct scrub_options {
	bool names; /* of components, marks and generated functions, and the texts that code was generated from */
	bool code;  /* bytes of generated code: constants may stand in it */
};

struct scrub_counts {
	uint64_t samples, stacks, records, unknown; /* unknown: records of a later version, which are left out */
};

/* Copy t (of which m is the model) to c.  0, or -errno with a sentence: no memory, or a record that could not be written. */
int scrub(struct trace_reader *t, struct model *m, const struct scrub_options *o, struct trace_writer *c, struct scrub_counts *counts,
	  struct diag *d);

/* ------------------------------------------------------------------------------------------------ rules for texts */

/* Each changes text in place; none makes it longer.  Returns the new length. */
/* What stands in quotes, and with numbers also those that stand alone: '1995-03-15' and 42 become '?' and 0. */
size_t scrub_literals(char *text, size_t bytes, bool numbers);
/* "/home/ada/db/q3.ll" becomes "/q3.ll". */
size_t scrub_path(char *text, size_t bytes);
/* Paths inside of a sentence. */
size_t scrub_paths_in(char *text, size_t bytes);
/* Strings of an ELF file that are paths: their directories become x, and nothing moves. */
void scrub_strings(char *bytes, size_t nr);
/* Code and constants of an ELF file become 0; symbols, lines and unwind information stay. */
void scrub_elf_code(char *bytes, size_t nr);

#endif
