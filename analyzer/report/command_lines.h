/* SPDX-License-Identifier: MIT */
/*
 * What tells the processes of a program apart: a compiler runs a hundred times in a build, and one word of each command line says of which
 * file it was.  Context: thread.
 */
#ifndef TAILOR_COMMAND_LINES_H
#define TAILOR_COMMAND_LINES_H

#include "analyzer/query/report.h"
#include "jitreg/base/hash_map.h"

struct command_words {
	struct hash_map processes; /* (word, program) -> how many of its processes have it; (0, program) -> how many there are */
};

/* Of all processes that have a command line.  false without memory; command_words_fini() in any case. */
bool command_words_make(struct command_words *w, const struct model *m);
void command_words_fini(struct command_words *w);

#define COMMAND_LABEL_BYTES 256
/* "cc1 … lapi.c": the program and the word of the command line that the fewest of its processes have, options and files in /tmp apart; of
 * a program's only process with a long command line its first file; else the beginning of the command line.  p: with a command line. */
void command_words_label(const struct command_words *w, const struct process *p, bool utf8, char text[COMMAND_LABEL_BYTES]);

#endif
