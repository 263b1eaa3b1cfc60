/* SPDX-License-Identifier: MIT */
/* Reads .eh_frame bytes (System V ABI, DWARF 5 section 6.4): which code each FDE describes.  The bytes are hostile.
 * Context: any. */
#ifndef TAILOR_EH_FRAME_H
#define TAILOR_EH_FRAME_H

#include "analyzer/unwind/cfi.h"

struct eh_frame_fde {
	uint64_t start, bytes; /* of the code */
	uint64_t offset;       /* of the FDE in the section */
	bool expressions;      /* in its program, or its CIE's */
};

/* Calls each(context, fde) for every FDE that can be read, and that libunwind may run (cfi.h), until it returns false.
 * address: where the bytes lay. */
void eh_frame_each(const void *frames, size_t bytes, uint64_t address, bool (*each)(void *context, const struct eh_frame_fde *f),
		   void *context);

/* The program of the FDE at an offset that eh_frame_each() gave; it points into frames. */
bool eh_frame_read_program(const void *frames, size_t bytes, uint64_t address, uint64_t offset, struct cfi_program *out);

#endif
