/* SPDX-License-Identifier: MIT */
/*
 * Makes call stacks from a sample's registers and stack bytes, offline.
 *
 * Two walkers give the same frames. UNWIND_MEMO is the default. Its struct memo (memo.c) keeps one rule per code address, made of the
 * call-frame information there, and asks libunwind for a step where it can make no rule. UNWIND_LIBUNWIND walks whole stacks by libunwind's
 * remote accessors, for tests that compare both. Context: thread. An unwinder belongs to one thread.
 */
#ifndef TAILOR_UNWIND_H
#define TAILOR_UNWIND_H

#include "analyzer/symbols/elf_object.h"

/* These are DWARF's numbers of x86-64: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15 16 return address (rip). */
#define UNWIND_REGISTERS 17
#define UNWIND_RBX 3
#define UNWIND_RBP 6
#define UNWIND_RSP 7
#define UNWIND_RIP 16

struct unwind_registers {
	uint64_t value[UNWIND_REGISTERS];
	uint32_t known; /* bit per register */
};

/* The code at an address is an ELF object with its bias, .eh_frame bytes that a JIT registered, or code of which only the bytes are
 * known. */
struct unwind_object {
	uint64_t start, end; /* range of the code, at run time */
	uint64_t key;	     /* identifies the unwind information, whatever the bias; the same key never stands for other information */
	struct elf_object *elf;
	uint64_t bias; /* run-time address - file address */
	const void *eh_frame; /* used if elf is NULL; NULL, too: there is no unwind information */
	size_t eh_frame_bytes;
	uint64_t eh_frame_address; /* run-time address of the bytes */
	/* The members from here on are also set where there is no unwind information. */
	bool code;	     /* the address is known to be in code */
	bool frame_pointers; /* if nothing else is known, rbp is assumed to be a frame pointer */
	bool unregistered;   /* code that is not known to be a function, for which has_return_address() is checked */
	const unsigned char *function; /* bytes of the function that the address is in; NULL: not known */
	uint64_t function_start, function_bytes;
	const unsigned char *region; /* bytes of the code around the address, in which functions begin at unknown places; NULL: not known */
	uint64_t region_start, region_bytes, region_key; /* region_key: identifies the bytes; the same key never stands for other bytes */
	uint64_t from_ns, until_ns; /* the time in which all this is true of the address */
	/*
	 * This number and an address less bias decide, in all spaces, all that is said here about addresses in [alike_start, alike_end),
	 * which this one is in. It is so for the time above. 0: other spaces are not known to have the code.
	 */
	uint32_t alike;
	uint64_t alike_start, alike_end;
};

/* Answers what code lies in the address space of a process at the time of the sample. */
struct unwind_space {
	void (*find)(void *context, uint64_t address, struct unwind_object *out); /* *out is zeroed before the call */
	void *context;
	uint64_t time_ns;
	uint32_t number; /* number of the address space, to which the rules that are kept belong */
	/*
	 * Only for UNWIND_LIBUNWIND: libunwind's cache is kept as long as this number is the same. It must change whenever any address of
	 * any address space may have got other code.
	 */
	uint64_t generation;
};

struct unwind_input {
	struct unwind_registers registers;
	const unsigned char *stack; /* the bytes from rsp upwards */
	size_t stack_bytes;
};

enum unwind_end {
	UNWIND_COMPLETE, /* reached the outermost frame: a return address or a frame pointer is 0, or its code is known to have no caller */
	UNWIND_STOPPED,	 /* the callback returned false (in functions that make one step: the step succeeded) */
	UNWIND_TRUNCATED, /* the snapshot lacks stack bytes that the unwind information or a frame pointer leads to */
	UNWIND_NO_INFO,	 /* nothing says how to leave a frame, or what seemed to be the caller is not the code behind a call */
	/* The information led nowhere (the stack pointer did not rise, more frames than words, bad CFI), or to unknown registers. */
	UNWIND_BROKEN,
};

/* A frame was found from its callee in one of these ways. */
enum unwind_found {
	UNWIND_BY_INFORMATION,
	UNWIND_BY_CODE, /* from the instructions of the callee, which has no unwind information (known_code.c) */
	UNWIND_BY_FRAME_POINTER, /* by the frame pointer, which is an assumption */
};

struct unwind_frame {
	int depth;	  /* 0: the sampled instruction */
	uint64_t ip;	  /* depth > 0: the return address, or the instruction that a signal interrupted */
	uint64_t address; /* address to look up: ip, or ip - 1 for return addresses */
	uint64_t function; /* start of the function around address, by its FDE, else by unwind_object.function; 0: not known */
	struct unwind_registers registers;
	enum unwind_found found;
	/*
	 * A number that the callback may keep about the address. It is 0 at first, and again if other code is there, or if struct memo had
	 * to drop its rules. UNWIND_LIBUNWIND does not keep it.
	 */
	uint32_t *note;
	/*
	 * For samples without stack bytes: the time in which every walk from this instruction ends in the same way, whatever the registers.
	 * Set in the sampled frame. Both are 0 if that is not known.
	 */
	uint64_t same_end_from_ns, same_end_until_ns;
};

enum unwind_way { UNWIND_MEMO, UNWIND_LIBUNWIND };

struct unwinder;

/* These are numbers of the work done by UNWIND_MEMO, for tests and benchmarks. */
struct unwind_counts {
	uint64_t frames, rules, steps; /* steps from frames to callers, rules made, steps that libunwind made */
};

/* Returns 0 with *out, which unwinder_destroy() frees, or -ENOMEM with a sentence. */
int unwinder_create(enum unwind_way way, struct unwinder **out, struct diag *d);
void unwinder_destroy(struct unwinder *u);
struct unwind_counts unwinder_counts(const struct unwinder *u);

/*
 * Calls frame() for each frame, from the sampled one (depth 0) towards the root, until frame() returns false. Returns why the walk ended. A
 * stack has at most two frames more than its snapshot has words. frame() may not call functions with u.
 */
enum unwind_end unwind_walk(struct unwinder *u, const struct unwind_space *space, const struct unwind_input *input,
			    bool (*frame)(void *context, const struct unwind_frame *f), void *context);

/* Returns what unwind_frame.function would be for an address, without a walk. */
uint64_t unwind_function(struct unwinder *u, const struct unwind_space *space, uint64_t address);

#endif
