/* SPDX-License-Identifier: MIT */
/*
 * Finds the function of code of an image that no symbol names by the FDE in .eh_frame that describes it, because compilers make one for
 * each function. Also finds what made generated code.
 *
 * Context: thread.
 */
#ifndef TAILOR_NAMELESS_H
#define TAILOR_NAMELESS_H

#include "analyzer/model/model.h"
#include "analyzer/symbols/elf_object.h"

struct nameless_image;

struct nameless {
	struct nameless_image *first; /* list of the images that were asked for */
};

/* Finds where the function around a file address begins.  Returns false if no FDE describes it, or if memory ran out. */
bool nameless_find_function(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start);
/* Checks that no FDE begins or ends between two addresses, the first one before the second.  Then a symbol without a size at the first
 * address can also name the code at the second. */
bool nameless_same_function(struct nameless *n, struct elf_object *elf, uint64_t first, uint64_t second);
void nameless_fini(struct nameless *n);

/*
 * Finds what made generated code, which reports name where the code itself has no name. It is the object that mapped the code, if the agent
 * saw that, or the file that the code is mapped from. Else it is the JIT host (jitreg/hosts) that the process is or has loaded.
 */
struct makers {
	const char **of_process; /* maker by the process's number; NULL: not asked for yet */
	uint32_t nr;
};

/* Returns the path of the object that made the code, or the process's executable if no single host is known. Returns "" if that is
 * unknown, too. The path is valid as long as the model. */
const char *makers_find(struct makers *s, const struct model *m, const struct process *p, const struct code *code);
void makers_fini(struct makers *s);

#endif
