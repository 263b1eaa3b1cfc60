/* SPDX-License-Identifier: MIT */
/*
 * Code of an image that no symbol names is named by the FDE that describes it, because compilers make one for each function.
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

/* Finds where the function around a file address begins.  false: no FDE describes it. */
bool nameless_find_function(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start);
/* Checks that no FDE begins or ends between two addresses, the first one before the second.  Then a symbol without a size at the first
 * address may be the second's, too. */
bool nameless_same_function(struct nameless *n, struct elf_object *elf, uint64_t first, uint64_t second);
void nameless_fini(struct nameless *n);

/*
 * The makers of generated code that has no name: the object that mapped it, if the agent saw that, else the JIT host among the objects
 * that the process has loaded (jitreg/hosts).
 */
struct makers {
	const char **of_process; /* by the process's number; NULL: not asked for yet */
	uint32_t nr;
};

/* Returns the path of the code's maker, which is valid as long as the model.  "": unknown. */
const char *makers_find(struct makers *s, const struct model *m, const struct process *p, const struct code *code);
void makers_fini(struct makers *s);

#endif
