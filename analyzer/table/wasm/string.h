/* SPDX-License-Identifier: MIT */
/* This file has the part of <string.h> that a build without a libc needs.  Context: any. */
#ifndef TAILOR_WASM_STRING_H
#define TAILOR_WASM_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *at, int value, size_t bytes);

#endif
