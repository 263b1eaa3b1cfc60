/* SPDX-License-Identifier: MIT */
/*
 * What a Go program's table of functions (jitreg/base/go_table.h) does not say itself since Go 1.26, and nowhere where it is relocated:
 * where its code and its inlined calls begin.  Both are words of runtime.moduledata.  Context: thread.
 */
#ifndef TAILOR_GO_MODULE_H
#define TAILOR_GO_MODULE_H

#include "agent/recorder/images/elf_parts.h"

/*
 * Adds it as a part, with its pointers as they are in an image that is mapped where it was linked to: it begins with the table's address.
 * And the inlined calls, where they lie outside of the table.  0, also where there is none; or -errno.
 */
int go_module_add(int fd, struct elf_parts *p);

#endif
