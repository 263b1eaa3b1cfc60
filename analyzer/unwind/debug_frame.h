/* SPDX-License-Identifier: MIT */
/* Converts .debug_frame (DWARF 5, section 6.4.1) to .eh_frame. The bytes are hostile. Context: any. */
#ifndef TAILOR_DEBUG_FRAME_H
#define TAILOR_DEBUG_FRAME_H

#include "analyzer/symbols/elf_object.h"

/*
 * Returns a copy of frames (which may be NULL) with the entries of a .debug_frame behind them. *bytes becomes the size of both. The caller
 * frees it. Without memory, returns NULL and changes nothing.
 */
unsigned char *debug_frame_append(const unsigned char *frames, uint64_t *bytes, const struct elf_section *debug_frame);

#endif
