/* SPDX-License-Identifier: MIT */
/* The files of analyzer/unwind share these declarations. Context: thread. */
#ifndef TAILOR_UNWIND_INTERNAL_H
#define TAILOR_UNWIND_INTERNAL_H

#include "analyzer/unwind/cfi.h"
#include "analyzer/unwind/unwind.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <string.h>

/* eh_frame_each() found this FDE. start: address of its code. offset: place of the FDE in frames. */
struct fde_index_fde {
	uint64_t start;
	uint32_t bytes, offset;
};

struct libunwind_table;

/* This is one object's unwind information. Addresses are the object's own, without the bias of a process. */
struct fde_index {
	uint64_t frames_address, frames_bytes;
	const unsigned char *frames; /* bytes of .eh_frame; NULL: the object has none */
	unsigned char *own_frames; /* frames, if they were converted; freed with the index; else NULL */
	ARRAY(struct fde_index_fde) fdes; /* sorted by start */
	ARRAY(uint64_t) expressions; /* sorted starts of the FDEs whose program has expressions */
	struct libunwind_table *table; /* made when libunwind first looks for a frame of the object; else NULL */
};

#define KNOWN_BUCKETS 1024u

struct known_code;
struct known_place;

struct knowledge {
	ARRAY(struct fde_index *) index;
	struct hash_map index_of_key; /* (key of an object, 0) -> 1 + number in index */
	struct known_code *code[KNOWN_BUCKETS];
	struct known_place *place[KNOWN_BUCKETS]; /* instructions in regions */
	uint64_t code_bytes, code_read; /* code_bytes: memory that rows take. code_read: bytes of code read so far. */
};

/*
 * Returns the index of an object, and makes it at the first call. It may have no FDEs. Returns NULL if memory runs out, or if o has neither
 * an ELF object nor .eh_frame bytes.
 */
struct fde_index *knowledge_get_index(struct knowledge *all, const struct unwind_object *o);
/* Finds the FDE that covers an address (without the bias), and its program. Returns false if there is none. */
bool fde_index_find_program(const struct fde_index *k, uint64_t address, struct cfi_program *out);
/* Returns the run-time start of the function around an address, by its FDE, else by o->function. Returns 0 if it is not known. */
uint64_t knowledge_function_start(struct knowledge *all, const struct unwind_object *o, uint64_t address);
/*
 * May a frame of code without unwind information be left by its frame pointer? That is so for code of a JIT, and in a wide gap between
 * FDEs, which has code that another compiler put into an image (V8's builtins, 1.5 MB of them). Single functions without information are
 * written in assembler, and follow no convention.
 */
bool knowledge_has_frame_pointers(struct knowledge *all, const struct unwind_object *o, uint64_t address);

/*
 * Makes the row of an address from the instructions of its function or region. Returns false if these are not known, or do not say where
 * the frame is, or if memory runs out.
 */
bool knowledge_read_code_row(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out);
void knowledge_forget_code(struct knowledge *all);
/*
 * Is the byte at address known not to be the last one of a call? The byte before a return address always is the last one of a call, so the
 * address behind such a byte is no return address.
 */
bool address_is_behind_no_call(const struct unwind_object *o, uint64_t address);

/*
 * Reads a word of the sampled stack. If the snapshot lacks it, returns false and sets *end to UNWIND_TRUNCATED if the address is less than
 * STACK_BYTES_MAX above the stack pointer, so that the stack may reach there, and else to UNWIND_BROKEN.
 */
#define STACK_BYTES_MAX (64ull << 20)
static inline bool stack_read(const struct unwind_input *in, uint64_t address, uint64_t *word, enum unwind_end *end)
{
	uint64_t at = address - in->registers.value[UNWIND_RSP];

	if (at < in->stack_bytes && in->stack_bytes - at >= 8) {
		memcpy(word, in->stack + at, 8);
		return true;
	}
	*end = at < STACK_BYTES_MAX ? UNWIND_TRUNCATED : UNWIND_BROKEN;
	return false;
}

