/* SPDX-License-Identifier: MIT */
/*
 * unwind.c and eh_frame.c: frames of this very program against glibc's own unwinder, and unwind information written by hand
 * for what must hold on any input.
 */
#include "tests/unit/unit.h"

#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/unwind.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------ frames seen */

#define SEEN_MAX 64

struct seen {
	int nr, most;
	struct unwind_frame frame[SEEN_MAX];
};

static bool see(void *context, const struct unwind_frame *f)
{
	struct seen *s = context;

	assert_int_equal(f->depth, s->nr);
	s->frame[s->nr++] = *f;
	return s->nr < (s->most ? s->most : SEEN_MAX);
}

/* -------------------------------------------------------------------------------------------------- written by hand */

#define CODE 0x500000ull
#define CODE_BYTES 0x1000u
#define FUNCTION 0xa00000ull
#define STACK 0x7ffd00001000ull

/* Bytes of one CIE and one FDE for [CODE, CODE + CODE_BYTES), absolute pointers; instructions: the FDE's. */
struct frames {
	uint64_t address; /* where the bytes lie */
	uint64_t key, from_ns, until_ns;
	const unsigned char *function; /* at FUNCTION: its instructions are known, and nothing else */
	size_t function_bytes;
	uint64_t has_frame_pointers; /* if not 0: code of which nothing else is known, from there to 0x900020 */
	bool unregistered; /* the code at has_frame_pointers is not known to be a function */
	size_t nr;
	unsigned char bytes[256];
};

static void put(struct frames *f, const void *from, size_t nr)
{
	assert_true(nr <= sizeof(f->bytes) - f->nr);
	memcpy(f->bytes + f->nr, from, nr);
	f->nr += nr;
}

static void put32(struct frames *f, uint32_t v)
{
	put(f, &v, 4);
}

static void put64(struct frames *f, uint64_t v)
{
	put(f, &v, 8);
}

static struct frames make_frames(uint64_t address, const void *instructions, size_t nr)
{
	/* version 1, no augmentation, code 1, data -8, return address 16; CFA = rsp + 8, rip at CFA - 8 */
	static const unsigned char cie[] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x80 | 16, 1, 0, 0 };
	struct frames f = { .address = address, .key = 7, .until_ns = UINT64_MAX };
	size_t padded = (nr + 7) & ~(size_t)7;

	put32(&f, 4 + sizeof(cie));
	put32(&f, 0);
	put(&f, cie, sizeof(cie));
	put32(&f, (uint32_t)(20 + padded));
	put32(&f, (uint32_t)f.nr); /* from this field back to the CIE */
	put64(&f, CODE);
	put64(&f, CODE_BYTES);
	put(&f, instructions, nr);
	while (f.nr % 4 || nr < padded) { /* nops */
		put(&f, "", 1);
		nr++;
	}
	put32(&f, 0);
	return f;
}

static void find_frames(void *context, uint64_t address, struct unwind_object *out)
{
	const struct frames *f = context;

	*out = (struct unwind_object){ .until_ns = UINT64_MAX };
	if (f->has_frame_pointers && address >= f->has_frame_pointers - 1 && address < 0x900020)
		*out = (struct unwind_object){ .code = true, .frame_pointers = true, .unregistered = f->unregistered,
					       .until_ns = UINT64_MAX };
	if (address - FUNCTION < f->function_bytes)
		*out = (struct unwind_object){ .key = 9, .function = f->function, .function_start = FUNCTION, .code = true,
					       .function_bytes = f->function_bytes, .until_ns = UINT64_MAX };
	if (address - CODE < CODE_BYTES)
		*out = (struct unwind_object){ .start = CODE, .end = CODE + CODE_BYTES, .key = f->key, .eh_frame = f->bytes,
					       .eh_frame_bytes = f->nr, .eh_frame_address = f->address, .code = true,
					       .from_ns = f->from_ns, .until_ns = f->until_ns };
}

/* At an instruction, with the stack's first word on top of it. */
static void begin_at(struct unwind_input *in, uint64_t ip)
{
	in->registers.value[UNWIND_RSP] = STACK;
	in->registers.value[UNWIND_RIP] = ip;
	in->registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP;
}

