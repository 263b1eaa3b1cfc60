/* SPDX-License-Identifier: MIT */
/*
 * From an address to what people call it: function, source line, image, and the lowest component, each found once per
 * code object and address.  Context: thread.
 */
#ifndef TAILOR_LOCATE_H
#define TAILOR_LOCATE_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/attribute/host_components.h"
#include "analyzer/attribute/nameless.h"
#include "jitreg/base/hash_map.h"

struct location {
	uint32_t function, line, image; /* indexes in the attribution */
	uint32_t component;		/* COMPONENT_NONE: the code has none */
	uint32_t before, after;		/* without a line of its own: its neighbours' components */
	uint32_t low, object;		/* of host_levels.h: line or function, and code object; COMPONENT_NONE: the host has its own */
	bool jit, line0;
	uint32_t inner; /* the innermost function that is inlined there, as a location; 0: not looked for; itself: none */
	uint32_t outer; /* of such: the location that it is inlined in */
};

/* The kernel's instructions that were asked for, by address: the functions are found once for each. */
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
	struct location *location;
	uint32_t nr_locations, capacity;
	uint32_t functions_capacity, lines_capacity, images_capacity;
	uint32_t kernel, unknown; /* locations of these two */
	uint32_t *kernel_function; /* locations of the model's, 0: not asked for yet; NULL: the trace has none */
	struct kernel_address *kernel_address; /* NULL, likewise */
	bool without_lines; /* of code that is not generated */
	bool without_names; /* no view asks for functions and lines of code that is not generated: they are not looked for */
	bool without_host_levels; /* no components of levels that the analyzer makes (host_levels.h) */
};

int locator_init(struct locator *l, struct attribution *a);
void locator_fini(struct locator *l);
/* A location that is none, by a name in brackets. */
uint32_t locate_name_only(struct locator *l, const char *name);
/* The kernel's function at an address; where it has no name, the kernel. */
uint32_t locate_kernel(struct locator *l, uint64_t address);

static inline struct kernel_address *locate_kernel_slot(const struct locator *l, uint64_t address)
{
	return &l->kernel_address[address * 0x9e3779b97f4a7c15ull >> (64 - LOCATE_KERNEL_BITS)];
}

/* locate_kernel()'s, if that was asked recently, else 0. */
static inline uint32_t locate_kernel_known(const struct locator *l, uint64_t address)
{
	const struct kernel_address *slot;

	if (!l->kernel_address)
		return l->kernel;
	slot = locate_kernel_slot(l, address);
	return slot->address == address ? slot->location : 0;
}

/* code NULL: unknown.  Never NULL; valid until the next call. */
uint32_t locate_address_number(struct locator *l, const struct process *p, const struct code *code, uint64_t address);
const struct location *locate_code_address(struct locator *l, const struct process *p, const struct code *code, uint64_t address);
/* The same, but of the innermost function that is inlined there; by way of .outer the other ones. */
const struct location *locate_with_inlines(struct locator *l, const struct process *p, const struct code *code, uint64_t address);

#endif
