/* SPDX-License-Identifier: MIT */
/*
 * The trace that `tailor top` reads while it grows: of a recorder of its own, which cuts it into epochs in a folder that goes when it ends,
 * or the newest of a store's epochs, which `tailor watch` records.  Context: thread.
 */
#ifndef TAILOR_TOP_FOLLOW_H
#define TAILOR_TOP_FOLLOW_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	char *folder, *path, *before; /* path: of the newest trace; before: of the one before it; NULL: there is none yet */
	pid_t recorder;	     /* 0: another's */
	int said;	     /* what our recorder says, and, where that would be in the way, what its command writes */
	bool owns_folder;
	int status; /* of our recorder, once it has ended: as waitpid() has it */
};

#define FOLLOW_NONE { .said = -1 }

/* Start `tailor WORDS...` with the options that make it write into a folder of ours behind the first word.  is_hidden: what is written on
 * its standard output and error is kept (follow_said()).  0 or -errno with a sentence; follow_end() in any case. */
int follow_record(struct follow *f, char **words, bool is_hidden, struct diag *d);
/* The traces of folder.  0, or -errno with a sentence: it cannot be read, or there is none. */
int follow_folder(struct follow *f, const char *folder, struct diag *d);
/* Behind it: does a recorder write the newest of them?  0, or -errno with a sentence that has the store's name. */
int follow_store(struct follow *f, const char *store, struct diag *d);
/* Look for a newer trace.  true: f->path is another one now. */
bool follow_look(struct follow *f);
/* Our recorder has ended: with its host, or because it could not begin. */
bool follow_has_ended(struct follow *f);
/* The last line of what the recorder said, or "", in text. */
const char *follow_said(const struct follow *f, char *text, size_t bytes);
/* Have the recorder end this epoch, and copy its trace to a file of the working folder, whose name is then in name; the newer one is
 * follow_look()'s to find.  0 or -errno with a sentence. */
int follow_keep(struct follow *f, char *name, size_t bytes, struct diag *d);
/* Ends the recorder, and waits for it; the host goes on. */
void follow_end(struct follow *f);

#endif
