/* SPDX-License-Identifier: MIT */
/*
 * Two processes, the changer and the steward, act for a recorder after it has given up its rights.  They are forked before, do little, and
 * parse no untrusted bytes.  The changer creates, renames and removes files in the folder of the output, to which Landlock confines it.
 * The steward executes commands that were fixed when it started, opens private files of recorded processes for reading, and does what
 * HotSpot's attach protocol needs in the file system. For a command that reads traces, a third process, the opener, opens files that a
 * trace names. All three end when no process is left that can send requests, or when the process that started them calls exit(3).
 *
 * A socket for the answer is sent with each request, so children of the recorder can send requests as well.  Context: thread.
 */
#ifndef TAILOR_STEWARD_H
#define TAILOR_STEWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STEWARD_COMMANDS_MAX 4

/* Start the steward, and the changer if output is not NULL.  command: the commands that steward_run() may execute, each an array of words
 * that ends in NULL, or NULL.  output: a file that the recorder writes.  From now on, file_changes (jitreg/base/file_changes.h) sends
 * requests to the changer, which permits all files in the folder of output, and its read_private() asks the steward.  Without output,
 * changes remain system calls of this process.  Returns 0 or -errno. */
int steward_start(char *const *const command[STEWARD_COMMANDS_MAX], const char *output);
/* Was the steward or the opener started? */
bool steward_is_there(void);
/* Start a process that opens files which a trace names, wherever they are, for a command whose Landlock rules cannot know them.  Only
 * file_changes.read_private() asks it.  It opens ELF files (for line tables), and files that may_open() permits by path and descriptor
 * (source text) if this user owns them or all users may read them.  If it cannot be started, such files are not opened. */
void steward_start_opener(bool (*may_open)(const char *path, int fd));

/* Execute the command with this number in steward_start()'s array.  operand: a last word, which must be the path of a file in the output's
 * folder, or NULL.  The command gets the process group and priorities of the caller.  This function waits for its end, so a process that
 * must not wait calls it in a child.  Returns the status as of waitpid(2), or -errno. */
int steward_run(unsigned number, const char *operand);

/* Create (.attach_pidN), remove (.attach_pidN, perf-N.map) or connect to (.java_pidN) a file of HotSpot's attach protocol. folder:
 * descriptor of the folder with the file. name: the file's name, in which only N varies. uid, gid: the owner that the created file gets.
 * The steward does it, or the calling process if there is none. Returns 0, or -1 with errno on failure. */
int steward_create_trigger(int folder, const char *name, uid_t uid, gid_t gid);
int steward_remove(int folder, const char *name);
int steward_connect(int folder, const char *name); /* returns a non-blocking descriptor, which the caller closes */

#endif
