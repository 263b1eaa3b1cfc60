/* SPDX-License-Identifier: MIT */
/*
 * Output files, which are written completely or not at all.  A new file has no name at first (O_TMPFILE in the folder of the path, or a
 * hidden file that signals remove if the file system lacks O_TMPFILE).  It takes its name when it is complete and on the disk, so a full
 * disk, Ctrl-C and SIGKILL leave the old file, or none.  A recording must outlive its recorder, so it takes its name at once, under a lock.
 *
 *	output_file_open()  ->  write to o->to or o->fd  ->  output_file_end(), or output_file_drop()
 *
 * If there is a file at the path already:
 *  - A file with the mark of the same form, and an empty file, is replaced, not overwritten.  Programs that have it open, and its other
 *    hard links, keep the old contents.  The new file has mode 0600, since a trace may contain confidential data.
 *  - Any other file, and a file without a write permission, is refused, unless overwriting is allowed (--overwrite).
 *  - A file that another tailor records into is refused.  If another program writes to the path at the same time, the second one fails.
 *  - Links are not followed.  A FIFO or a character device is written to directly, if it belongs to this user or to root.  So are "-",
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

/* The mark by which files of tailor are recognised: bytes at an offset, or anywhere in the first `within` bytes. */
struct output_form {
	const char *name; /* "a trace" */
	const char *mark;
	uint32_t mark_bytes, at, within; /* at: offset of the mark if within is 0 */
};

#define OUTPUT_TEMPORARY_BYTES 40

struct output_file {
	/* The caller sets these before output_file_open(). */
	const struct output_form *form; /* NULL: files of this form have no mark */
	bool overwrite;			/* allow overwriting, for this file alone */
	bool is_named;			/* the file has a path from the start, output_file_temporary() */
	bool keep_old;			/* the replaced file becomes PATH.old */

	FILE *to; /* set by output_file_open_stream() */
	int fd;
	bool is_direct; /* FIFO, device or open descriptor, without a file to name */

	/* Private. */
	char *path;
	const char *base;
	char temporary[OUTPUT_TEMPORARY_BYTES];
	int folder, error;
	bool existed, has_name, has_old;
	struct stat before, own;
};

/* Allow this process to overwrite any file (--overwrite). */
void output_file_allow_overwriting(void);

/* Open an output.  Returns 0 and o->fd, which is O_NONBLOCK, or -errno with a sentence that begins with the path. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
/* Open an output with a stream, o->to, whose writes wait for a slow reader.  The caller may put another stream on it, which closes it. */
int output_file_open_stream(struct output_file *o, const char *path, struct diag *d);
/* Format the path of an is_named file, which is valid until its end. */
void output_file_temporary(const struct output_file *o, char *path, size_t bytes);
/* Give the file its name before it is complete.  The caller holds a lock on o->fd, so that a second recorder is refused. */
int output_file_take_name(struct output_file *o, struct diag *d);
/* Is the file at the path still this one?  Returns 0, or -ESTALE with a sentence if not, so that further output is lost. */
int output_file_has_name(const struct output_file *o, struct diag *d);

/* Complete the output: sync it, give it its name, and free *o.  If anything failed, also an earlier write to o->to, the file is removed,
 * and -errno is returned with a sentence. */
int output_file_end(struct output_file *o, struct diag *d);
/* Free *o, for a file that has its name, or whose o->fd the caller has taken. */
void output_file_fini(struct output_file *o);
/* Remove the file, restore PATH.old, and free *o, which may be all zeros. */
void output_file_drop(struct output_file *o);

/* Could this output be opened now?  Returns 0, or -errno with a sentence.  Leaves no file. */
int output_file_check(const char *path, const struct output_form *form, struct diag *d);

/* Remove an output that is not needed, if it is a regular file.  FIFOs and devices stay. */
void output_file_remove(const char *path);

/* Are output and input the same file, so that writing the output would destroy the input? */
bool output_file_is_same(const char *output, const char *input);

/* Does path name standard output? */
bool output_file_is_standard(const char *path);

#endif
