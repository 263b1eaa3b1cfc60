/* SPDX-License-Identifier: MIT */
/* What such a build has of <errno.h>.  Context: any. */
#ifndef TAILOR_COMPARE_WASM_ERRNO_H
#define TAILOR_COMPARE_WASM_ERRNO_H

#define ENOMEM 12

#endif
