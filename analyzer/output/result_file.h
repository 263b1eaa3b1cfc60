/* SPDX-License-Identifier: MIT */
/*
 * Handles the results of commands. It names a file that a command writes for a person, reports it, opens the desktop's viewer for it, and
 * flushes standard output. Context: thread.
 */
#ifndef TAILOR_RESULT_FILE_H
#define TAILOR_RESULT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a name for a file in the working directory to name. It is the file name of the input (a path) without .tlr, and with the ending. A
 * name that does not fit is cut. */
void result_file_name(const char *input, const char *ending, char *name, size_t bytes);
/* If open is true, forks a child that can start the viewer later. The command calls this before it gives up the right to execute
 * programs. */
void result_file_prepare(bool open);
/* Prints the path and size of the file to stderr unless quiet, and, if open, asks that child to show the file with xdg-open. Waits until
 * the viewer was started, and not for its end. If it cannot be started, prints a message on stderr. Does nothing if the file is not a
 * regular one. */
void result_file_tell(const char *path, bool quiet, bool open);

/* Flushes standard output, at the end of each command. Returns status, or CMD_FAILED after a message on stderr if any of the output
 * failed. */
int result_flush(int status);

#endif
