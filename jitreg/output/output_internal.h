/* SPDX-License-Identifier: MIT */
/* The .c files of this folder share these functions. Context: thread. */
#ifndef TAILOR_OUTPUT_INTERNAL_H
#define TAILOR_OUTPUT_INTERNAL_H

#include "jitreg/output/output_file.h"

/* The following functions of output_place.c check and open what exists at a path. output_cannot_write() stores the sentence "PATH:
 * cannot be written: WHY", with the text of error if why is NULL, and returns -error. */

int output_cannot_write(struct diag *d, const char *path, int error, const char *why);

/* Returns the descriptor that a path names ("-", /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N), or -1 if it names a file. */
int output_place_descriptor(const char *path);
/* Set o->existed, and o->before if there is a file at the path, and check that the file may be replaced or, if it is no regular file,
 * written to.  With o->keep_old, also check that PATH.old may be replaced.  Returns 0, or -errno with a sentence. */
int output_place_check(struct output_file *o, struct diag *d);
/* Open a FIFO or a device for non-blocking writes.  Returns a descriptor, or -errno with a sentence, also if a FIFO has no reader. */
int output_place_open_special(const char *path, struct diag *d);
/* Open the FIFO or the device that is open as descriptor once more, for non-blocking writes.  Returns a descriptor, or -errno with a
 * sentence, also if it is a terminal or a file. */
int output_place_open_descriptor(const char *path, int descriptor, struct diag *d);

/* The following functions of output_name.c make files without a name, and give them one. */

/* Create a new file in o->folder, as o->fd: one without a name, or the hidden file o->temporary.  Returns 0, or -errno with a sentence. */
int output_name_create(struct output_file *o, struct diag *d);
/* Give the file its name, in place of the file that was there at first. Returns 0, or -errno with a sentence (-EEXIST if another program
 * has written there meanwhile). */
int output_name_take(struct output_file *o, struct diag *d);
void output_name_remove_temporary(struct output_file *o);
/* Remove or rename files in the folder of the output, by system calls or by a steward (file_changes.h).  Return 0, or -1 with errno. */
int output_name_remove(const struct output_file *o, const char *name);
int output_name_rename(const struct output_file *o, const char *from, const char *to);

#endif
