/* SPDX-License-Identifier: MIT */
/* Unpacks what liblzma's xz packed, from files that are untrusted: within bounds of memory and of size.  Context: thread. */
#ifndef TAILOR_XZ_H
#define TAILOR_XZ_H

#include <stddef.h>

#define XZ_MEMORY_MAX (128u << 20) /* of the decoder */
#define XZ_BYTES_MAX (64u << 20)   /* unpacked */

/* A descriptor of a file in memory with what was packed, which the caller closes; or -errno: -EBADMSG, -EFBIG, -ENOMEM. */
int xz_unpack(const void *packed, size_t bytes);

#endif
