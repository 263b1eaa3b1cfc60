/* SPDX-License-Identifier: MIT */
/* Reads the code that Ruby's YJIT writes.  The context is that of ruby.c. */
#ifndef TAILOR_RUBY_CODE_H
#define TAILOR_RUBY_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This is the byte that fills YJIT's unwritten memory (alloc_exec_mem() in yjit_asm.c). */
#define RUBY_CODE_UNWRITTEN 0x1e

/* Is the code an entry from the interpreter? */
bool ruby_code_is_entry(const unsigned char *code);
/*
 * Finds the next place, from *at on, at which the address of an instruction (a pc) is put into Ruby's frame.  *at is set to the code behind
 * it. Returns 0 if there are no more, and *at is bytes then.
 */
uint64_t ruby_code_next_pc(const unsigned char *code, size_t bytes, size_t *at);
/* Registers the frames of a piece of code, if parts of it do not have the one frame of nearly all code of YJIT (fixed_frame.c). */
void ruby_code_register_frames(const unsigned char *code, size_t bytes);

#endif
