/* SPDX-License-Identifier: MIT */
/* Functions that the .c files of this room share.  Context: thread. */
#ifndef TAILOR_OUTPUT_INTERNAL_H
#define TAILOR_OUTPUT_INTERNAL_H

#include "jitreg/output/output_file.h"

/* output_place.c: what stands at a path. */

int output_cannot_write(struct diag *d, const char *path, int error, const char *why);

/* The descriptor that a path names ("-" is standard output), or -1. */
int output_place_descriptor(const char *path);
/* May what stands there (o->before, o->existed) be replaced or written to?  0 or -errno with a sentence. */
int output_place_check(struct output_file *o, struct diag *d);
/* A FIFO or a device, for writing: a descriptor, or -errno with a sentence. */
int output_place_open_special(const char *path, struct diag *d);
/* A FIFO or a device that this process has open already, for writing without a wait. */
int output_place_open_descriptor(const char *path, int descriptor, struct diag *d);

/* output_name.c: a file without a name, and how it takes one. */

/* o->fd, a new file in o->folder.  0 or -errno with a sentence. */
int output_name_create(struct output_file *o, struct diag *d);
/* 0 or -errno with a sentence. */
int output_name_take(struct output_file *o, struct diag *d);
void output_name_remove_temporary(struct output_file *o);
/* In the output's folder, as the system calls: -1 and errno. */
int output_name_remove(const struct output_file *o, const char *name);
int output_name_rename(const struct output_file *o, const char *from, const char *to);

#endif
