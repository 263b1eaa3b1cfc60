/* SPDX-License-Identifier: MIT */
/* Declares the allocator of a WebAssembly build, which has no libc, and defines EXPORT().  Context: the page's one thread. */
#ifndef TAILOR_WASM_MEMORY_H
#define TAILOR_WASM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* EXPORT() in front of a function makes it callable from JavaScript by this name. */
#define EXPORT(name) __attribute__((export_name(#name)))

/* Allocate memory, 8-byte aligned.  Returns NULL if memory runs out.  memory_release() frees all that was allocated since a
 * memory_mark(). */
void *memory_take(size_t bytes);
size_t memory_mark(void);
void memory_release(size_t mark);

#endif
