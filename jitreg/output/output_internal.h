/* SPDX-License-Identifier: MIT */
/* Functions that the .c files of this folder share.  Context: thread. */
#ifndef TAILOR_OUTPUT_INTERNAL_H
#define TAILOR_OUTPUT_INTERNAL_H

#include "jitreg/output/output_file.h"

/* output_place.c: checks of the existing file at a path. */

int output_cannot_write(struct diag *d, const char *path, int error, const char *why);

/* The descriptor that a path names ("-" is standard output), or -1. */
int output_place_descriptor(const char *path);
/* Set o->before and o->existed, and check that the existing file may be replaced or written to.  Returns 0, or -errno with a sentence. */
int output_place_check(struct output_file *o, struct diag *d);
/* Open a FIFO or a device for writing.  Returns a descriptor, or -errno with a sentence. */
int output_place_open_special(const char *path, struct diag *d);
/* Open a FIFO or a device, which this process has open already, for non-blocking writes.  Returns a descriptor, or -errno with a
 * sentence. */
int output_place_open_descriptor(const char *path, int descriptor, struct diag *d);

/* output_name.c: files without a name, and giving them one. */

/* Create a new file in o->folder, as o->fd.  Returns 0, or -errno with a sentence. */
int output_name_create(struct output_file *o, struct diag *d);
/* Give the file its name.  Returns 0, or -errno with a sentence. */
int output_name_take(struct output_file *o, struct diag *d);
void output_name_remove_temporary(struct output_file *o);
/* Remove or rename files in the folder of the output.  Return -1 with errno on failure, as the system calls. */
int output_name_remove(const struct output_file *o, const char *name);
int output_name_rename(const struct output_file *o, const char *from, const char *to);

#endif
