/* SPDX-License-Identifier: MIT */
/*
 * Writes output files completely or not at all. A new file has no name at first (O_TMPFILE in the folder of the path). If that is
 * impossible, it is a hidden file, which is removed when Ctrl-C and the like end the process, but not on SIGKILL, and not if a steward has
 * made it. The file takes its name when it is complete and on the disk, so a full disk, Ctrl-C and SIGKILL leave the old file at the path,
 * or none. A recording takes its name at once, under a lock, because it should be there even if its recorder is killed.
 *
 *	output_file_open()  ->  write to o->to or o->fd  ->  output_file_end(), or output_file_drop()
 *
 * If there is a file at the path already:
 *  - A file with the mark of the same form, or an empty file, is replaced by the new file. Programs that have it open, and its other
 *    hard links, keep the old contents. The new file has mode 0600, since a trace may contain confidential data.
 *  - Any other regular file, and a file without a write permission, is refused, unless overwriting is allowed (--overwrite). In a folder
 *    with the sticky bit, such as /tmp, another user's file is refused in any case, unless this user is root or owns the folder.
 *  - A file that another tailor records into is refused. If two programs write to a path at the same time, the second one to finish fails
 *    (output_name.c has the exceptions).
 *  - Links are not followed. A FIFO or a character device is written to directly, if it belongs to this user or to root. So are "-",
 *    /dev/stdout, /dev/stderr and /dev/fd/N.
 *
 * Context: thread.
 */
#ifndef TAILOR_OUTPUT_FILE_H
#define TAILOR_OUTPUT_FILE_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* An existing file is recognised as one of tailor's by a mark, which is bytes at an offset, or, if within is not 0, anywhere in the first
 * `within` bytes. */
struct output_form {
	const char *name; /* "a trace" */
	const char *mark;
	uint32_t mark_bytes, at, within; /* at: offset of the mark, or 0 if within is set */
};

#define OUTPUT_TEMPORARY_BYTES 40

struct output_file {
	/* The caller sets these before output_file_open(). */
	const struct output_form *form; /* form of the file; NULL: it has no mark, so an existing file that is not empty is not replaced */
	bool overwrite;			/* allow overwriting, for this file alone */
	bool is_named;			/* the file needs a path before it has its name: it is a hidden file, see output_file_temporary() */
	bool keep_old;			/* the file that is replaced is renamed to PATH.old */

	FILE *to; /* the stream of output_file_open_stream(), otherwise NULL */
	int fd;
	bool is_direct; /* the output is a FIFO, a device or an open descriptor, so no file takes a name */

	/* The members below are private. */
	char *path;
	const char *base;
	char temporary[OUTPUT_TEMPORARY_BYTES];
	int folder, error;
	bool existed, has_name, has_old;
	struct stat before, own;
};

/* Allow all outputs of this process that are opened from now on to replace any file (--overwrite). */
void output_file_allow_overwriting(void);

/* Open an output.  The caller sets the first members of *o before.  Returns 0 with o->fd, to which a write to a FIFO or device may fail
 * with EAGAIN.  Otherwise returns -errno with a sentence, which begins with the path unless memory runs out, and *o need not be freed. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
/* Open an output like output_file_open(), with a stream, o->to, whose writes wait for a slow reader. With the path "-" or /dev/fd/N, that
 * descriptor may be any, also that of a file or a terminal. output_file_end() closes the stream, unless the caller has closed it and set
 * o->to to NULL. */
int output_file_open_stream(struct output_file *o, const char *path, struct diag *d);
/* Format the path that a file with is_named has until it takes its name. */
void output_file_temporary(const struct output_file *o, char *path, size_t bytes);
/* Give the file its name before it is complete.  The caller holds a lock on o->fd, by which other recorders are refused.  Returns 0, or
 * -errno with a sentence. */
int output_file_take_name(struct output_file *o, struct diag *d);
/* Check that the file at the path is still this one.  Returns 0, also if that cannot be found out or if the output has no name yet, or
 * -ESTALE with a sentence if another file or none is there, in which case the output is lost. */
int output_file_has_name(const struct output_file *o, struct diag *d);

/* Complete the output: close o->to, sync the file, give it its name, and free what *o holds.  If anything failed, also an earlier write to
 * o->to, the file is removed instead, and -errno is returned with a sentence. */
int output_file_end(struct output_file *o, struct diag *d);
/* Close the file, and free what *o holds.  A file that has its name stays, and one that has not is lost. */
void output_file_fini(struct output_file *o);
/* Remove the file if it has its name and that still leads to it, rename PATH.old back if this file has made it, close the file, and free
 * what *o holds.  *o may be all zeros. */
void output_file_drop(struct output_file *o);

/* Check before a long computation that output_file_open() could open this path now, as far as that can be known without opening a FIFO, a
 * device or a descriptor.  Returns 0, or -errno with a sentence.  No file remains. */
int output_file_check(const char *path, const struct output_form *form, struct diag *d);

/* Remove the output at path if it is a regular file, but not a FIFO or a device. */
void output_file_remove(const char *path);

/* Are output and input the same file, so that writing the output would destroy the input? */
bool output_file_is_same(const char *output, const char *input);

/* Does path name standard output? */
bool output_file_is_standard(const char *path);

#endif
