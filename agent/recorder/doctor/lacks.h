/* SPDX-License-Identifier: MIT */
/*
 * Finds hosts of which something would be missing in a recording, because of their version or of a part that they lack
 * (jitreg/hosts/host_versions.h).  It is found from outside, in a process's memory, or in a program's file and those of its libraries.
 * What cannot be seen there is not reported.  Nothing is changed, and nothing of the host is run.  Context: thread.
 */
#ifndef TAILOR_LACKS_H
#define TAILOR_LACKS_H

#include "jitreg/hosts/host_versions.h"

#include <sys/types.h>

/* Adds what is missing of the hosts that the process has mapped, except PostgreSQL, which is found only in files.  Only the process's
 * memory and the list of its mappings are read. */
void lacks_of_process(pid_t pid, struct host_lacks *to);
/* Both add what is missing of the hosts in a file.  For a program, as program_inspect() found it, the files of its libraries are read,
 * too. */
void lacks_of_file(const char *path, struct host_lacks *to);
void lacks_of_program(const char *path, struct host_lacks *to);

#endif
