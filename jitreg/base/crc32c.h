/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), as trace chunks carry it.  Context: any. */
#ifndef TAILOR_CRC32C_H
#define TAILOR_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc: 0, or the result for the preceding bytes. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t nr);

#endif