/* In code that has frame pointers, as find_frames() says; its own is the stack's third word. */
static void begin_with_frame_pointer(struct unwind_input *in)
{
	begin_at(in, 0x900010);
	in->registers.value[UNWIND_RBP] = STACK + 16;
	in->registers.known |= 1u << UNWIND_RBP;
}

/* A stack of words from STACK on; registers: rsp, rip at CODE + 5, r13. */
static enum unwind_end walk(struct unwinder *u, struct frames *f, const uint64_t *stack, size_t words, struct seen *seen)
{
	struct unwind_space space = { .find = find_frames, .context = f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = words * 8 };

	in.registers.value[UNWIND_RSP] = STACK;
	in.registers.value[UNWIND_RIP] = CODE + 5;
	in.registers.value[UNWIND_RBP] = 0x6666;
	in.registers.value[13] = 0xdddd;
	in.registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP | 1u << UNWIND_RBP | 1u << 13;
	seen->nr = 0;
	return unwind_walk(u, &space, &in, see, seen);
}

static struct unwinder *u;
static enum unwind_way way;

static int setup(void **state)
{
	(void)state;
	return unwinder_create(way, &u, NULL);
}

static int teardown(void **state)
{
	(void)state;
	unwinder_destroy(u);
	return 0;
}

/* push %r13; sub $16, %rsp: r13 in the caller is what was pushed, whatever it holds now. */
static const unsigned char saves_r13[] = { 0x0e, 32, 0x80 | 13, 2 }; /* def_cfa_offset 32; r13 at CFA - 16 */

static void a_saved_register_is_the_callers(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 0x7a600042, CODE + 0x80, 3, 4, 0x7a600043, 0 };
	struct seen s = { 0 };

	(void)state;
	for (int n = 0; n < 2; n++) { /* from the section, then from libunwind's cache */
		assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_COMPLETE);
		assert_int_equal(s.nr, 2);
		assert_int_equal(s.frame[0].registers.value[13], 0xdddd);
		assert_int_equal(s.frame[1].ip, CODE + 0x80);
		assert_true(s.frame[1].registers.known & 1u << 13);
		assert_int_equal(s.frame[1].registers.value[13], 0x7a600042);
		assert_int_equal(s.frame[1].registers.value[UNWIND_RSP], STACK + 32);
		assert_int_equal(s.frame[1].registers.value[UNWIND_RBP], 0x6666); /* nobody saved it */
		assert_false(s.frame[1].registers.known & 1u << 12); /* nobody said it */
	}
}

/* push %r13; ...; pop %r13; ret, as compilers describe it: where r13 was is said until the end. */
static void a_register_that_was_taken_back_is_the_callers(void **state)
{
	static const unsigned char popped[] = { 0x41, 0x0e, 16, 0x80 | 13, 2, 0x41, 0x0e, 8 };
	static const unsigned char red_zone[] = { 0x41, 0x80 | 13, 2, 0x42 }; /* mov %r13, -8(%rsp) */
	const uint64_t stack[] = { CODE + 0x80, 3, 0, 0 };
	struct frames f = make_frames(0x600000, popped, sizeof(popped));
	struct seen s = { .most = 2 };

	(void)state;
	assert_int_equal(walk(u, &f, stack, 4, &s), UNWIND_STOPPED);
	assert_int_equal(s.frame[1].ip, CODE + 0x80);
	assert_true(s.frame[1].registers.known & 1u << 13);
	assert_int_equal(s.frame[1].registers.value[13], 0xdddd);
	f = make_frames(0x700000, red_zone, sizeof(red_zone));
	f.key = 8;
	teardown(state);
	assert_int_equal(setup(state), 0);
	assert_int_equal(walk(u, &f, stack, 4, &s), UNWIND_STOPPED);
	assert_int_equal(s.frame[1].ip, CODE + 0x80);
	assert_false(s.frame[1].registers.known & 1u << 13); /* that lay below what is kept */
}

