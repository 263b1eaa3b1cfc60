/* SPDX-License-Identifier: MIT */
/* A fuzz target is one function that takes any bytes.  clang's libFuzzer can drive it (-fsanitize=fuzzer); replay.c does
 * where that is not there. */
#ifndef TAILOR_FUZZ_H
#define TAILOR_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
