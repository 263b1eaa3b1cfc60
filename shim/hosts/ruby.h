/* SPDX-License-Identifier: MIT */
/*
 * This header has the structures of Ruby 3.1 that are read (vm_core.h, method.h, yjit_core.h, darray.h), and functions of Ruby that are
 * called. None of these calls allocates.
 */
#ifndef TAILOR_RUBY_H
#define TAILOR_RUBY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct array {
	int32_t nr, capacity;
	void *at[];
};
struct body {
	uint32_t type, nr_words;
	uint64_t *words; /* instructions and operands */
};
struct sequence {
	uint64_t flags;
	void *wrapper;
	struct body *body;
};
struct block {
	struct sequence *sequence;
	uint32_t index;
	unsigned char context[32];
	unsigned char *start, *end;
	struct array *incoming, *outgoing, *gc_offsets, *methods; /* methods: of struct dependency */
};
struct branch {
	struct block *block;
	unsigned char *start, *end;
	struct {
		struct sequence *sequence;
		uint32_t index;
	} target[2];
	unsigned char context[2][30];
	struct block *to[2];
};
struct method {
	uint64_t flags, defined_class;
	struct {
		uint64_t type;
		struct sequence *sequence;
	} *definition;
	uint64_t called_as, owner;
};
struct dependency {
	uint64_t receiver;
	struct method *method;
};
struct frame {
	uint64_t *pc, *sp;
	struct sequence *sequence;
};
struct context {
	uint64_t *stack, stack_words;
	struct frame *frame;
};
_Static_assert(offsetof(struct block, start) == 48 && offsetof(struct branch, to) == 120, "as Ruby's compiler lays them out");

#define RUBY_NIL 8
#define RUBY_NAME_BYTES 512

extern struct ruby_functions {
	uint64_t (*thread_current)(void);
	int (*during_gc)(void);
	int (*profile_frames)(int start, int limit, uint64_t *frames, int *lines);
	unsigned (*line_no)(const struct sequence *s, size_t index);
	uint64_t (*label)(const struct sequence *s);
	uint64_t (*base_label)(const struct sequence *s);
	uint64_t (*path)(const struct sequence *s);
	uint64_t (*real_path)(const struct sequence *s);
	uint64_t (*mod_name)(uint64_t class);
	bool (*is_main_ractor)(void);
	uint64_t (*intern)(const char *name);
	uint64_t (*attribute)(uint64_t object, uint64_t name);
} ruby_functions;

static inline bool ruby_is_object(uint64_t value)
{
	return value > RUBY_NIL && value % 8 == 0;
}

/* Is this an instruction sequence with a body? s is any value of Ruby, and is read only if it has the form of an object's address. */
bool ruby_is_sequence(const struct sequence *s);
/* Returns the method of a frame (in the form of rb_profile_frames()) if it is one that is written in Ruby, or NULL. */
const struct method *ruby_method_of_frame(uint64_t frame);
/* Returns the method with the instructions s among those that the block's code calls by a jump, or NULL. */
const struct method *ruby_method_called(const struct block *b, const struct sequence *s);
/* Returns the text of a string, which need not end with a NUL, and its length.  Returns "" if the value is no string. */
const char *ruby_string_text(uint64_t value, size_t *bytes);
/* Formats a name such as "block in Class#method".  m may be NULL. */
void ruby_format_method_name(const struct sequence *s, const struct method *m, char *out, size_t bytes);

#endif
