/* SPDX-License-Identifier: MIT */
/* Follows the growing trace that `tailor top` reads.  Either a recorder of its own writes it, as epochs in a folder that is removed at
 * the end, or it is the newest epoch of a store, which `tailor watch` records.  Context: thread. */
#ifndef TAILOR_TOP_FOLLOW_H
#define TAILOR_TOP_FOLLOW_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	char *folder, *path, *before; /* path: newest trace; before: the trace before it; NULL: none yet */
	pid_t recorder;	     /* pid of the recorder; 0: `tailor top` started none; -1: it has ended, or fork() failed */
	int said;	     /* memfd for the output of a hidden recorder and its command; -1: `tailor top` started no recorder */
	bool owns_folder;
	int status; /* wait status of the recorder, once it has ended, as from waitpid() */
};

#define FOLLOW_NONE { .said = -1 }

/* Starts `tailor WORDS...`, with options after the first word that make it write epochs into a temporary folder. is_hidden: its standard
 * output and error go to a buffer that follow_said() reads. Otherwise both go to standard error. Returns 0, or -errno with the reason in d.
 * Call follow_end() in any case. */
int follow_record(struct follow *f, char **words, bool is_hidden, struct diag *d);
/* Follows the traces in a folder.  Returns 0, or -errno with the reason in d if it cannot be read or has no trace. */
int follow_folder(struct follow *f, const char *folder, struct diag *d);
/* Call after follow_folder(). Returns 0 if a recorder is writing the newest trace, else -errno with the reason in d. Waits up to a second
 * for such a trace, because the next epoch may be about to begin. store: its name in messages. */
int follow_store(struct follow *f, const char *store, struct diag *d);
/* Looks for a newer trace. Returns true if f->path has changed. The former trace then becomes f->before, and the former f->before is
 * removed if the folder is a temporary one. */
bool follow_look(struct follow *f);
/* Reaps the recorder of `tailor top` if it has ended, and then sets f->status, and f->recorder to -1. Returns whether it has ended. If
 * `tailor top` started none, returns false. */
bool follow_has_ended(struct follow *f);
/* Returns the last line that a hidden recorder or its command printed, or "". The result is in text, which gets the last bytes - 1 bytes of
 * the output. */
const char *follow_said(const struct follow *f, char *text, size_t bytes);
/* Makes the recorder, if `tailor top` started one, end this epoch, and copies the trace at f->path to a file of the working folder, whose
 * name is then in name. follow_look() finds the next epoch later. Returns 0, or -errno with the reason in d. This may take ten seconds. */
int follow_keep(struct follow *f, char *name, size_t bytes, struct diag *d);
/* Ends the recorder, and waits for it.  Processes to which it was attached go on, and a command that it runs gets SIGTERM.  Removes a
 * temporary folder. */
void follow_end(struct follow *f);

#endif
