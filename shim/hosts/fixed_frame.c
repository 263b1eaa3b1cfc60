/* SPDX-License-Identifier: MIT */
/*
 * Registers frames for hosts all of whose generated code has one frame.  The code that the host calls saves three registers.  From there it
 * jumps to functions of the language, which have a stack of their own elsewhere, until the last one restores the registers and returns.  So
 * everywhere in their code memory the caller's frame is at the same distance, except for a few instructions at entry and exit (those of
 * Ruby are in ruby_code.c).
 *
 * In Guile 3.0, emit_entry_trampoline() (jit.c) makes the code that saves the registers, and in Ruby 3.1's YJIT, yjit_entry_prologue()
 * (yjit_codegen.c) does.  Both save the same three.
 */
#include "shim/hosts/hosts.h"

#include <string.h>

static const struct frame_rule rule = { 0, FIXED_FRAME_BYTES };
static const struct frame_saved saved[] = { { 13, 2 }, { 12, 3 }, { 3, 4 } };

static bool is_adapted; /* the process has such a host */

void fixed_frame_register(uint64_t address, uint64_t bytes, const struct frame_rule *rules, int nr_rules)
{
	announce_frames(address, bytes, rules, nr_rules, saved, sizeof(saved) / sizeof(saved[0]));
}

static bool is_library_named(const struct object *o, const char *name)
{
	const char *slash = strrchr(o->name, '/');

	return strncmp(slash ? slash + 1 : o->name, name, strlen(name)) == 0;
}

static bool is_guile_library(const struct object *o)
{
	return is_library_named(o, "libguile-3.0.so");
}

static bool is_ruby_library(const struct object *o)
{
	return is_library_named(o, "libruby-3.1.so") || is_library_named(o, "libruby.so.3.1");
}

void fixed_frame_note_object(const struct object *o)
{
	is_adapted |= is_guile_library(o) || is_ruby_library(o);
}

void fixed_frame_note_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	if (!is_adapted || (!is_guile_library(mapper) && !is_ruby_library(mapper)))
		return;
	if (is_guile_library(mapper))
		ANNOUNCE_ONCE("Guile: generated code is unwound by its fixed frame of three saved registers");
	else
		ANNOUNCE_ONCE("Ruby: YJIT code is unwound by its fixed frame of three saved registers");
	fixed_frame_register(address, bytes, &rule, 1);
}
