/* SPDX-License-Identifier: MIT */
/* What the code that Ruby's YJIT writes says itself.  Context: as ruby.c. */
#ifndef TAILOR_RUBY_CODE_H
#define TAILOR_RUBY_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What YJIT fills memory with that it has not written to (alloc_exec_mem() in yjit_asm.c). */
#define RUBY_CODE_UNWRITTEN 0x1e

/* Is it an entry from the interpreter? */
bool ruby_code_is_entry(const unsigned char *code);
/*
 * The next place, from *at on, at which an instruction's address (a pc) is put into Ruby's frame; *at: behind it.  0: no more.
 */
uint64_t ruby_code_next_pc(const unsigned char *code, size_t bytes, size_t *at);
/* Says the frames of a piece of code, where they are not those of all code. */
void ruby_code_register_frames(const unsigned char *code, size_t bytes);

#endif
