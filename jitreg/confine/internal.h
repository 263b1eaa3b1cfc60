/* SPDX-License-Identifier: MIT */
#ifndef TAILOR_CONFINE_INTERNAL_H
#define TAILOR_CONFINE_INTERNAL_H

#include "jitreg/confine/confine.h"

/* Refuse system calls that permissions do not name.  writes_files: files may be opened for writing, since Landlock restricts which ones.
 * Returns 0 or -errno. */
int syscall_filter_load(unsigned permissions, bool writes_files);

/* Drop all capabilities that are not in mask, from all sets. */
void capabilities_keep(uint64_t mask);

/* Apply the rules that the confine_allow functions have added.  Returns 0 or -errno. */
int landlock_restrict(void);
int landlock_find_abi(void);

#endif
