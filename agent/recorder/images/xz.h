/* SPDX-License-Identifier: MIT */
/* Unpacks the xz format with liblzma, from files that are untrusted, within limits of memory and of size.  Context: thread. */
#ifndef TAILOR_XZ_H
#define TAILOR_XZ_H

#include <stddef.h>
#include <stdint.h>

#define XZ_MEMORY_MAX (128u << 20) /* maximum number of bytes of memory of the decoder */
#define XZ_BYTES_MAX (64u << 20)   /* maximum number of bytes that callers let it unpack of one stream */

/*
 * Unpacks at most `most` bytes. Returns a descriptor of a file in memory with them, which the caller closes. Else returns -EBADMSG
 * (malformed), -EFBIG (too large, or too much memory is needed), -ENOMEM, or another -errno. Sets *used to the number of bytes that were
 * unpacked, also after an error.
 */
int xz_unpack(const void *packed, size_t bytes, uint64_t most, uint64_t *used);

#endif
