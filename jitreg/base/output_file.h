/* SPDX-License-Identifier: MIT */
/*
 * Files that we write.  Another program may have put something at their path: a link, a FIFO without a reader, a file of another user.
 * None of it is followed, waited for, or written to.  Context: thread.
 */
#ifndef TAILOR_OUTPUT_FILE_H
#define TAILOR_OUTPUT_FILE_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * A new file of mode 0600: what a trace holds is for its user alone.  A regular file of that name is replaced, not written over: who has
 * the old one open keeps that.  FIFOs and character devices are opened as they are, if they belong to this user or root.  No write waits
 * (O_NONBLOCK).
 * A descriptor, or -errno with a sentence that begins with the path.
 */
int output_file_open(const char *path, struct diag *d);
/* Likewise, as a stream, for output that may wait for its reader.  /dev/stdout, /dev/stderr and /dev/fd/N are descriptors of this process.
 * NULL: errno is set. */
FILE *output_file_stream(const char *path, struct diag *d);
/* Close any stream that was written to (standard output is flushed, and stays).  false: not all was written; errno may say why. */
bool output_file_end(FILE *to);

/* Rename a regular file that is at path to PATH.old, in place of what is there; true: done.  And back. */
bool output_file_keep_old(const char *path);
void output_file_restore_old(const char *path);

/* Could it be created now?  0 or -errno with a sentence; nothing is created or opened. */
int output_file_check(const char *path, struct diag *d);

/* Remove an output that is not to stay: only a regular file is; a FIFO or a device is not ours. */
void output_file_remove(const char *path);

/* Are they one file, so that opening the output would destroy the input? */
bool output_file_is_same(const char *output, const char *input);

#endif
