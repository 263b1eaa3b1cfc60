/* SPDX-License-Identifier: MIT */
/*
 * Hosts of which something would be missing in a recording, because of their version or of a part that they lack
 * (jitreg/hosts/host_versions.h), seen from outside: in a process's memory, or in a program's file and those of its libraries.  What cannot
 * be seen so is not said.
 * Nothing is changed, and nothing of the host is run.  Context: thread.
 */
#ifndef TAILOR_LACKS_H
#define TAILOR_LACKS_H

#include "jitreg/hosts/host_versions.h"

#include <sys/types.h>

/* Of what it has mapped; its memory alone is read. */
void lacks_of_process(pid_t pid, struct host_lacks *to);
/* Of a program's or a library's file, and, where it is a program as program_inspect() found it, of its libraries' files. */
void lacks_of_file(const char *path, struct host_lacks *to);
void lacks_of_program(const char *path, struct host_lacks *to);

#endif
