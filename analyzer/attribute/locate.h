/* SPDX-License-Identifier: MIT */
/*
 * The locator finds the function, source line, image and lowest component of an address, once per code object and address, and once for
 * all processes that have the same image.
 * Context: thread.
 */
#ifndef TAILOR_LOCATE_H
#define TAILOR_LOCATE_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/attribute/host_components.h"
#include "analyzer/attribute/nameless.h"
#include "analyzer/attribute/programs.h"
#include "jitreg/base/hash_map.h"

struct location {
	uint32_t function, line, image; /* indexes in the attribution */
	uint32_t component;		/* COMPONENT_NONE: the code has none */
	uint32_t before, after;		/* components of the nearest lines around an instruction without a line; else COMPONENT_NONE */
	uint32_t low, object;		/* components of host_levels.h (host_components_find()).  COMPONENT_NONE: none made */
	bool jit, line0;
	/* location of the innermost function inlined at the address, once locate_with_inlines() has asked for it; 0: not asked; this
	 * location itself: none */
	uint32_t inner;
	uint32_t outer; /* inlined functions: location of the function that it is inlined into; 0: this one is not inlined */
};

/* This struct is an entry of the cache of kernel locations. The cache has 2^LOCATE_KERNEL_BITS entries and saves the binary search for the
 * function. */
#define LOCATE_KERNEL_BITS 13
struct kernel_address {
	uint64_t address;
	uint32_t location; /* 0: free */
};

struct locator {
	struct attribution *a;
	struct hash_map by_address, functions, lines, images;
	struct host_components host;
	struct nameless nameless;
	struct makers makers;
	struct programs programs;
	struct location *location;
	uint32_t nr_locations, capacity;
	uint32_t functions_capacity, lines_capacity, images_capacity;
	uint32_t kernel, unknown; /* locations of the kernel without a function, and of unregistered code */
	/* locations by index in model.kernel_functions; 0: not asked for yet; NULL: the trace has no such functions */
	uint32_t *kernel_function;
	struct kernel_address *kernel_address; /* the cache; NULL: the trace has no kernel functions */
	bool without_lines; /* do not look up lines of code that is not generated */
	bool declarations;  /* find where functions are declared */
	bool without_names; /* do not look up functions and lines of code that is not generated, because no view shows them */
	bool without_host_levels; /* make no components of levels that hosts do not declare (host_levels.h) */
};

/* Adds entry 0 ("none") and those of the kernel and of unregistered code to a, whose arrays the locator fills but does not free.  Returns 0
 * or -ENOMEM.  locator_fini() must follow in both cases. */
int locator_init(struct locator *l, struct attribution *a);
void locator_fini(struct locator *l);
/* Adds a location that has only a name, such as "[no stack]".  Returns 0 if memory ran out. */
uint32_t locate_name_only(struct locator *l, const char *name);
/* Returns the location of the kernel's function at an address, or locator.kernel if the trace has no name for it. */
uint32_t locate_kernel(struct locator *l, uint64_t address);

static inline struct kernel_address *locate_kernel_slot(const struct locator *l, uint64_t address)
{
	return &l->kernel_address[address * 0x9e3779b97f4a7c15ull >> (64 - LOCATE_KERNEL_BITS)];
}

/* Returns the location from locate_kernel() if it is in the cache, else 0. */
static inline uint32_t locate_kernel_known(const struct locator *l, uint64_t address)
{
	const struct kernel_address *slot;

	if (!l->kernel_address)
		return l->kernel;
	slot = locate_kernel_slot(l, address);
	return slot->address == address ? slot->location : 0;
}

/* Return the location of an address, as an index and as a pointer. If code is NULL, the address has unregistered code. If memory runs
 * out, it is location 0, whose function has no name. The pointer is never NULL, and valid until the next location is added. */
uint32_t locate_address_number(struct locator *l, const struct process *p, const struct code *code, uint64_t address);
const struct location *locate_code_address(struct locator *l, const struct process *p, const struct code *code, uint64_t address);
/* Returns the location of the innermost function that is inlined at an address, or that of the address if none is. Its .outer leads to
 * the functions around it. The result is valid until the next location is added. */
const struct location *locate_with_inlines(struct locator *l, const struct process *p, const struct code *code, uint64_t address);

#endif
