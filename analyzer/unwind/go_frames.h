/* SPDX-License-Identifier: MIT */
/*
 * Writes the frame sizes of Go's functions (jitreg/base/go_table.h) as .eh_frame. A function that moves to another stack (of the thread,
 * for the garbage collector and for C) has no caller there, and neither has a goroutine's outermost one. Context: any.
 */
#ifndef TAILOR_GO_FRAMES_H
#define TAILOR_GO_FRAMES_H

#include "jitreg/base/go_table.h"

/*
 * Returns a copy of frames (which may be NULL), of which *bytes lie at address, with an entry for each function behind them. *bytes becomes
 * the size of both. text: the address from which the functions' offsets count. The caller frees the copy. Without memory, returns NULL and
 * changes nothing.
 */
unsigned char *go_frames_append(const unsigned char *frames, uint64_t *bytes, uint64_t address, const struct go_table *go, uint64_t text);

#endif
