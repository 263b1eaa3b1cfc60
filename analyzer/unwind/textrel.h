/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame whose addresses count from the start of the code (DW_EH_PE_textrel): JITs that hand ELF objects to debuggers write
 * that (PHP, LuaJIT), and no unwinder but GDB's reads it.  The bytes are hostile.  Context: any.
 */
#ifndef TAILOR_TEXTREL_H
#define TAILOR_TEXTREL_H

#include <stdint.h>

/*
 * A copy for frames that lie at frames_address, in which such addresses count from where they lie; text: the code's.
 * The caller frees it.  NULL when there is none to change, or no memory.
 */
unsigned char *textrel_resolve(const unsigned char *frames, uint64_t bytes, uint64_t frames_address, uint64_t text);

#endif
