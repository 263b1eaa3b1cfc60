/* SPDX-License-Identifier: MIT */
/* What the files of this folder share.  Context: thread. */
#ifndef TAILOR_UNWIND_INTERNAL_H
#define TAILOR_UNWIND_INTERNAL_H

#include "analyzer/unwind/cfi.h"
#include "analyzer/unwind/unwind.h"

#include <string.h>

/* An FDE that may be used. */
struct fde_index_fde {
	uint64_t start;
	uint32_t bytes, offset;
};

struct libunwind_table;

/* One object's unwind information; addresses are its own: a bias less than those of a process. */
struct fde_index {
	struct fde_index *next;
	uint64_t key;
	uint64_t frames_address, frames_bytes;
	const unsigned char *frames; /* NULL: it has none */
	unsigned char *own_frames; /* frames, when they were made here */
	struct fde_index_fde *fde; /* by start */
	uint32_t nr_fdes, fdes_capacity;
	uint64_t *expressions; /* where code starts whose program has some, sorted */
	uint32_t nr_expressions, expressions_capacity;
	struct libunwind_table *table; /* made for libunwind when it asks */
};

#define KNOWN_BUCKETS 1024u

struct known_code;
struct known_place;

struct knowledge {
	struct fde_index *bucket[KNOWN_BUCKETS];
	struct known_code *code[KNOWN_BUCKETS];
	struct known_place *place[KNOWN_BUCKETS]; /* in regions */
	uint64_t code_bytes, code_read; /* of memory that they take; of code, in all */
};

/* Made when it is new; NULL without memory, or when o has no unwind information. */
struct fde_index *knowledge_get_index(struct knowledge *all, const struct unwind_object *o);
/* The program of the code at an address of the object's own; false: there is none. */
bool fde_index_find_program(const struct fde_index *k, uint64_t address, struct cfi_program *out);
/* Where the code around an address begins, as the process has it: by its FDE, else by its symbol; 0: that is not known. */
uint64_t knowledge_function_start(struct knowledge *all, const struct unwind_object *o, uint64_t address);
/* May code without information be left by its frame pointer?  What a JIT made, and what another compiler put into an image that is
 * described elsewhere (V8's builtins, 1.5 MB of them): single functions without information are assembler's, which keeps to nothing. */
bool knowledge_has_frame_pointers(struct knowledge *all, const struct unwind_object *o, uint64_t address);

/* Where the code has no program: the row that its instructions make.  false: they do not tell. */
bool knowledge_read_code_row(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out);
void knowledge_forget_code(struct knowledge *all);
/* The byte at address is the last one of a call, as it is before every return address; true: it is known that it is not. */
bool address_is_behind_no_call(const struct unwind_object *o, uint64_t address);

/*
 * A word of the sampled stack.  false with *end: UNWIND_TRUNCATED where the stack goes on behind the snapshot, else
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

/* Each call pushes a word; the sampled frame and one that a register leads to need none. */
static inline int unwind_frames_max(const struct unwind_input *in)
{
	return (int)(in->stack_bytes < STACK_BYTES_MAX ? in->stack_bytes / 8 : STACK_BYTES_MAX / 8) + 2;
}

/* Registers that calls preserve. */
#define SAVED_MASK (1u << 3 | 1u << 6 | 0xfu << 12)

/* As a row says.  STOPPED: r is the caller's now. */
enum unwind_end unwind_step_row(const struct cfi_row *row, const struct unwind_input *in, struct unwind_registers *r);
/*
 * Registers of the caller by the frame pointer, for code of which nothing else is known.  in_chain: frames before were left so,
 * and the caller may be one that keeps no frame pointer (the C library's, which calls main).
 * NONE: r is as it was, and *end says why: it is none, or it leads beyond the snapshot (UNWIND_TRUNCATED).  LAST: what was saved there is
 * no frame pointer, so the caller keeps none (a C compiler's function called this code): believed only if it has unwind information.
 */
enum frame_pointer_step { FRAME_POINTER_NONE, FRAME_POINTER_CHAIN, FRAME_POINTER_LAST };
enum frame_pointer_step unwind_step_by_frame_pointer(const struct unwind_input *in, bool in_chain, struct unwind_registers *r,
						      enum unwind_end *end);
/* Does a return address lie where a function without a frame of its own would have one, between the stack pointer and the frame pointer?
 * Then rbp is its caller's, and leads past that. */
bool has_return_address(struct knowledge *all, const struct unwind_space *space, const struct unwind_input *in,
			const struct unwind_registers *r);
/* A chain of frame pointers ends with 0; for registers that unwind_step_by_frame_pointer() has made. */
static inline bool is_last_by_frame_pointer(const struct unwind_registers *r)
{
	return (r->known & 1u << UNWIND_RBP) && r->value[UNWIND_RBP] == 0;
}

/* libunwind's door. */
struct libunwind;
int libunwind_create(struct knowledge *all, struct libunwind **out, struct diag *d);
void libunwind_destroy(struct libunwind *l);
void libunwind_table_free(struct libunwind_table *t);
enum unwind_end libunwind_walk(struct libunwind *l, const struct unwind_space *space, const struct unwind_input *input,
			       bool (*frame)(void *context, const struct unwind_frame *f), void *context);
/* One frame, from registers r of code at an address: UNWIND_STOPPED when r has become the caller's, else why not. */
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
