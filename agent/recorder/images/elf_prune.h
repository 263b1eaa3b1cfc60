/* SPDX-License-Identifier: MIT */
/*
 * Replaces symbols and unwind entries of code without samples by zeros, which compress well.  The file remains valid.  Removed symbols have
 * no name and no address, and removed unwind entries become one that covers no code.  Context: thread.
 */
#ifndef TAILOR_ELF_PRUNE_H
#define TAILOR_ELF_PRUNE_H

#include "agent/recorder/images/elf_parts.h"

#include <stdbool.h>

#define ELF_THIN_PAGE_SHIFT 12

/* This struct has the pages of the file in which an address was seen (bit n: page n), and the number of pages. */
struct elf_seen {
	const uint64_t *bits;
	uint64_t nr;
};

/*
 * Keeps the symbols that reach into a seen page, that are the last to begin before one, or that are defined in other files, the unwind
 * entries that reach into a seen page, and of a Go table what go_prune() keeps.  of: the sampled file, whose program headers locate its
 * pages. It is p itself, or the file whose symbols p has. A table of an unexpected form stays as it is, and so does one for which memory
 * runs out.
 */
void elf_prune(struct elf_parts *p, struct elf_parts *of, const struct elf_seen *seen);

#endif
