/* SPDX-License-Identifier: MIT */
/*
 * Code of an image that no symbol names goes by the FDE that describes it: compilers make one for each function.  Context: thread.
 */
#ifndef TAILOR_NAMELESS_H
#define TAILOR_NAMELESS_H

#include "analyzer/model/model.h"
#include "analyzer/symbols/elf_object.h"

struct nameless_image;

struct nameless {
	struct nameless_image *first; /* of each image that was asked for */
};

/* Where the code around an address of the file's own begins.  false: nothing describes it. */
bool nameless_find_function(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start);
/* Does no FDE begin or end between two addresses, the first one before the second?  Then a symbol without a size at the first may be the
 * second's, too. */
bool nameless_same_function(struct nameless *n, struct elf_object *elf, uint64_t first, uint64_t second);
void nameless_fini(struct nameless *n);

/*
 * Whose generated code it is that has no name: the object that mapped it, where the agent saw that, else what the process has loaded of
 * the hosts with a JIT (jitreg/hosts).
 */
struct makers {
	const char **of_process; /* by number; NULL: not asked for yet */
	uint32_t nr;
};

/* A path that lives as long as the model; "": unknown. */
const char *makers_find(struct makers *s, const struct model *m, const struct process *p, const struct code *code);
void makers_fini(struct makers *s);

#endif
