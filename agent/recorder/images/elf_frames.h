/* SPDX-License-Identifier: MIT */
/* Reads .eh_frame in the form that compilers write, in which addresses have 4 bytes and count from themselves.  Context: thread. */
#ifndef TAILOR_ELF_FRAMES_H
#define TAILOR_ELF_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ELF_FRAME_HEAD 8u /* bytes of an entry's length and CIE offset */

/* Have all entries before the end mark the usual form? Only then may elf_frame_start() and elf_frame_bytes() be called, and only for an
 * entry (at offset at) that is no CIE. */
bool elf_frames_are_usual(const unsigned char *section, uint64_t bytes);

static inline uint32_t elf_frame_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns the start of the code that the entry describes.  address: the section's address. */
static inline uint64_t elf_frame_start(const unsigned char *section, uint64_t at, uint64_t address)
{
	return address + at + ELF_FRAME_HEAD + (uint64_t)(int64_t)(int32_t)elf_frame_u32(section + at + ELF_FRAME_HEAD);
}

/* Returns the number of bytes of that code. */
static inline uint32_t elf_frame_bytes(const unsigned char *section, uint64_t at)
{
	return elf_frame_u32(section + at + ELF_FRAME_HEAD + 4);
}

#endif
