/* SPDX-License-Identifier: MIT */
/*
 * Answers that many samples share, kept with the time for which they hold: what lies at an instruction, who ran, which phase it
 * was.  Direct-mapped, so that a look-up is a compare; a miss asks the model.  Context: thread.
 */
#ifndef TAILOR_RECENT_H
#define TAILOR_RECENT_H

#include "insn.h"
#include "locate.h"
#include "unwind.h"

#define RECENT_PLACES 32768 /* powers of two */
#define RECENT_THREADS 256
#define RECENT_TAGS 256

/* An instruction of a process, while the same code is there. */
struct recent_place {
	uint64_t address, from_ns, until_ns;
	const struct process *process; /* NULL: free */
	const struct code *code;
	uint32_t location;  /* index in the locator */
	uint32_t expansion; /* 1 + index, where the instruction alone decides; the caller's */
	enum { RECENT_NOT_ASKED, RECENT_NO_MEMORY, RECENT_MEMORY } touches;
	struct insn_operand operand;
};

struct recent_thread {
	uint64_t from_ns, until_ns;
	const struct process *process; /* NULL: free */
	uint32_t pid, tid, thread;
};

struct recent_tag {
	const struct process *process; /* NULL: free */
	const struct tag *tag;
	uint64_t value;
	uint32_t expansion; /* 1 + index */
};

struct recent {
	struct model *model;
	struct locator *locator;
	const char *run_mark;
	struct recent_place place[RECENT_PLACES];
	struct recent_thread thread[RECENT_THREADS];
	struct recent_tag tag[RECENT_TAGS];
	const struct process *phase_process;
	uint64_t phase_from_ns, phase_until_ns;
	uint32_t phase;
};

/* Never NULL; valid until the next call. */
struct recent_place *recent_place(struct recent *r, const struct process *p, uint64_t address, uint64_t time_ns);
/* The memory that the instruction touches, with the registers as they are before it; 0: none, or they do not tell. */
uint64_t recent_address(struct recent_place *p, const struct unwind_registers *r);
/* NULL without memory. */
const struct recent_thread *recent_thread(struct recent *r, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* The slot of a tag's value: the caller compares and fills it. */
struct recent_tag *recent_tag(struct recent *r, const struct process *p, uint64_t value);
/* 1 + the innermost run mark that holds the time in this process or one that it was forked from; 0: none. */
uint32_t recent_phase(struct recent *r, const struct process *p, uint64_t time_ns);

#endif
