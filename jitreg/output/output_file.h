/* SPDX-License-Identifier: MIT */
/*
 * Files that we write: whole, or not at all.  A new file has no name at first (O_TMPFILE in the folder of the path; where the file system
 * has none, it is a hidden file that signals remove).  It takes its name when it is whole and on the disk.  So a full disk, Ctrl-C and
 * SIGKILL leave the old file, or none.  A recording has to outlive its recorder: it takes its name at once, behind a lock.
 *
 *	output_file_open()  ->  write to o->to or o->fd  ->  output_file_end(), or output_file_drop()
 *
 * What stands at the path already:
 *  - A file with the mark of the same form, and an empty file, is replaced, not written over: programs that have it open, and its other
 *    hard links, keep the old contents.  The new file has mode 0600, since what a trace holds is for its user alone.
 *  - Any other file, and one without a write permission, is refused, unless overwriting was allowed (--overwrite).
 *  - A file that another tailor records into is refused.  If another program writes the path while we do, the second of them is told.
 *  - A link is not followed.  A FIFO or a character device is written to directly, if it belongs to this user or to root.  So are "-",
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

/* By what a file of ours is known: bytes at a place, or anywhere in the first `within` bytes. */
struct output_form {
	const char *name; /* "a trace" */
	const char *mark;
	uint32_t mark_bytes, at, within; /* within: 0: the mark stands at `at` */
};

#define OUTPUT_TEMPORARY_BYTES 40

struct output_file {
	/* The caller sets these before output_file_open(). */
	const struct output_form *form; /* NULL: files of this form have no mark */
	bool overwrite;			/* as output_file_allow_overwriting(), for this file alone */
	bool is_named;			/* it has a path from the start, output_file_temporary() */
	bool keep_old;			/* what it replaces becomes PATH.old */

	FILE *to; /* output_file_open_stream() */
	int fd;
	bool is_direct; /* FIFO, device or open descriptor: nothing takes a name */

	/* Private. */
	char *path;
	const char *base;
	char temporary[OUTPUT_TEMPORARY_BYTES];
	int folder, error;
	bool existed, has_name, has_old;
	struct stat before, own;
};

/* From now on all files of this process may be overwritten: --overwrite. */
void output_file_allow_overwriting(void);

/* 0, and o->fd (no write waits: O_NONBLOCK), or -errno with a sentence that begins with the path. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
/* Likewise, and o->to, for output that may wait for its reader.  The caller may put another stream on it, which closes it. */
int output_file_open_stream(struct output_file *o, const char *path, struct diag *d);
/* Formats the path at which an is_named file is until its end. */
void output_file_temporary(const struct output_file *o, char *path, size_t bytes);
/* It takes its name now, though more is written to it.  The caller holds a lock on o->fd, so that a second recorder is refused. */
int output_file_take_name(struct output_file *o, struct diag *d);
/* Is what lies at the path still this file?  0, or -ESTALE with a sentence: what is written to it is lost. */
int output_file_has_name(const struct output_file *o, struct diag *d);

/* All was written: sync it, give it its name, free *o.  If anything failed, also any write to o->to, nothing is left: -errno with a
 * sentence. */
int output_file_end(struct output_file *o, struct diag *d);
/* As output_file_end() of a file that has its name, or of which the caller has taken o->fd. */
void output_file_fini(struct output_file *o);
/* Leave nothing, and put PATH.old back.  Also for a struct that is all zeros. */
void output_file_drop(struct output_file *o);

/* Could it be opened now?  0 or -errno with a sentence; nothing is left. */
int output_file_check(const char *path, const struct output_form *form, struct diag *d);

/* Remove an output that is not to stay: only a regular file is; a FIFO or a device is not ours. */
void output_file_remove(const char *path);

/* Are they one file, so that writing the output would destroy the input? */
bool output_file_is_same(const char *output, const char *input);

/* Does it name standard output? */
bool output_file_is_standard(const char *path);

#endif
