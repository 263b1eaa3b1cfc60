/* SPDX-License-Identifier: MIT */
/*
 * Reads .eh_frame bytes (System V ABI, DWARF 5 section 6.4) and finds the code that each FDE describes. The bytes are untrusted.
 * Context: any.
 */
#ifndef TAILOR_EH_FRAME_H
#define TAILOR_EH_FRAME_H

#include "analyzer/unwind/cfi.h"

struct eh_frame_fde {
	uint64_t start, bytes; /* the code that the FDE describes */
	uint64_t offset;       /* offset of the FDE's length field in the section */
	bool expressions;      /* the program of the FDE or its CIE has expressions */
};

/*
 * Calls each(context, fde) for every FDE that can be read and that libunwind may run (cfi.h), until each() returns false, or the length of
 * an entry is malformed. address: the address of frames, to which pc-relative addresses are added. It is without the bias of a process for
 * a section of an ELF file, and so are the results.
 */
void eh_frame_each(const void *frames, size_t bytes, uint64_t address, bool (*each)(void *context, const struct eh_frame_fde *f),
		   void *context);

/* Reads the program of the FDE at an offset that eh_frame_each() gave. *out points into frames. Returns false if there is no usable FDE. */
bool eh_frame_read_program(const void *frames, size_t bytes, uint64_t address, uint64_t offset, struct cfi_program *out);

#endif
