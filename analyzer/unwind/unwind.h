/* SPDX-License-Identifier: MIT */
/*
 * Call stacks from a sample's registers and stack bytes, offline.
 *
 * Two walkers give the same frames.  The memo keeps one rule per address, made of the call-frame information there, and asks
 * libunwind for a step where it can make none.  libunwind alone, through its remote accessors, walks everything where that is
 * asked for: it is what the memo is tested against.
 * Context: thread; an unwinder belongs to one thread.
 */
#ifndef TAILOR_UNWIND_H
#define TAILOR_UNWIND_H

#include "analyzer/symbols/elf_object.h"

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

/* What lies at an address: an ELF object with its bias, or .eh_frame bytes that a JIT registered. */
struct unwind_object {
	uint64_t start, end; /* code covered */
	uint64_t key;	     /* of the information, whatever the bias: same key, same information for ever */
	struct elf_object *elf;
	uint64_t bias; /* run-time address - file address */
	const void *eh_frame; /* if elf is NULL; NULL as well: there is no unwind information */
	size_t eh_frame_bytes;
	uint64_t eh_frame_address; /* where the bytes lay */
	/* Also where there is no unwind information: */
	bool code;	     /* it is known that there was code */
	bool frame_pointers; /* its frames may be left by rbp if nothing else is known of them */
	bool unregistered;   /* it is code that is not known to be a function: has_return_address() is asked */
	const unsigned char *function; /* that the address is in, as bytes; NULL: not known */
	uint64_t function_start, function_bytes;
	const unsigned char *region; /* code around the address, in which no function's beginning is known; NULL: not known either */
	uint64_t region_start, region_bytes, region_key; /* key: of the bytes: same key, same bytes */
	uint64_t from_ns, until_ns; /* how long all this holds for the address */
};

/* The caller's knowledge of the address space, at the time of the sample. */
struct unwind_space {
	void (*find)(void *context, uint64_t address, struct unwind_object *out); /* *out is zeroed */
	void *context;
	uint64_t time_ns;
	uint32_t number; /* of the address space */
	/* For libunwind's cache.  Same number: what was learnt about any address of any space holds. */
	uint64_t generation;
};

struct unwind_input {
	struct unwind_registers registers;
	const unsigned char *stack; /* from rsp upwards */
	size_t stack_bytes;
};

enum unwind_end {
	UNWIND_COMPLETE, /* reached the bottom: return address 0 or undefined */
	UNWIND_STOPPED,	 /* the callback had enough */
	UNWIND_TRUNCATED, /* needed stack bytes that the snapshot does not have, by unwind information or by a frame pointer */
	UNWIND_NO_INFO,	 /* no unwind information for a frame's code */
	UNWIND_BROKEN,	 /* information was there but led nowhere (no progress, more frames than words, bad CFI) */
};

/* How a frame was found from the one before. */
enum unwind_found {
	UNWIND_BY_INFORMATION,
	UNWIND_BY_CODE, /* by the instructions of the function before, which has no information (prologue_analysis.h) */
	UNWIND_BY_FRAME_POINTER, /* a guess */
};

struct unwind_frame {
	int depth;	  /* 0: the sampled instruction */
	uint64_t ip;	  /* of depth > 0: the return address, or where a signal came */
	uint64_t address; /* what to look up: ip, or ip - 1 for return addresses */
	uint64_t function; /* where the code around address begins, by its FDE, else its symbol; 0: not known */
	struct unwind_registers registers;
	enum unwind_found found;
	/* For the callback's own notes about the address: 0 at first, kept as long as the same code is there. */
	uint32_t *note;
	/* Of the sampled instruction: in [from, until) a walk without stack bytes ends here in the same way, whatever the registers.
	 * 0, 0: that is not known. */
	uint64_t same_end_from_ns, same_end_until_ns;
};

enum unwind_way { UNWIND_MEMO, UNWIND_LIBUNWIND };

struct unwinder;

/* How often what was done, for tests and benchmarks. */
struct unwind_counts {
	uint64_t frames, rules, steps; /* frames left; rules made; of these frames, those that libunwind stepped */
};

int unwinder_create(enum unwind_way way, struct unwinder **out, struct diag *d);
void unwinder_destroy(struct unwinder *u);
struct unwind_counts unwinder_counts(const struct unwinder *u);

/* Walk from the sampled frame (depth 0, always delivered) towards the root; frame() returns false to stop.  Frames are at most as many as
 * the stack has words, and two. */
enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context);

/* unwind_frame.function of an address of which no frame is at hand. */
uint64_t unwind_function(struct unwinder *u, const struct unwind_space *space, uint64_t address);

#endif
