/* SPDX-License-Identifier: MIT */
/*
 * Rewrites .eh_frame whose addresses count from the start of the code (DW_EH_PE_textrel). JITs that hand ELF objects to debuggers (PHP,
 * LuaJIT) write it so, and no unwinder but GDB's reads it. The bytes are untrusted. Context: any.
 */
#ifndef TAILOR_TEXTREL_H
#define TAILOR_TEXTREL_H

#include <stdint.h>

/*
 * Returns a copy of frames, which lie at frames_address, in which such addresses are relative to their own place. text: the address of the
 * code. The caller frees the copy. Returns NULL if no address has to be changed, or if memory runs out.
 */
unsigned char *textrel_resolve(const unsigned char *frames, uint64_t bytes, uint64_t frames_address, uint64_t text);

#endif
