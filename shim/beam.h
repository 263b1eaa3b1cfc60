/* SPDX-License-Identifier: MIT */
/*
 * The Erlang virtual machine (OTP 24 and later) registers code through the GDB JIT interface in a format of its own, and not as ELF files.
 * A blob in this format describes the functions of one module with their lines.  (erts/etc/unix/jit-reader.c reads it for gdb.)  Context:
 * any.
 */
#ifndef TAILOR_BEAM_H
#define TAILOR_BEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This is one function, with the address of its code and its line table in jitdump's encoding. */
struct beam_function {
	uint64_t address, bytes;
	const char *name;
	uint64_t nr_lines;
	const void *lines;
	size_t lines_bytes;
};

/*
 * Calls each() for the functions in a blob that have code. The function's name and lines are valid during the call. scratch is room for
 * one function's lines, and lines that do not fit are left out. Returns false if the blob has another format, or is cut off or invalid
 * (functions before the invalid place were reported). A blob that describes the emulator has no functions.
 */
bool beam_read_functions(const void *blob, size_t bytes, void *scratch, size_t scratch_bytes,
			 void (*each)(void *context, const struct beam_function *f), void *context);

#endif
