/* SPDX-License-Identifier: MIT */
/* This file has the part of <errno.h> that a build without a libc needs. Context: any. */
#ifndef TAILOR_WASM_ERRNO_H
#define TAILOR_WASM_ERRNO_H

#define ENOMEM 12

#endif
