/* SPDX-License-Identifier: MIT */
#ifndef TAILOR_CONFINE_INTERNAL_H
#define TAILOR_CONFINE_INTERNAL_H

#include "jitreg/confine/confine.h"

/* Give up what permissions do not name.  writes_files: outputs are opened, which Landlock bounds.  Returns 0 or -errno. */
int syscall_filter_load(unsigned permissions, bool writes_files);

/* Keep those of mask that there are, in all sets. */
void capabilities_keep(uint64_t mask);

/* Apply the rules.  Returns 0 or -errno. */
int landlock_restrict(void);
int landlock_find_abi(void);

#endif
