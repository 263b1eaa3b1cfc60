/* SPDX-License-Identifier: MIT */
/*
 * The hands of a recorder that has given up its own: two processes that were forked before, do little, and parse nothing that others wrote.
 * The changer creates, renames and removes files in the folders of the outputs, and Landlock keeps it there.  The steward executes commands
 * that were fixed when it started, and asks a JVM for its perf map.  Both end with the last process that can ask them.
 *
 * Each request brings the socket that its answer goes to, so children of the recorder may ask as well.  Context: thread.
 */
#ifndef TAILOR_STEWARD_H
#define TAILOR_STEWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STEWARD_COMMANDS_MAX 4

/* command: command lines, each with a NULL behind its last word; NULL is none.  output: a file that the recorder writes; others beside it
 * are permitted as well, and file_changes (jitreg/base/file_changes.h) are the changer's from now on; NULL: there is no changer, and this
 * process keeps the right to write.  0 or -errno. */
int steward_start(char *const *const command[STEWARD_COMMANDS_MAX], const char *output);
bool steward_is_there(void);
/* For a command that reads: a process that opens files which a trace names, wherever they are.  They begin as ELF files do (line tables),
 * or may_open() says so of a path and its descriptor (source text) and this user owns the file or all users may read it. */
void steward_start_opener(bool (*may_open)(const char *path, int fd));

/* Execute a command, with operand behind it: a file beside the output, or NULL.  It has the group and priorities of the process that asks.
 * The answer comes when it has ended: a process that may not wait asks in a child.  Returns its status as of waitpid(2), or -errno. */
int steward_run(unsigned number, const char *operand);

/* Files of HotSpot's attach protocol in folder, a descriptor: name is .attach_pidN, .java_pidN or perf-N.map.  Without a steward these do
 * it themselves.  -1 and errno where that fails. */
int steward_create_trigger(int folder, const char *name, uid_t uid, gid_t gid);
int steward_remove(int folder, const char *name);
int steward_connect(int folder, const char *name); /* a descriptor, which does not block */

#endif