/* A frame pointer leads on where nothing else is known, and only to what is known to be code. */
static void code_without_information_may_have_frame_pointers(void **state)
{
	const uint64_t stack[] = { 1, 2, STACK + 48, 0x900000, 5, 6, 0, CODE + 0x80, 0 };
	struct frames f = make_frames(0x600000, "", 0);
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	struct seen s = { 0 };

	(void)state;
	begin_with_frame_pointer(&in);
	f.has_frame_pointers = 0x900000;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_COMPLETE);
	assert_int_equal(s.nr, 3);
	assert_int_equal(s.frame[0].found, UNWIND_BY_INFORMATION);
	assert_int_equal(s.frame[1].ip, 0x900000);
	assert_int_equal(s.frame[1].found, UNWIND_BY_FRAME_POINTER);
	assert_int_equal(s.frame[2].ip, CODE + 0x80);
	teardown(state);
	assert_int_equal(setup(state), 0);
	f.has_frame_pointers = 0x900010; /* so what the frame pointer leads to is not known */
	s.nr = 0;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	assert_int_equal(s.nr, 1);
}

/* What a C compiler's function has in rbp is no frame pointer, and generated code saves it.  That leads to code that is described, and
 * not past a return address that lies where code without a frame has it. */
static void a_caller_of_generated_code_may_keep_no_frame_pointer(void **state)
{
	uint64_t stack[] = { 1, CODE, 0x1234, CODE + 0x80, 0, 0 };
	struct frames f = make_frames(0x600000, "", 0);
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	struct seen s = { 0 };

	(void)state;
	begin_with_frame_pointer(&in);
	f.has_frame_pointers = 0x900000;
	f.unregistered = true;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_COMPLETE);
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.frame[1].ip, CODE + 0x80);
	assert_int_equal(s.frame[1].found, UNWIND_BY_FRAME_POINTER);
	assert_int_equal(s.frame[1].registers.value[UNWIND_RBP], 0x1234);
	stack[3] = 0x900000; /* not described */
	s.nr = 0;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	assert_int_equal(s.nr, 1);
	stack[3] = CODE + 0x80;
	stack[0] = CODE + 0x90; /* where it returns to, if it has no frame */
	s.nr = 0;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	assert_int_equal(s.nr, 1);
}

/* push rbx; xor ebx, ebx; call here; pop rbx; ret: called by itself, and by code that is described. */
static void code_without_information_is_read(void **state)
{
	static const unsigned char function[] = { 0x53, 0x31, 0xdb, 0xe8, 0xf8, 0xff, 0xff, 0xff, 0x5b, 0xc3 };
	uint64_t stack[] = { 0x7a600042, FUNCTION + 8, 0x7a600043, CODE + 0x80, 0, 0 };
	struct frames f = make_frames(0x600000, "", 0);
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	struct seen s = { 0 };

	(void)state;
	f.function = function;
	f.function_bytes = sizeof(function);
	in.registers.value[UNWIND_RSP] = STACK;
	in.registers.value[UNWIND_RIP] = FUNCTION + 3;
	in.registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP | 1u << UNWIND_RBX;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_COMPLETE);
	assert_int_equal(s.nr, 3);
	assert_int_equal(s.frame[0].found, UNWIND_BY_INFORMATION);
	assert_int_equal(s.frame[1].found, UNWIND_BY_CODE);
	assert_int_equal(s.frame[1].ip, FUNCTION + 8);
	assert_int_equal(s.frame[1].registers.value[UNWIND_RBX], 0x7a600042);
	assert_int_equal(s.frame[2].found, UNWIND_BY_CODE);
	assert_int_equal(s.frame[2].ip, CODE + 0x80);
	assert_int_equal(s.frame[2].registers.value[UNWIND_RBX], 0x7a600043);
	assert_int_equal(s.frame[2].registers.value[UNWIND_RSP], STACK + 32);
	s.nr = 0;
	stack[1] = FUNCTION + 9; /* no call ends there */
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	assert_int_equal(s.nr, 1);
	s.nr = 0;
	stack[1] = 0x123456; /* nor is that code */
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	assert_int_equal(s.nr, 1);
	s.nr = 0;
	in.stack_bytes = 8;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_TRUNCATED);
	assert_int_equal(s.nr, 1);
}

