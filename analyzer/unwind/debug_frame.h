/* SPDX-License-Identifier: MIT */
/* .debug_frame (DWARF 5, section 6.4.1) as .eh_frame says the same.  The bytes are hostile.  Context: any. */
#ifndef TAILOR_DEBUG_FRAME_H
#define TAILOR_DEBUG_FRAME_H

#include "analyzer/symbols/elf_object.h"

/*
 * frames (NULL: none), with the entries of a .debug_frame behind them; *bytes becomes the size of both.  The caller frees it;
 * NULL without memory, and nothing has changed.
 */
unsigned char *debug_frame_append(const unsigned char *frames, uint64_t *bytes, const struct elf_section *debug_frame);

#endif
