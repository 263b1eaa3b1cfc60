/* SPDX-License-Identifier: MIT */
/* Unpacks what liblzma's xz packed, from files that are untrusted: within bounds of memory and of size.  Context: thread. */
#ifndef TAILOR_XZ_H
#define TAILOR_XZ_H

#include <stddef.h>
#include <stdint.h>

#define XZ_MEMORY_MAX (128u << 20) /* of the decoder */
#define XZ_BYTES_MAX (64u << 20)   /* unpacked */

/* A descriptor of a file in memory with what was packed, at most most bytes, which the caller closes; or -errno: -EBADMSG, -EFBIG, -ENOMEM.
 * *used: how many bytes were unpacked in any case, most at most. */
int xz_unpack(const void *packed, size_t bytes, uint64_t most, uint64_t *used);

#endif