static void the_callback_can_stop_the_walk(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 3, CODE + 0x80, 3, 4, 5, 0 };
	struct seen s = { .most = 1 };

	(void)state;
	assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_STOPPED);
	assert_int_equal(s.nr, 1);
	s.most = 2;
	assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_STOPPED);
	assert_int_equal(s.nr, 2);
}

static void a_snapshot_that_ends_too_early_is_truncated(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 3, CODE + 0x80, 3, 4, 5, 0 };
	struct seen s = { 0 };

	(void)state;
	for (size_t words = 0; words < 8; words++) {
		assert_int_equal(walk(u, &f, stack, words, &s), UNWIND_TRUNCATED);
		assert_int_equal(s.nr, words < 4 ? 1 : 2);
	}
}

static bool count(void *context, const struct unwind_frame *f)
{
	assert_int_equal(f->depth, *(int *)context);
	++*(int *)context;
	return true;
}

#define WORDS 8191 /* of the largest copy */

/* Recursion in a function that keeps nothing, and one that never ends: each call pushes a word. */
static void a_stack_has_as_many_frames_as_fit(void **state)
{
	static uint64_t stack[WORDS];
	struct frames f = make_frames(0x600000, "", 0);
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	int nr = 0;

	(void)state;
	for (unsigned i = 0; i < WORDS; i++)
		stack[i] = CODE + 0x80;
	begin_at(&in, CODE + 5);
	assert_int_equal(unwind_walk(u, &space, &in, count, &nr), UNWIND_TRUNCATED);
	assert_int_equal(nr, WORDS + 1);
	stack[WORDS - 1] = 0;
	nr = 0;
	assert_int_equal(unwind_walk(u, &space, &in, count, &nr), UNWIND_COMPLETE);
	assert_int_equal(nr, WORDS);
}

/* By a frame pointer as by unwind information; a number that does not point upwards into the stack is no frame pointer. */
static void a_frame_pointer_may_lead_beyond_the_snapshot(void **state)
{
	uint64_t stack[] = { 1, 2, STACK + 64, 0x900000, 5, 6, 7, 8 };
	struct frames f = make_frames(0x600000, "", 0);
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	struct seen s = { 0 };

	(void)state;
	begin_with_frame_pointer(&in);
	f.has_frame_pointers = 0x900000;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_TRUNCATED);
	assert_int_equal(s.nr, 2);
	in.registers.value[UNWIND_RBP] = STACK + 56; /* half of a frame */
	s.nr = 0;
	assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_TRUNCATED);
	assert_int_equal(s.nr, 1);
	for (unsigned i = 0; i < 3; i++) {
		in.registers.value[UNWIND_RBP] = (uint64_t[]){ STACK - 8, 0x5555, STACK + (1ull << 30) }[i];
		s.nr = 0;
		assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_NO_INFO);
	}
}

static void code_without_information_ends_the_walk(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 3, 0x900000, 3, 4, 5, 0 };
	struct seen s = { 0 };

	(void)state;
	for (int n = 0; n < 2; n++) {
		assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_NO_INFO);
		assert_int_equal(s.nr, 2); /* the frame itself is known, its caller is not */
		assert_int_equal(s.frame[1].ip, 0x900000);
	}
}

/* A return address behind a function's last byte belongs to the function: its call was the last instruction. */
static void callers_are_looked_up_by_their_call(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 3, CODE + CODE_BYTES, 3, 4, 5, 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_COMPLETE);
	assert_int_equal(s.nr, 2);
}

/* CFA = rsp: the stack pointer does not move, for ever. */
static void a_walk_that_does_not_advance_is_broken(void **state)
{
	static const unsigned char stays[] = { 0x0e, 0, 0x80 | 16, 0 }; /* rip at CFA */
	struct frames f = make_frames(0x600000, stays, sizeof(stays));
	const uint64_t stack[] = { CODE + 5, 0, 0, 0 };
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(walk(u, &f, stack, 4, &s), UNWIND_BROKEN);
	assert_int_equal(s.nr, 1);
}

/* As .plt has it: CFA = rsp + 8 + ((rip & 15) >= 11 ? 8 : 0). */
static const unsigned char plt[] = { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 };

