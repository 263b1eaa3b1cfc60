/* SPDX-License-Identifier: MIT */
/* A file that a command has written for a person: its name, the message about it, and the desktop's viewer for it. Context: thread. */
#ifndef TAILOR_RESULT_FILE_H
#define TAILOR_RESULT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Make a name in the working folder: the file name of the input (a path), with another ending. */
void result_file_name(const char *input, const char *ending, char *name, size_t bytes);
/* result_file_prepare() does what result_file_tell() needs for open, before the command gives up the right to execute programs.
 * result_file_tell() prints the path and size of a regular file to stderr (unless quiet), and shows the file with xdg-open, which goes on
 * alone (if open). */
void result_file_prepare(bool open);
void result_file_tell(const char *path, bool quiet, bool open);

#endif
