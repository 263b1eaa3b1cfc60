/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/elf_frames.h"

#define PCREL_SDATA4 0x1b /* compilers' encoding of a frame's address; tables with another one are not pruned */

/* Is this a CIE "zR" with pc-relative addresses of 4 bytes, perhaps with a personality and the like in between? */
static bool is_usual_cie(const unsigned char *cie, uint32_t bytes)
{
	const unsigned char *at = cie + ELF_FRAME_HEAD + 1, *end = cie + bytes; /* at: after the version */
	const char *augmentation = (const char *)at;

	if (bytes < ELF_FRAME_HEAD + 8 || cie[ELF_FRAME_HEAD] != 1 || !memchr(at, 0, (size_t)(end - at)))
		return false;
	at += strlen(augmentation) + 1;
	/* The frames are usual only if both alignments, the return address's register, and the length of what follows have one byte
	 * each. */
	if (*augmentation++ != 'z' || end - at < 4 || (at[0] | at[1] | at[3]) & 0x80)
		return false;
	at += 4;
	for (; *augmentation; augmentation++) {
		if (*augmentation == 'R')
			return at < end && *at == PCREL_SDATA4;
		if (*augmentation == 'P' && at < end) /* skips its encoding and an address of 4 bytes */
			at += (*at & 0x0f) == 0x0b || (*at & 0x0f) == 0x03 ? 5 : end - at;
		else if (*augmentation == 'L')
			at++;
		else if (*augmentation != 'S' && *augmentation != 'B')
			return false;
	}
	return false;
}

bool elf_frames_are_usual(const unsigned char *section, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes;) {
		uint32_t length, cie;

		if (bytes - at < 4)
			return false;
		length = elf_frame_u32(section + at);
		if (length == 0)
			return true; /* this entry ends the section */
		if (length < 12 || length > bytes - at - 4)
			return false;
		cie = elf_frame_u32(section + at + 4);
		if (cie == 0 ? !is_usual_cie(section + at, length + 4) : cie > at + 4)
			return false;
		at += 4 + (uint64_t)length;
	}
	return true;
}
