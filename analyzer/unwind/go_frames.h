/* SPDX-License-Identifier: MIT */
/*
 * The frame sizes of Go's functions (jitreg/base/go_table.h) as .eh_frame says the same.  A function that moves to another stack (of the
 * thread, for the garbage collector and for C) has no caller there, like a goroutine's outermost one.  Context: any.
 */
#ifndef TAILOR_GO_FRAMES_H
#define TAILOR_GO_FRAMES_H

#include "jitreg/base/go_table.h"

/*
 * frames (NULL: none), of which *bytes lie at address, with an entry for each function behind them; *bytes becomes the size of both.  text:
 * where the functions count from.  The caller frees it; NULL without memory, and nothing has changed.
 */
unsigned char *go_frames_append(const unsigned char *frames, uint64_t *bytes, uint64_t address, const struct go_table *go, uint64_t text);

#endif
