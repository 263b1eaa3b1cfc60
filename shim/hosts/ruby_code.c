/* SPDX-License-Identifier: MIT */
/*
 * Reads the machine code of Ruby's YJIT (yjit_codegen.c, 3.1).  All of it runs in one frame (fixed_frame.c), except for a few instructions.
 * An entry pushes three registers, and exits pop them.  Two of Ruby's instructions (a hash and a regular expression with contents) keep a
 * value on the stack, twice, during a call.  All of these are found by their bytes.
 */
#include "shim/hosts/ruby_code.h"

#include "shim/hosts/hosts.h"

#include <string.h>

#define RULES_MAX 96
#define RULES_A_PLACE 4
#define KEPT_BYTES_MAX 128

static const unsigned char pushes[] = { 0x41, 0x55, 0x41, 0x54, 0x53 }; /* r13, r12, rbx */
static const unsigned char pops[] = { 0x5b, 0x41, 0x5c, 0x41, 0x5d };
static const unsigned char store_pc[] = { 0x49, 0x89, 0x45, 0 }; /* mov %rax, (%r13), which stores what mov $pc, %rax has loaded */

struct rules {
	uint64_t address; /* address of the code whose rules are collected */
	struct frame_rule rule[RULES_MAX];
	int nr;
};

static void add_frame_rule(struct rules *r, size_t at, uint32_t cfa)
{
	if (r->nr && r->rule[r->nr - 1].from == at)
		r->nr--;
	r->rule[r->nr++] = (struct frame_rule){ (uint32_t)at, cfa };
}

static void register_frame_rules(struct rules *r, size_t bytes)
{
	while (r->nr > 1 && r->rule[r->nr - 1].from >= bytes)
		r->nr--;
	if (bytes && (r->nr > 1 || r->rule[0].cfa != FIXED_FRAME_BYTES))
		fixed_frame_register(r->address, bytes, r->rule, r->nr);
	r->address += bytes;
	r->nr = 0;
	add_frame_rule(r, 0, FIXED_FRAME_BYTES);
}

static bool pattern_is_at(const unsigned char *code, size_t bytes, size_t at, const void *pattern, size_t nr)
{
	return nr <= bytes - at && memcmp(code + at, pattern, nr) == 0;
}

static bool is_behind_call(const unsigned char *code, size_t at)
{
	return (at >= 5 && code[at - 5] == 0xe8) || (at >= 2 && code[at - 2] == 0xff && code[at - 1] == 0xd0);
}

bool ruby_code_is_entry(const unsigned char *code)
{
	return memcmp(code, pushes, sizeof(pushes)) == 0;
}

uint64_t ruby_code_next_pc(const unsigned char *code, size_t bytes, size_t *at)
{
	uint64_t pc;

	for (size_t i = *at; i < bytes && bytes - i >= 10 + sizeof(store_pc); i++)
		if (code[i] == 0x48 && code[i + 1] == 0xb8 && memcmp(code + i + 10, store_pc, sizeof(store_pc)) == 0) {
			memcpy(&pc, code + i + 2, sizeof(pc));
			*at = i + 10 + sizeof(store_pc);
			return pc;
		}
	*at = bytes;
	return 0;
}

/* Returns the length of the exit at `at`, which pops registers, or 0 if there is other code. */
static size_t bytes_of_exit_at(const unsigned char *code, size_t bytes, size_t at)
{
	size_t end = at + sizeof(pops);

	if (!pattern_is_at(code, bytes, at, pops, sizeof(pops)))
		return 0;
	if (end < bytes && code[end] == 0xb8) /* mov $Qundef, %eax */
		end += 5;
	return end < bytes && code[end] == 0xc3 ? end + 1 - at : 0;
}

/* Returns the length of the code at `at` that keeps a value on the stack for a call.  It pushes the value twice, and ends where it has
 * popped it twice.  Returns 0 if there is other code. */
static size_t bytes_of_kept_value_at(const unsigned char *code, size_t bytes, size_t at)
{
	if (!is_behind_call(code, at) || !pattern_is_at(code, bytes, at, "\x50\x50", 2))
		return 0;
	for (size_t end = at + 2; end < bytes && end - at < KEPT_BYTES_MAX; end++)
		if (is_behind_call(code, end) &&
		    (pattern_is_at(code, bytes, end, "\x58\x58", 2) || pattern_is_at(code, bytes, end, "\x59\x5f", 2)))
			return end + 2 - at;
	return 0;
}

void ruby_code_register_frames(const unsigned char *code, size_t bytes)
{
	struct rules r = { .address = (uint64_t)(uintptr_t)code };
	size_t begun = 0, length;

	add_frame_rule(&r, 0, FIXED_FRAME_BYTES);
	for (size_t at = 0; at < bytes; at += length) {
		size_t from = at - begun;

		if (pattern_is_at(code, bytes, at, pushes, sizeof(pushes))) {
			length = sizeof(pushes);
			add_frame_rule(&r, from, 8);
			add_frame_rule(&r, from + 2, 16);
			add_frame_rule(&r, from + 4, 24);
		} else if ((length = bytes_of_exit_at(code, bytes, at)) != 0) {
			add_frame_rule(&r, from + 1, 24);
			add_frame_rule(&r, from + 3, 16);
			add_frame_rule(&r, from + 5, 8);
		} else if ((length = bytes_of_kept_value_at(code, bytes, at)) != 0) {
			add_frame_rule(&r, from + 1, FIXED_FRAME_BYTES + 8);
			add_frame_rule(&r, from + 2, FIXED_FRAME_BYTES + 16);
			add_frame_rule(&r, from + length - 1, FIXED_FRAME_BYTES + 8);
		} else {
			length = 1;
			continue;
		}
		add_frame_rule(&r, from + length, FIXED_FRAME_BYTES);
		if (r.nr > RULES_MAX - RULES_A_PLACE) {
			register_frame_rules(&r, from + length);
			begun = at + length;
		}
	}
	register_frame_rules(&r, bytes - begun);
}
