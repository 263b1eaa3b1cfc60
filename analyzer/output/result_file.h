/* SPDX-License-Identifier: MIT */
/* A file that a command has written for a person: its name, what is said of it, and the viewer of the desktop.  Context: thread. */
#ifndef TAILOR_RESULT_FILE_H
#define TAILOR_RESULT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* In the working folder: that of the input (a path), with another ending. */
void result_file_name(const char *input, const char *ending, char *name, size_t bytes);
/* Print path and size to stderr (not if quiet), and show the file by xdg-open, which goes on alone (if open).  Of a regular file only. */
/* Before the command gives up the right to execute programs: what result_file_tell() needs for open. */
void result_file_prepare(bool open);
void result_file_tell(const char *path, bool quiet, bool open);

#endif
