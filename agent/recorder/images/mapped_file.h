/* SPDX-License-Identifier: MIT */
/*
 * Opens the file that a process has mapped.  Its path may lead to another file by now: a service that is upgraded has its own program
 * replaced while it runs.  Context: thread.
 */
#ifndef TAILOR_MAPPED_FILE_H
#define TAILOR_MAPPED_FILE_H

#include "agent/recorder/images/image_files.h"

/*
 * Opens the file of an image as process m->pid has it mapped.  The path in the view of that process comes first, because it may be in a
 * container, then the file that the kernel has mapped (needs privileges) or that the process executes, then the path in the view of the
 * recorder. The first of them that has the mapping's build id is opened, or its inode if that is known instead, and its code as it is in
 * memory. If none has its inode, as some file systems report other inodes, the code decides alone. Sets *by_path if the file can be opened
 * again by its path. Returns a descriptor, or -1 and errno, which is ESTALE if only other files were found, and ENOEXEC if the file was
 * deleted and was no ELF file.
 */
int mapped_file_open(const struct image *m, bool *by_path);

/* Opens the file of an image for an import, whose processes have exited. If the build id of the mapping is known, and the file at the path
 * does not have it, the copy in perf's cache is opened, or else that file. foreign: the recording is of another architecture. Returns -1
 * and errno if no file can be opened. */
int mapped_file_open_past(const struct image *m, bool foreign);

#endif
