/* SPDX-License-Identifier: MIT */
/*
 * The growing trace that `tailor top` reads.  Either a recorder of its own writes it, as epochs in a folder that is removed at the end, or
 * it is the newest epoch of a store, which `tailor watch` records.  Context: thread.
 */
#ifndef TAILOR_TOP_FOLLOW_H
#define TAILOR_TOP_FOLLOW_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	char *folder, *path, *before; /* path: newest trace; before: the trace before it; NULL: none yet */
	pid_t recorder;	     /* 0: `tailor top` started none */
	int said;	     /* memfd with the messages of the recorder and, with is_hidden, the output of its command */
	bool owns_folder;
	int status; /* wait status of the recorder, once it has ended, as from waitpid() */
};

#define FOLLOW_NONE { .said = -1 }

/* Start `tailor WORDS...`, with options after the first word that make it write epochs into a temporary folder.  is_hidden: its standard
 * output and error go to a buffer that follow_said() reads.  Returns 0, or -errno with a sentence; call follow_end() in any case. */
int follow_record(struct follow *f, char **words, bool is_hidden, struct diag *d);
/* Follow the traces in folder.  Returns 0, or -errno with a sentence if it cannot be read or has no trace. */
int follow_folder(struct follow *f, const char *folder, struct diag *d);
/* Call after follow_folder().  Returns 0 if a recorder is writing the newest trace, else -errno with a sentence that names the store. */
int follow_store(struct follow *f, const char *store, struct diag *d);
/* Look for a newer trace.  true: f->path has changed. */
bool follow_look(struct follow *f);
/* The recorder of `tailor top` has ended, with its host or because it could not begin. */
bool follow_has_ended(struct follow *f);
/* Copies the last line that the recorder printed to text, or "". */
const char *follow_said(const struct follow *f, char *text, size_t bytes);
/* Have the recorder end this epoch, and copy its trace to a file of the working folder, whose name is then in name.  follow_look() finds
 * the next epoch later.  Returns 0, or -errno with a sentence. */
int follow_keep(struct follow *f, char *name, size_t bytes, struct diag *d);
/* Ends the recorder, and waits for it.  The host goes on. */
void follow_end(struct follow *f);

#endif
