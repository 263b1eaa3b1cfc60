/* SPDX-License-Identifier: MIT */
/* Memory of a WebAssembly build.  Context: the page's one thread. */
#ifndef TAILOR_WASM_MEMORY_H
#define TAILOR_WASM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* EXPORT() marks a function that the page calls by this name. */
#define EXPORT(name) __attribute__((export_name(#name)))

/* Allocate memory, 8-byte aligned.  Returns NULL if memory runs out. */
void *memory_take(size_t bytes);
size_t memory_mark(void);
void memory_release(size_t mark);

#endif
