/* SPDX-License-Identifier: MIT */
/* Converts .debug_frame (DWARF 5, section 6.4.1) to .eh_frame. The bytes are untrusted. Context: any. */
#ifndef TAILOR_DEBUG_FRAME_H
#define TAILOR_DEBUG_FRAME_H

#include "analyzer/symbols/elf_object.h"

/*
 * Returns a copy of frames (of *bytes, or NULL), followed by the entries of a .debug_frame that can be converted. *bytes becomes the size
 * of both. The caller frees the copy. Returns NULL and changes nothing if there is no memory for it. If memory runs out later, the
 * remaining entries are missing.
 */
unsigned char *debug_frame_append(const unsigned char *frames, uint64_t *bytes, const struct elf_section *debug_frame);

#endif