static void an_expression_gives_the_frame_also_from_the_cache(void **state)
{
	struct frames f = make_frames(0x600000, plt, sizeof(plt));
	const uint64_t before[] = { 0, 2, 3, 4 };
	struct seen s = { 0 };

	(void)state;
	for (int n = 0; n < 3; n++) {
		assert_int_equal(walk(u, &f, before, 4, &s), UNWIND_COMPLETE); /* CODE + 5: nothing pushed yet */
		assert_int_equal(s.nr, 1);
	}
}

static void an_expression_is_found_behind_other_code(void **state)
{
	struct frames f = make_frames(0x600000, plt, sizeof(plt));
	/* three calls from one such function to another */
	const uint64_t stack[] = { CODE + 0x10c, 2, CODE + 0x203, CODE + 0x305, 0, 0, 0 };
	struct seen s = { 0 };

	(void)state;
	for (int n = 0; n < 3; n++) {
		assert_int_equal(walk(u, &f, stack, 7, &s), UNWIND_COMPLETE);
		assert_int_equal(s.nr, 4);
		assert_int_equal(s.frame[1].ip, CODE + 0x10c);
		assert_int_equal(s.frame[2].ip, CODE + 0x203);
		assert_int_equal(s.frame[3].ip, CODE + 0x305);
	}
}

static void information_may_lie_at_any_address(void **state)
{
	const uint64_t stack[] = { 1, 2, 0x7a600042, CODE + 0x80, 3, 4, 5, 0 };

	(void)state;
	for (uint64_t at = 0x600000; at < 0x600008; at++) {
		struct frames f = make_frames(at, saves_r13, sizeof(saves_r13));
		struct seen s = { 0 };

		teardown(state);
		assert_int_equal(setup(state), 0);
		assert_int_equal(walk(u, &f, stack, 8, &s), UNWIND_COMPLETE);
		assert_int_equal(s.nr, 2);
		assert_int_equal(s.frame[1].registers.value[13], 0x7a600042);
	}
}

/* The same addresses, other code since: what was learnt about the old one does not count, nor the other way round. */
static void code_of_another_time_is_other_code(void **state)
{
	static const unsigned char other[] = { 0x0e, 16 };
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13)), g = make_frames(0x600000, other, sizeof(other));
	const uint64_t stack[] = { 1, CODE + 0x90, 0x7a600042, CODE + 0x80, 3, 4, 5, 0 };
	struct unwind_space space = { .find = find_frames, .context = &f, .generation = 1 };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };

	(void)state;
	begin_at(&in, CODE + 5);
	g.key = f.key + 1;
	f.until_ns = g.from_ns = 50;
	for (int n = 0; n < 4; n++) {
		struct seen s = { .most = 2 };

		space.context = n % 2 ? &g : &f;
		space.time_ns = n % 2 ? 60 : 40;
		space.generation = 1 + (unsigned)n % 2;
		assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_STOPPED);
		assert_int_equal(s.frame[1].ip, n % 2 ? CODE + 0x90 : CODE + 0x80);
	}
}

/* Two addresses, ten thousand times other code there, five samples of each: one rule for each address and code. */
static void replaced_code_is_learnt_once(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	const uint64_t stack[] = { 1, 2, 3, CODE + 0x80, 3, 4, 5, 0 };
	struct unwind_space space = { .find = find_frames, .context = &f };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };

	(void)state;
	begin_at(&in, CODE + 5);
	for (uint64_t n = 0; n < 10000; n++) {
		f.from_ns = 10 * n;
		f.until_ns = 10 * n + 10;
		for (uint64_t sample = 0; sample < 5; sample++) {
			struct seen s = { 0 };

			space.time_ns = 10 * n + sample;
			assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_COMPLETE);
		}
	}
	if (way == UNWIND_MEMO)
		assert_int_equal(unwinder_counts(u).rules, 20000);
}

/* An image that two spaces have at different addresses: the bytes of .eh_frame are those of struct frames, as a file has them. */
struct placed {
	struct frames frames;
	uint64_t bias;
	uint32_t alike;
};

static void find_placed(void *context, uint64_t address, struct unwind_object *out)
{
	const struct placed *p = context;
	struct frames f = p->frames;

	find_frames(&f, address - p->bias, out);
	out->bias = p->bias;
	out->alike = p->alike;
	out->eh_frame = p->frames.bytes;
	out->alike_start = CODE + p->bias;
	out->alike_end = CODE + CODE_BYTES + p->bias;
}

