/* SPDX-License-Identifier: MIT */
/* This module reads by how much the clock of a process in a time namespace (time_namespaces(7)) differs from the kernel's, by which the
 * times that the process writes down are converted. Context: thread. */
#ifndef TAILOR_TIME_NAMESPACE_H
#define TAILOR_TIME_NAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the number of nanoseconds by which the process's CLOCK_MONOTONIC is ahead of the kernel's (clock_now_ns()), or 0 if it cannot be
 * read. It does not change while the process runs one program with several threads. */
int64_t time_namespace_ahead_ns(pid_t pid);
/* Converts a time of such a clock. Times that cannot be of it, because they would be before the machine's start, stay as they are. */
uint64_t time_namespace_convert(uint64_t time_ns, int64_t ahead_ns);

#endif
