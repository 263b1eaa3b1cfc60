/* SPDX-License-Identifier: MIT */
/* Options by which a process's JIT was asked to name its code.  Context: thread. */
#ifndef TAILOR_HOST_OPTIONS_H
#define TAILOR_HOST_OPTIONS_H

#include "jitreg/trace/writer.h"

/* Writes a HOST_OPTION for each one that is among the arguments or in the environment with which pid's program was started.  Other text
 * there is not written. */
void host_options_write(struct trace_writer *w, uint32_t pid, uint64_t time_ns);
/* The same for a program that the caller is about to start as pid, with its own environment, since the process may end before it is looked
 * at.  command: its arguments, NULL-terminated. */
void host_options_write_of_command(struct trace_writer *w, uint32_t pid, uint64_t time_ns, char **command);

#endif