/* Rules and notes of an image are made once, whatever process maps it where; those of other images at the same addresses are their own. */
static void an_image_is_learnt_once_for_all_spaces(void **state)
{
	static const unsigned char other[] = { 0x0e, 16 };
	const uint64_t move[] = { 0, 0x10000000, 0x20000000, 0 };
	struct placed at[4];

	(void)state;
	if (way != UNWIND_MEMO) /* bytes of .eh_frame without a file have run-time addresses there */
		return;
	for (uint32_t i = 0; i < 4; i++) {
		at[i].frames = i < 3 ? make_frames(0x600000, saves_r13, sizeof(saves_r13)) :
				       make_frames(0x600000, other, sizeof(other));
		at[i].frames.key = i < 3 ? 7 : 8;
		at[i].bias = move[i];
		at[i].alike = i < 3 ? 1 : 2;
	}
	at[2].frames.until_ns = 2000;
	for (uint32_t n = 0; n < 4000; n++) {
		const uint32_t i = n % 4;
		const uint64_t to = n < 2000 || i != 2 ? move[i] : 0x30000000;
		const uint64_t stack[] = { 1, CODE + 0x90 + to, 3, CODE + 0x80 + to, 3, 4, 5, 0 };
		struct unwind_space space = { .find = find_placed, .context = &at[i], .number = i, .time_ns = n, .generation = 1 + i };
		struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
		struct seen s = { .most = 2 };

		if (n == 2002) { /* the image is unmapped in one space, and elsewhere from then on */
			at[2].bias = to;
			at[2].frames.from_ns = 2000;
			at[2].frames.until_ns = UINT64_MAX;
		}
		begin_at(&in, CODE + 5 + to);
		assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_STOPPED);
		assert_int_equal(s.frame[1].ip, to + (i < 3 ? CODE + 0x80 : CODE + 0x90));
		assert_int_equal(s.frame[1].function, CODE + to);
		if (n >= 4) {
			assert_int_equal(*s.frame[0].note, i < 3 ? 77 : 78);
			assert_int_equal(s.frame[0].same_end_until_ns, i == 2 && n < 2000 ? 2000 : UINT64_MAX);
		}
		*s.frame[0].note = i < 3 ? 77 : 78;
	}
	assert_int_equal(unwinder_counts(u).rules, 4);
}

/* An image that lies in a space for a time only is not found there at another time, although other spaces have it for good. */
static void an_image_has_its_time_in_each_space(void **state)
{
	static const unsigned char other[] = { 0x0e, 16 };
	struct placed first = { make_frames(0x600000, saves_r13, sizeof(saves_r13)), 0, 1 };
	struct placed second = { make_frames(0x600000, other, sizeof(other)), 0, 2 };
	const uint64_t stack[] = { 1, CODE + 0x90, 3, CODE + 0x80, 3, 4, 5, 0 };
	struct unwind_space space = { .find = find_placed };
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };

	(void)state;
	begin_at(&in, CODE + 5);
	first.frames.until_ns = second.frames.from_ns = 50;
	second.frames.key = 8;
	for (int n = 0; n < 6; n++) {
		struct seen s = { .most = 2 };

		space.context = n % 2 ? &second : &first;
		space.time_ns = n % 2 ? 60 : 40;
		space.generation = 1 + (unsigned)n % 2;
		assert_int_equal(unwind_walk(u, &space, &in, see, &s), UNWIND_STOPPED);
		assert_int_equal(s.frame[1].ip, n % 2 ? CODE + 0x90 : CODE + 0x80);
		if (way == UNWIND_MEMO)
			assert_int_equal(n % 2 ? s.frame[0].same_end_from_ns : s.frame[0].same_end_until_ns, 50);
	}
}

/* ------------------------------------------------------------------------------------------------ bytes of .eh_frame */

static bool keep_last(void *context, const struct eh_frame_fde *f)
{
	*(struct eh_frame_fde *)context = *f;
	return true;
}