/*
 * Returns the maximum number of frames that a walk may deliver. Each call pushes a word. The two frames more are the sampled one, and one
 * whose return address is in a register.
 */
static inline int unwind_frames_max(const struct unwind_input *in)
{
	return (int)(in->stack_bytes < STACK_BYTES_MAX ? in->stack_bytes / 8 : STACK_BYTES_MAX / 8) + 2;
}

/* A bit for each register that calls preserve. */
#define SAVED_MASK (1u << 3 | 1u << 6 | 0xfu << 12)

/*
 * Steps to the caller as a row says. Returns UNWIND_STOPPED if *r is now the caller's. Otherwise *r is unchanged, and the result is
 * UNWIND_TRUNCATED or UNWIND_BROKEN.
 */
enum unwind_end unwind_step_row(const struct cfi_row *row, const struct unwind_input *in, struct unwind_registers *r);
/*
 * Steps to the caller by the frame pointer, for code of which nothing else is known. in_chain: an earlier frame of this walk was left in
 * the same way.
 *
 * FRAME_POINTER_NONE: *r is unchanged, and *end says why: rbp is not a frame pointer (UNWIND_NO_INFO), or it leads beyond the snapshot
 * (UNWIND_TRUNCATED). With the other results *r is the caller's. FRAME_POINTER_LAST: the saved value is not a frame pointer, so the caller
 * keeps none (a function compiled from C called this code). The walk then goes on only if the caller has unwind information or a row made
 * from its instructions, or is at the program's entry point.
 * FRAME_POINTER_CHAIN: the saved value is a frame pointer or 0. In a chain it may also be neither, because the last caller may keep no
 * frame pointer (the C library's function that calls main), and rbp is unknown then.
 */
enum frame_pointer_step { FRAME_POINTER_NONE, FRAME_POINTER_CHAIN, FRAME_POINTER_LAST };
enum frame_pointer_step unwind_step_by_frame_pointer(const struct unwind_input *in, bool in_chain, struct unwind_registers *r,
						      enum unwind_end *end);
/*
 * Is there a return address between the stack pointer and the frame pointer, among the first few words, where a function without a frame of
 * its own has one? rbp is still the frame pointer of the caller then, so a step by it would leave the caller out.
 */
bool has_return_address(struct knowledge *all, const struct unwind_space *space, const struct unwind_input *in,
			const struct unwind_registers *r);
/* Does a chain of frame pointers end here, because the saved one is 0? r: registers after unwind_step_by_frame_pointer(). */
static inline bool is_last_by_frame_pointer(const struct unwind_registers *r)
{
	return (r->known & 1u << UNWIND_RBP) && r->value[UNWIND_RBP] == 0;
}

/* libunwind.c has this walker. No other file calls libunwind. */
struct libunwind;
int libunwind_create(struct knowledge *all, struct libunwind **out, struct diag *d);
void libunwind_destroy(struct libunwind *l);
void libunwind_table_free(struct libunwind_table *t);
enum unwind_end libunwind_walk(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       bool (*frame)(void *context, const struct unwind_frame *f), void *context);
/*
 * Makes one step by libunwind, from registers *r of the code at an address. Returns UNWIND_STOPPED if *r is now the caller's, else why the
 * walk ends.
 */
enum unwind_end libunwind_step(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       uint64_t address, struct unwind_registers *r);

struct memo;
struct memo *memo_create(struct knowledge *all, struct libunwind *l);
void memo_destroy(struct memo *m);
struct unwind_counts memo_counts(const struct memo *m);
uint64_t memo_function(struct memo *m, const struct unwind_space *space, uint64_t address);
enum unwind_end memo_walk(struct memo *m, const struct unwind_space *space, const struct unwind_input *input,
			  bool (*frame)(void *context, const struct unwind_frame *f), void *context);

#endif
