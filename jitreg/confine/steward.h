/* SPDX-License-Identifier: MIT */
/*
 * Two processes that act for a recorder after it has given up its rights.  They are forked before, do little, and parse no untrusted bytes.
 * The changer creates, renames and removes files in the folders of the outputs, to which Landlock confines it.  The steward executes
 * commands that were fixed when it started, and asks a JVM for its perf map.  Both end with the last process that can send requests.
 *
 * Each request carries a socket for its answer, so children of the recorder may send requests as well.  Context: thread.
 */
#ifndef TAILOR_STEWARD_H
#define TAILOR_STEWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STEWARD_COMMANDS_MAX 4

/* Start the steward, and the changer if output is not NULL.  command: command lines, each with a NULL behind its last word, or NULL.
 * output: a file that the recorder writes.  Other files beside it are permitted as well, and the changer makes file_changes
 * (jitreg/base/file_changes.h) from now on.  Without output, this process keeps the right to write.  Returns 0 or -errno. */
int steward_start(char *const *const command[STEWARD_COMMANDS_MAX], const char *output);
bool steward_is_there(void);
/* Start a process that opens files anywhere that a trace names, for a command that reads.  It opens ELF files (for line tables), and files
 * that may_open() permits by path and descriptor (source text) if this user owns them or all users may read them. */
void steward_start_opener(bool (*may_open)(const char *path, int fd));

/* Execute the command of this number, with operand (a file beside the output, or NULL) behind its words.  The command has the process group
 * and priorities of the caller.  Waits for its end, so a process that must not wait calls this in a child.  Returns the status as of
 * waitpid(2), or -errno. */
int steward_run(unsigned number, const char *operand);

/* Create, remove and connect to files of HotSpot's attach protocol.  folder: a descriptor.  name: .attach_pidN, .java_pidN or perf-N.map.
 * Without a steward, the calling process does it.  Returns -1 with errno on failure. */
int steward_create_trigger(int folder, const char *name, uid_t uid, gid_t gid);
int steward_remove(int folder, const char *name);
int steward_connect(int folder, const char *name); /* returns a non-blocking descriptor */

#endif
