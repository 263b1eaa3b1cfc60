/* SPDX-License-Identifier: MIT */
/*
 * Call stacks from a sample's registers and stack bytes, offline.  libunwind through its remote accessors is the unwinder;
 * this is its one door.  Context: thread; an unwinder belongs to one thread.
 */
#ifndef TAILOR_UNWIND_H
#define TAILOR_UNWIND_H

#include "elf_object.h"

/* DWARF numbers of x86-64: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15 16 return address (rip). */
#define UNWIND_REGISTERS 17
#define UNWIND_RBX 3
#define UNWIND_RBP 6
#define UNWIND_RSP 7
#define UNWIND_RIP 16

struct unwind_registers {
	uint64_t value[UNWIND_REGISTERS];
	uint32_t known; /* bit per register */
};

/* Unwind information for the code at an address: an ELF object with its bias, or .eh_frame bytes that a JIT registered. */
struct unwind_object {
	uint64_t start, end; /* code covered */
	uint64_t key;	     /* identifies it for caches: same key, same information for ever */
	struct elf_object *elf;
	uint64_t bias; /* run-time address - file address */
	const void *eh_frame; /* if elf is NULL */
	size_t eh_frame_bytes;
	uint64_t eh_frame_address; /* where the bytes lay */
};

/* The caller's knowledge of the address space, at the time of the sample. */
struct unwind_space {
	/* true and *out: what covers address; false: nothing known there */
	bool (*find)(void *context, uint64_t address, struct unwind_object *out);
	void *context;
	uint64_t generation; /* same number: the same code at the same addresses, so what was learnt about an IP holds */
};

struct unwind_input {
	struct unwind_registers registers;
	const unsigned char *stack; /* from rsp upwards */
	size_t stack_bytes;
};

enum unwind_end {
	UNWIND_COMPLETE, /* reached the bottom: return address 0 or undefined */
	UNWIND_STOPPED,	 /* the callback had enough */
	UNWIND_TRUNCATED, /* needed stack bytes that the snapshot does not have */
	UNWIND_NO_INFO,	 /* no unwind information for a frame's code */
	UNWIND_BROKEN,	 /* information was there but led nowhere (no progress, too deep, bad CFI) */
};

struct unwind_frame {
	int depth;   /* 0: the sampled instruction */
	uint64_t ip; /* of depth > 0: the return address; look up ip - 1 */
	struct unwind_registers registers;
};

struct unwinder;

int unwinder_create(struct unwinder **out, struct diag *d);
void unwinder_destroy(struct unwinder *u);

/*
 * Walk from the sampled frame (depth 0, always delivered) towards the root; frame() returns false to stop.
 * UNWIND_FRAMES_MAX bounds the depth.
 */
#define UNWIND_FRAMES_MAX 512
enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context);

#endif
