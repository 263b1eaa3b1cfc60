/* SPDX-License-Identifier: MIT */
#ifndef TAILOR_CONFINE_INTERNAL_H
#define TAILOR_CONFINE_INTERNAL_H

#include "jitreg/confine/confine.h"

/* Load a filter that refuses the system calls of all enum confine_permission that are not in permissions, and those that no command needs.
 * writes_files: calls that change files are permitted, since Landlock restricts which files. Returns 0, or -errno with the process
 * unchanged. */
int syscall_filter_load(unsigned permissions, bool writes_files);

/* Drop all capabilities that are not in mask from all sets: permitted, effective, inheritable, ambient (all of them) and bounding.  Errors
 * are ignored. */
void capabilities_keep(uint64_t mask);

/* Restrict this process by Landlock to what the confine_allow functions have allowed.  Returns 0 or -errno (-ENOSYS if there is no ruleset,
 * as without Landlock). */
int landlock_restrict(void);
/* Returns the version of Landlock's ABI that the kernel has, or 0 if it has none. */
int landlock_find_abi(void);

#endif
