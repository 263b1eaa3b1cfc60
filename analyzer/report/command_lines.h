/* SPDX-License-Identifier: MIT */
/*
 * A label for each process of a program. A build runs a compiler a hundred times, and one word of each command line tells which file it
 * compiled. Context: thread.
 */
#ifndef TAILOR_COMMAND_LINES_H
#define TAILOR_COMMAND_LINES_H

#include "analyzer/query/report.h"
#include "jitreg/base/hash_map.h"

struct command_words {
	struct hash_map processes; /* (word, program) -> number of its processes with the word; (0, program) -> number of its processes */
};

/* Count the words of all processes that have a command line. Return false without memory. Call command_words_fini() in any case. */
bool command_words_make(struct command_words *w, const struct model *m);
void command_words_fini(struct command_words *w);

#define COMMAND_LABEL_BYTES 256
/* Write a label such as "cc1 … lapi.c": the program, and the word of the command line that the fewest of the program's processes have.
 * Options and files in /tmp do not count. A program's only process with a long command line is labelled with the first file of that line.
 * All others get the beginning of the command line. p has a command line. */
void command_words_label(const struct command_words *w, const struct process *p, bool utf8, char text[COMMAND_LABEL_BYTES]);

#endif
