/* SPDX-License-Identifier: MIT */
/*
 * What a Go program's table of functions (jitreg/base/go_table.h) does not say itself since Go 1.26, and nowhere where it is relocated:
 * where its code and its inlined calls begin.  Both are words of runtime.moduledata.  Context: thread.
 */
#ifndef TAILOR_GO_MODULE_H
#define TAILOR_GO_MODULE_H

#include "agent/recorder/images/elf_parts.h"

/*
 * p: read from fd.  Adds it as a part, with its pointers as they are in an image that is mapped where it was linked to: it begins with the
 * table's address.  And the table itself where the file has no sections, and inlined calls that lie outside of the table.
 */
void go_module_add(int fd, struct elf_parts *p);

#endif