static void descriptions_say_which_code_they_cover(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));
	struct eh_frame_fde fde = { 0 };

	(void)state;
	eh_frame_each(f.bytes, f.nr, f.address, keep_last, &fde);
	assert_int_equal(fde.start, CODE);
	assert_int_equal(fde.bytes, CODE_BYTES);
	assert_int_equal(fde.offset, 20);
}

static void cut_descriptions_are_not_delivered(void **state)
{
	struct frames f = make_frames(0x600000, saves_r13, sizeof(saves_r13));

	(void)state;
	for (size_t n = 0; n < f.nr - 4; n++) {
		unsigned char *copy = guarded(f.bytes, n);
		struct eh_frame_fde fde = { 0 };

		eh_frame_each(copy, n, f.address, keep_last, &fde);
		assert_int_equal(fde.start, 0);
		guarded_free(copy, n);
	}
}

/* -------------------------------------------------------------------------------------------------------- this program */

struct image {
	uint64_t start, end, bias;
	struct elf_object *elf;
};

enum { IMAGES_MAX = 64 }; /* under sanitizers all libraries are loaded */
static struct image image[IMAGES_MAX];
static int nr_images;

static int add_image(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	int fd = open(path, O_RDONLY);
	struct image *i = &image[nr_images];
	struct stat st;
	void *data;

	(void)bytes;
	(void)context;
	if (fd < 0 || nr_images == IMAGES_MAX) /* the vdso has no file */
		return 0;
	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	assert_int_equal(elf_object_create((uint64_t)st.st_size, NULL, &i->elf, NULL), 0);
	assert_int_equal(elf_object_add_part(i->elf, 0, data, (size_t)st.st_size), 0);
	assert_int_equal(elf_object_open(i->elf, NULL), 0);
	free(data);
	*i = (struct image){ ~0ull, 0, info->dlpi_addr, i->elf };
	for (int n = 0; n < info->dlpi_phnum; n++)
		if (info->dlpi_phdr[n].p_type == PT_LOAD) {
			uint64_t start = info->dlpi_addr + info->dlpi_phdr[n].p_vaddr, end = start + info->dlpi_phdr[n].p_memsz;

			i->start = start < i->start ? start : i->start;
			i->end = end > i->end ? end : i->end;
		}
	nr_images++;
	return 0;
}

static void find_image(void *context, uint64_t address, struct unwind_object *out)
{
	(void)context;
	out->until_ns = UINT64_MAX;
	for (int i = 0; i < nr_images; i++)
		if (address - image[i].start < image[i].end - image[i].start) {
			*out = (struct unwind_object){ .start = image[i].start, .end = image[i].end, .key = 100 + (uint64_t)i,
						       .elf = image[i].elf, .bias = image[i].bias, .code = true,
						       .until_ns = UINT64_MAX };
			return;
		}
}

#define STACK_COPY (64u << 10)
static unsigned char stack_copy[STACK_COPY];
static struct unwind_input own;
static void *glibcs[SEEN_MAX];
static int nr_glibcs;

/* Registers and stack of here, and what glibc makes of the same place. */
__attribute__((noinline, no_sanitize("address"))) static void take_snapshot(void)
{
	static const int from[UNWIND_REGISTERS] = {
		[0] = REG_RAX, [1] = REG_RDX, [2] = REG_RCX, [3] = REG_RBX, [4] = REG_RSI, [5] = REG_RDI, [6] = REG_RBP, [7] = REG_RSP,
		[8] = REG_R8, [9] = REG_R9, [10] = REG_R10, [11] = REG_R11, [12] = REG_R12, [13] = REG_R13, [14] = REG_R14,
		[15] = REG_R15, [16] = REG_RIP,
	};
	const volatile unsigned char *stack;
	ucontext_t c;

	getcontext(&c);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		own.registers.value[i] = (uint64_t)c.uc_mcontext.gregs[from[i]];
	own.registers.known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16;
	stack = (const unsigned char *)(uintptr_t)own.registers.value[UNWIND_RSP];
	nr_glibcs = backtrace(glibcs, SEEN_MAX);
	for (own.stack_bytes = 0; own.stack_bytes < STACK_COPY; own.stack_bytes++) {
		const volatile unsigned char *at = stack + own.stack_bytes;

		/* not beyond the stack: the environment's texts are above all frames */
		if ((uintptr_t)at >= (uintptr_t)environ[0])
			break;
		stack_copy[own.stack_bytes] = *at;
	}
	own.stack = stack_copy;
}

