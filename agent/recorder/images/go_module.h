/* SPDX-License-Identifier: MIT */
/*
 * Finds where the code and the inlined calls of a Go program begin.  Its table of functions (jitreg/base/go_table.h) does not say this
 * since Go 1.26, and never if it is relocated.  Both are words of runtime.moduledata.  Context: thread.
 */
#ifndef TAILOR_GO_MODULE_H
#define TAILOR_GO_MODULE_H

#include "agent/recorder/images/elf_parts.h"

/*
 * Adds runtime.moduledata of a file, p, read from fd, as a part of p, and sets the members of p about Go.  Its pointers are as in an image
 * that is mapped where it was linked to.  Also adds the table itself if the file has no sections, and inlined calls that lie outside of the
 * table.  What is not found, or cannot be read, is left out.
 */
void go_module_add(int fd, struct elf_parts *p);

#endif
