/* SPDX-License-Identifier: MIT */
/*
 * Writes the frame sizes of Go's functions (jitreg/base/go_table.h) as .eh_frame. A function that moves to another stack (of the thread,
 * for the garbage collector and for C) is written as one without a caller, because its caller is not on that stack. So is a goroutine's
 * outermost function. Context: any.
 */
#ifndef TAILOR_GO_FRAMES_H
#define TAILOR_GO_FRAMES_H

#include "jitreg/base/go_table.h"

/*
 * Returns a copy of frames (of *bytes at address, or NULL), followed by an entry for each function whose frame sizes are known. *bytes
 * becomes the size of both. text: the address from which the functions' offsets count. The caller frees the copy. Returns NULL and changes
 * nothing if there is no memory for it. If memory runs out later, or a malicious table needs too much of it, the remaining functions are
 * missing.
 */
unsigned char *go_frames_append(const unsigned char *frames, uint64_t *bytes, uint64_t address, const struct go_table *go, uint64_t text);

#endif
