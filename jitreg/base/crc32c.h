/* SPDX-License-Identifier: MIT */
/* Computes the checksum CRC-32C (Castagnoli; RFC 3720, appendix B.4), which chunks of traces have. Context: any. */
#ifndef TAILOR_CRC32C_H
#define TAILOR_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of bytes.  crc: 0, or, to continue, the checksum of the bytes before them. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t nr);

#endif
