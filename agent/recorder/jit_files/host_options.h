/* SPDX-License-Identifier: MIT */
/* This module finds options by which a process's JIT was asked to name its code, such as --perf-prof, and writes them into the trace.
 * Context: thread. */
#ifndef TAILOR_HOST_OPTIONS_H
#define TAILOR_HOST_OPTIONS_H

#include "jitreg/trace/writer.h"

/* Writes a HOST_OPTION for each such option, 8 at most, among the arguments or in the environment with which pid's program was started.
 * Other text of these is not written, since it may be secret. */
void host_options_write(struct trace_writer *w, uint32_t pid, uint64_t time_ns);
/* Does the same for a program that the caller is about to start as pid, with the caller's environment, because the process may end before
 * /proc is read.  command: its arguments, NULL-terminated. */
void host_options_write_of_command(struct trace_writer *w, uint32_t pid, uint64_t time_ns, char **command);

#endif
