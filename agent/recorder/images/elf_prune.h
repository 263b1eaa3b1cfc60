/* SPDX-License-Identifier: MIT */
/*
 * Replaces symbols and unwind entries of code without samples by zeros, which compress well.  The file remains valid: removed symbols
 * have no name and no address, removed unwind entries become one that covers no code.  Context: thread.
 */
#ifndef TAILOR_ELF_PRUNE_H
#define TAILOR_ELF_PRUNE_H

#include "agent/recorder/images/elf_parts.h"

#include <stdbool.h>

#define ELF_THIN_PAGE_SHIFT 12

/* Pages of the file in which an address was seen (bit n: page n), and how many bits there are. */
struct elf_seen {
	const uint64_t *bits;
	uint64_t nr;
};

/*
 * of: the file that was seen, whose program headers say where its pages are: p itself, or that of which p has the symbols.
 * Keeps the symbols that reach into a seen page, that begin last before one, or that are defined elsewhere; and the frames
 * that reach into one.  A file that is not as expected stays as it is.
 */
void elf_prune(struct elf_parts *p, struct elf_parts *of, const struct elf_seen *seen);

#endif