static int compare(const void *a, const void *b)
{
	take_snapshot();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int deeper(int n)
{
	int numbers[2] = { 2, 1 };
	volatile char room[200];

	room[n] = (char)n;
	if (n > 0)
		return deeper(n - 1) + room[n];
	qsort(numbers, 2, sizeof(numbers[0]), compare); /* through libc, which keeps no frame pointer */
	return numbers[0];
}

/* Every frame that glibc's unwinder finds, at its address, from take_snapshot()'s caller on.  (A sanitizer stands between us
 * and backtrace() with a frame of its own.) */
static void compare_with_glibcs(void)
{
	struct unwind_space space = { .find = find_image, .generation = 1 };
	struct seen s = { 0 };
	enum unwind_end end;
	int own_frames;

	for (int n = 0; n < 2; n++) { /* without and with what is cached */
		s.nr = 0;
		end = unwind_walk(u, &space, &own, see, &s);
		assert_int_equal(end, UNWIND_COMPLETE);
		assert_true(s.nr > 10);
		own_frames = nr_glibcs - s.nr;
		assert_uint_in_range(own_frames, 0, 1);
		for (int i = 1; i < s.nr; i++)
			assert_int_equal(s.frame[i].ip, (uint64_t)(uintptr_t)glibcs[own_frames + i]);
	}
}

static int open_images(void **state)
{
	nr_images = 0;
	dl_iterate_phdr(add_image, NULL);
	return setup(state);
}

static int close_images(void **state)
{
	for (int i = 0; i < nr_images; i++)
		elf_object_destroy(image[i].elf);
	return teardown(state);
}

static void own_frames_are_those_of_glibcs_unwinder(void **state)
{
	(void)state;
	deeper(5);
	compare_with_glibcs();
}

static void on_signal(int number)
{
	(void)number;
	take_snapshot();
}

/* From a handler, through the kernel's frame, to where the signal came and on from there. */
static void frames_behind_a_signal_are_those_of_glibcs_unwinder(void **state)
{
	(void)state;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	compare_with_glibcs();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_saved_register_is_the_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_register_that_was_taken_back_is_the_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(code_without_information_may_have_frame_pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_caller_of_generated_code_may_keep_no_frame_pointer, setup, teardown),
		cmocka_unit_test_setup_teardown(code_without_information_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(the_callback_can_stop_the_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(a_snapshot_that_ends_too_early_is_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stack_has_as_many_frames_as_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_frame_pointer_may_lead_beyond_the_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(code_without_information_ends_the_walk, setup, teardown),
		cmocka_unit_test_setup_teardown(callers_are_looked_up_by_their_call, setup, teardown),
		cmocka_unit_test_setup_teardown(a_walk_that_does_not_advance_is_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(an_expression_gives_the_frame_also_from_the_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(an_expression_is_found_behind_other_code, setup, teardown),
		cmocka_unit_test_setup_teardown(information_may_lie_at_any_address, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_another_time_is_other_code, setup, teardown),
		cmocka_unit_test_setup_teardown(replaced_code_is_learnt_once, setup, teardown),
		cmocka_unit_test_setup_teardown(an_image_is_learnt_once_for_all_spaces, setup, teardown),
		cmocka_unit_test_setup_teardown(an_image_has_its_time_in_each_space, setup, teardown),
		cmocka_unit_test(descriptions_say_which_code_they_cover),
		cmocka_unit_test(cut_descriptions_are_not_delivered),
		cmocka_unit_test_setup_teardown(own_frames_are_those_of_glibcs_unwinder, open_images, close_images),
		cmocka_unit_test_setup_teardown(frames_behind_a_signal_are_those_of_glibcs_unwinder, open_images, close_images),
	};

	int failed = cmocka_run_group_tests_name("memo", tests, NULL, NULL);

	way = UNWIND_LIBUNWIND;
	return failed + cmocka_run_group_tests_name("libunwind", tests, NULL, NULL);
}
