/* SPDX-License-Identifier: MIT */
/*
 * Debug information of ELF objects, of which only that in use is in memory.  A trace of a build has hundreds of programs with megabytes of
 * DWARF each, most of which is asked for lines while that program runs.  An object on a shelf begins without the bytes of its debug
 * sections.  The first question for its lines brings them back from the trace.  What was asked longest ago leaves when the shelf is full.
 * Objects whose samples alternate are brought back DEBUG_LOADS_MAX times, and stay then.  Context: one thread.
 */
#ifndef TAILOR_DEBUG_SHELF_H
#define TAILOR_DEBUG_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_SHELF_BYTES (32ull << 20)
#define DEBUG_LOADS_MAX 4 /* reading 10 MB from a trace takes 10 to 20 ms */

struct elf_object;

struct debug_shelf {
	/* Calls debug_restore() with all parts of an object, which has this number.  Returns false if they cannot be read. */
	bool (*load)(void *context, uint32_t number, struct elf_object *o);
	void *context;
	uint64_t most; /* bytes of debug information in memory beside that of the newest; 0: DEBUG_SHELF_BYTES */
	struct elf_object *newest, *oldest; /* objects whose debug information is in memory, by the time of their last question */
};

/* Puts an object on a shelf, which forgets the bytes of its debug sections.  The shelf lives longer than the object's last question.
 * The texts in answers stay valid until the object is destroyed. */
void debug_shelve(struct debug_shelf *shelf, struct elf_object *o, uint32_t number);
/* Copies what a part has of the debug sections of an object.  Returns 0, or -EBADMSG for a part outside of the file. */
int debug_restore(struct elf_object *o, uint64_t file_offset, const void *bytes, size_t nr);

#endif
