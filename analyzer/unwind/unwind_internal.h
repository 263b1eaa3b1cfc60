/* SPDX-License-Identifier: MIT */
/* Declarations that the files of this folder share. Context: thread. */
#ifndef TAILOR_UNWIND_INTERNAL_H
#define TAILOR_UNWIND_INTERNAL_H

#include "analyzer/unwind/cfi.h"
#include "analyzer/unwind/unwind.h"

#include <string.h>

/* An entry for a usable FDE. */
struct fde_index_fde {
	uint64_t start;
	uint32_t bytes, offset;
};

struct libunwind_table;

/* One object's unwind information. Addresses are the object's own, without the bias of a process. */
struct fde_index {
	struct fde_index *next;
	uint64_t key;
	uint64_t frames_address, frames_bytes;
	const unsigned char *frames; /* NULL: the object has none */
	unsigned char *own_frames; /* frames, if they were converted and are freed here */
	struct fde_index_fde *fde; /* sorted by start */
	uint32_t nr_fdes, fdes_capacity;
	uint64_t *expressions; /* sorted starts of the code whose program has expressions */
	uint32_t nr_expressions, expressions_capacity;
	struct libunwind_table *table; /* made for libunwind when it asks */
};

#define KNOWN_BUCKETS 1024u

struct known_code;
struct known_place;

struct knowledge {
	struct fde_index *bucket[KNOWN_BUCKETS];
	struct known_code *code[KNOWN_BUCKETS];
	struct known_place *place[KNOWN_BUCKETS]; /* instructions in regions */
	uint64_t code_bytes, code_read; /* code_bytes: memory for rows. code_read: bytes of code that were read so far. */
};

/* Finds or makes an object's index. Returns NULL without memory, or when o has no unwind information. */
struct fde_index *knowledge_get_index(struct knowledge *all, const struct unwind_object *o);
/* Finds the program of the code at one of the object's own addresses. Returns false if there is none. */
bool fde_index_find_program(const struct fde_index *k, uint64_t address, struct cfi_program *out);
/* Returns the run-time start of the code around an address, by its FDE, else by its symbol. 0: not known. */
uint64_t knowledge_function_start(struct knowledge *all, const struct unwind_object *o, uint64_t address);
/*
 * Returns whether code without information may be left by its frame pointer. That is so for code of a JIT, and for code that another
 * compiler put into an image whose other code is described (V8's builtins, 1.5 MB of them). Single functions without information are
 * written in assembler, and follow no convention.
 */
bool knowledge_has_frame_pointers(struct knowledge *all, const struct unwind_object *o, uint64_t address);

/* Makes a row from the instructions of code that has no program. Returns false if they do not allow that. */
bool knowledge_read_code_row(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out);
void knowledge_forget_code(struct knowledge *all);
/*
 * Returns true if the byte at address is known not to be the last one of a call. Before a return address, it always is the last one of a
 * call.
 */
bool address_is_behind_no_call(const struct unwind_object *o, uint64_t address);

/*
 * Reads a word of the sampled stack. Returns false and sets *end to UNWIND_TRUNCATED where the stack goes on behind the snapshot, else to
 * UNWIND_BROKEN.
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

/* Each call pushes a word. The two frames more are the sampled one and one that a register leads to. */
static inline int unwind_frames_max(const struct unwind_input *in)
{
	return (int)(in->stack_bytes < STACK_BYTES_MAX ? in->stack_bytes / 8 : STACK_BYTES_MAX / 8) + 2;
}

/* A bit for each register that calls preserve. */
#define SAVED_MASK (1u << 3 | 1u << 6 | 0xfu << 12)

/* Steps to the caller as a row says. UNWIND_STOPPED: the registers in *r are the caller's now. */
enum unwind_end unwind_step_row(const struct cfi_row *row, const struct unwind_input *in, struct unwind_registers *r);
/*
 * Steps to the caller by the frame pointer, for code of which nothing else is known. in_chain: frames before were left in the same way, and
 * the caller may be one that keeps no frame pointer (the C library's function that calls main). FRAME_POINTER_NONE: *r is unchanged, and
 * *end says why: rbp is not a frame pointer (UNWIND_NO_INFO), or it leads beyond the snapshot (UNWIND_TRUNCATED). FRAME_POINTER_LAST: the
 * saved value is not a frame pointer, so the caller keeps none (a function compiled from C called this code). The caller is believed only
 * if it has unwind information.
 */
enum frame_pointer_step { FRAME_POINTER_NONE, FRAME_POINTER_CHAIN, FRAME_POINTER_LAST };
enum frame_pointer_step unwind_step_by_frame_pointer(const struct unwind_input *in, bool in_chain, struct unwind_registers *r,
						      enum unwind_end *end);
/*
 * Returns whether a return address lies where a function without a frame of its own would have one, between the stack pointer and the frame
 * pointer. Then rbp is its caller's, and would lead past the caller.
 */
bool has_return_address(struct knowledge *all, const struct unwind_space *space, const struct unwind_input *in,
			const struct unwind_registers *r);
/* Returns whether a chain of frame pointers ends here, which 0 says. r: registers that unwind_step_by_frame_pointer() has made. */
static inline bool is_last_by_frame_pointer(const struct unwind_registers *r)
{
	return (r->known & 1u << UNWIND_RBP) && r->value[UNWIND_RBP] == 0;
}

/* The walker of libunwind.c. No other file calls libunwind. */
struct libunwind;
int libunwind_create(struct knowledge *all, struct libunwind **out, struct diag *d);
void libunwind_destroy(struct libunwind *l);
void libunwind_table_free(struct libunwind_table *t);
enum unwind_end libunwind_walk(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       bool (*frame)(void *context, const struct unwind_frame *f), void *context);
/* Steps one frame, from registers r of the code at an address. Returns UNWIND_STOPPED if *r is now the caller's, else why the walk ends. */
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
