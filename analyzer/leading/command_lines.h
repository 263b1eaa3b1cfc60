/* SPDX-License-Identifier: MIT */
/*
 * Finds a label for each process of a program. A build runs a compiler a hundred times, and one word of each command line tells which file
 * it compiled. Context: thread.
 */
#ifndef TAILOR_COMMAND_LINES_H
#define TAILOR_COMMAND_LINES_H

#include "analyzer/query/report.h"
#include "jitreg/base/hash_map.h"

struct command_words {
	/* (hash of word, hash of program) -> number of the program's processes that have the word; (0, hash of program) -> number of its
	 * processes with a command line */
	struct hash_map processes;
};

/* Count the words of all processes that have a command line. Return false if memory runs out. Call command_words_fini() in any case. */
bool command_words_make(struct command_words *w, const struct model *m);
void command_words_fini(struct command_words *w);

#define COMMAND_LABEL_BYTES 256
/* Write a label such as "cc1 … lapi.c": the program, and the word of p's command line that the fewest of the program's processes have, if
 * not all of them do. Options, the word after -o and files in /tmp do not count. If p is the program's only process and has a long command
 * line, the word is the first file in it. If there is no such word, the label is the beginning of the command line, without the program's
 * folder. p must have a command line. */
void command_words_label(const struct command_words *w, const struct process *p, bool utf8, char text[COMMAND_LABEL_BYTES]);

#endif
