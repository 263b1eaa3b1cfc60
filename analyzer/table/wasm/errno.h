/* SPDX-License-Identifier: MIT */
/* What a build without a libc has of <errno.h>.  Context: any. */
#ifndef TAILOR_WASM_ERRNO_H
#define TAILOR_WASM_ERRNO_H

#define ENOMEM 12

#endif
