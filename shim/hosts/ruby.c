/* SPDX-License-Identifier: MIT */
/*
 * Ruby 3.1's YJIT has no JIT interface.  Whenever it has compiled, it makes its memory executable again (mprotect).  At that moment its
 * thread has the interpreter's lock, other Ractors wait, the running frame is that of the compiled code, and the pc of that frame is where
 * the first new block begins.  So the new blocks are found at once, and by reading alone.  No Ruby code is run, nothing is allocated, no
 * tracepoint is set (any of them discards all of YJIT's code), and no interrupt is requested (one makes a loop leave compiled code for the
 * rest of its life).
 *
 * An instruction sequence has an array of arrays of blocks (yjit_core.h), by instruction.  The place of that array is searched once.  A
 * block names its sequence and instruction, so that a block that was found can be verified.  Blocks are compiled in a row, each the target
 * of its predecessor's last branch, also into the methods that are called there.  Code is written to ascending addresses and never reused.
 * Only a jump at the end of a block may be overwritten by the next block.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"
#include "shim/hosts/ruby.h"
#include "shim/hosts/ruby_code.h"

#include <stdio.h>
#include <string.h>

#define MEMORY_BYTES_MIN (1u << 20)
#define LINES_BYTES 4096
#define ENTRY_BYTES_MAX 256 /* an entry begins less than this in front of a method's first block */
#define ENTRY_ALIGNMENT 64
#define TRIES_MAX 100
#define THREAD_OF_OBJECT 32
#define CONTEXT_OF_THREAD 40
#define BODY_BYTES 512

static struct {
	uintptr_t bias; /* load bias of Ruby's library */
	/* YJIT's memory has code in the first half, and exits and stubs in the other */
	unsigned char *memory, *middle;
	size_t blocks_of_body; /* offset of the array of blocks in a body; 0: not found yet */
	int tries;
	unsigned char *last_start, *last_end, *outlined;
	int taken;
} ruby;

/* ---- Blocks. */

static struct array *blocks_of_sequence(const struct sequence *s)
{
	struct array *a;

	memcpy(&a, (const char *)s->body + ruby.blocks_of_body, sizeof(a));
	return a;
}

/* Is the block one that was not registered yet?  A block that was only a jump is gone when the next one has been put into its place. */
static bool is_new_block(const struct block *b)
{
	return (b->start > ruby.last_start || (b->start == ruby.last_start && b->end > b->start && b->end != ruby.last_end)) &&
	       b->start >= ruby.memory && b->start < ruby.middle && b->end >= b->start && b->end <= ruby.middle;
}

/* Is this a body's array of blocks?  All memory that is not known yet is checked before it is read. */
static bool is_array_of_blocks(struct array *a, const struct sequence *s, uint32_t index)
{
	struct array *versions;
	struct block *b;

	if ((uintptr_t)a % 8 || !sys_readable_range(a, sizeof(*a)) || a->nr != (int32_t)s->body->nr_words ||
	    !sys_readable_range(a, sizeof(*a) + (size_t)a->nr * sizeof(void *)))
		return false;
	versions = a->at[index];
	if ((uintptr_t)versions % 8 || !sys_readable_range(versions, sizeof(*versions) + sizeof(void *)) || versions->nr < 1)
		return false;
	b = versions->at[0];
	return (uintptr_t)b % 8 == 0 && sys_readable_range(b, sizeof(*b)) && b->sequence == s && b->index == index && is_new_block(b);
}

/* Finds the sequence of the running frame, and the index of its instruction. Returns NULL if the frame has none or cannot be read. */
static const struct sequence *find_running_sequence(uint32_t *index)
{
	const char *object = (const char *)(uintptr_t)ruby_functions.thread_current(), *thread;
	const struct context *c;
	const struct frame *f;
	const struct sequence *s;
	bool sure = ruby.blocks_of_body != 0;

	if (!sure && !sys_readable_range(object, THREAD_OF_OBJECT + 8))
		return NULL;
	memcpy(&thread, object + THREAD_OF_OBJECT, sizeof(thread));
	if (!sure && !sys_readable_range(thread, CONTEXT_OF_THREAD + 8))
		return NULL;
	memcpy(&c, thread + CONTEXT_OF_THREAD, sizeof(c));
	if (!sure && !sys_readable_range(c, sizeof(*c)))
		return NULL;
	f = c->frame;
	if ((uintptr_t)f < (uintptr_t)c->stack || (uintptr_t)f >= (uintptr_t)(c->stack + c->stack_words))
		return NULL;
	if (!sure && !sys_readable_range(f, sizeof(*f)))
		return NULL;
	s = f->sequence;
	if (!ruby_is_object((uintptr_t)s) || (!sure && !sys_readable_range(s, sizeof(*s))) || !ruby_is_sequence(s) ||
	    (!sure && !sys_readable_range(s->body, BODY_BYTES)))
		return NULL;
	if (f->pc < s->body->words || f->pc >= s->body->words + s->body->nr_words)
		return NULL;
	*index = (uint32_t)(f->pc - s->body->words);
	return s;
}

static bool find_offset_of_blocks(const struct sequence *s, uint32_t index)
{
	struct array *a;

	if (ruby.tries++ >= TRIES_MAX)
		return false;
	for (size_t at = sizeof(struct body); at + sizeof(a) <= BODY_BYTES; at += 8) {
		memcpy(&a, (const char *)s->body + at, sizeof(a));
		if (is_array_of_blocks(a, s, index)) {
			ruby.blocks_of_body = at;
			return true;
		}
	}
	if (ruby.tries == TRIES_MAX)
		guest_debug("Ruby: adapter unavailable (YJIT's list of blocks was not found)");
	return false;
}

/* Returns the first of the blocks that were just compiled, or NULL. */
static const struct block *find_first_new_block(const struct sequence *s, uint32_t index)
{
	const struct array *a = blocks_of_sequence(s), *versions = a && index < (uint32_t)a->nr ? a->at[index] : NULL;
	const struct block *first = NULL, *b;

	for (int32_t i = 0; versions && i < versions->nr; i++) {
		b = versions->at[i];
		if (is_new_block(b) && (!first || b->start < first->start))
			first = b;
	}
	return first;
}

static const struct block *find_next_new_block(const struct block *b)
{
	const struct branch *last = b->outgoing && b->outgoing->nr > 0 ? b->outgoing->at[b->outgoing->nr - 1] : NULL;
	const struct block *next = last && last->block == b ? last->to[0] : NULL;

	return next && is_new_block(next) && next->start >= b->end && ruby_is_sequence(next->sequence) ? next : NULL;
}

/* ---- Registration of blocks. */

static void register_block_lines(const unsigned char *code, size_t bytes, const struct sequence *s, uint32_t index)
{
	unsigned char buffer[LINES_BYTES];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };
	uint64_t first = (uintptr_t)s->body->words, pc;
	size_t file_bytes, at = 0, before = 0;
	const char *file = ruby_string_text(ruby_functions.real_path(s), &file_bytes);
	uint32_t line = ruby_functions.line_no(s, index);

	if (!file_bytes)
		file = ruby_string_text(ruby_functions.path(s), &file_bytes);
	if (!file_bytes)
		return;
	while (before < bytes && (!line || line_table_add(&t, (uintptr_t)code + before, line, file, file_bytes)) &&
	       (pc = ruby_code_next_pc(code, bytes, &at)) != 0) {
		before = at;
		line = pc > first && pc - first <= 8 * (uint64_t)s->body->nr_words ? ruby_functions.line_no(s, (pc - first) / 8 - 1) : 0;
	}
	line_table_send(&t, (uintptr_t)code);
}

static void register_yjit_code(const unsigned char *code, const unsigned char *end, const char *name, const struct sequence *s,
			       uint32_t index)
{
	size_t bytes = (size_t)(end - code);

	if (s)
		register_block_lines(code, bytes, s, index);
	jitreg_code_load((uintptr_t)code, bytes, 0, name, code);
	ruby_code_register_frames(code, bytes);
}

/* Finds the start of a block's code.  A method's first block may have an entry in front. */
static unsigned char *find_entry_of_block(const struct block *b)
{
	uintptr_t at = (uintptr_t)b->start & ~(uintptr_t)(ENTRY_ALIGNMENT - 1);

	for (; b->index == 0 && at >= (uintptr_t)ruby.last_end && (uintptr_t)b->start - at < ENTRY_BYTES_MAX; at -= ENTRY_ALIGNMENT)
		if (ruby_code_is_entry((unsigned char *)at))
			return (unsigned char *)at;
	return b->start;
}

static void register_block(const struct block *b, const struct method *m, char *name, size_t name_bytes)
{
	unsigned char *start = find_entry_of_block(b);

	ruby_format_method_name(b->sequence, m, name, name_bytes);
	ruby.last_start = b->start;
	ruby.last_end = b->end;
	if (b->end > start)
		register_yjit_code(start, b->end, name, b->sequence, b->index);
}

/* Registers exits and stubs of the code that was just compiled. They end at the first 16 bytes that were not written. */
static void register_outlined_code(const struct block *first, const char *name)
{
	const unsigned char *limit = ruby.middle + (ruby.middle - ruby.memory), *end = ruby.outlined;
	char text[RUBY_NAME_BYTES + 16];

	for (int unwritten = 0; end < limit && unwritten < 16; end++)
		unwritten = *end == RUBY_CODE_UNWRITTEN ? unwritten + 1 : 0;
	while (end > ruby.outlined && end[-1] == RUBY_CODE_UNWRITTEN)
		end--;
	if (end == ruby.outlined)
		return;
	snprintf(text, sizeof(text), "%s (exits)", name);
	register_yjit_code(ruby.outlined, end, text, first ? first->sequence : NULL, first ? first->index : 0);
	ruby.outlined += end - ruby.outlined;
}

static void begin_registering_yjit(void)
{
	ruby.last_start = ruby.memory;
	ruby.last_end = ruby.memory + ENTRY_ALIGNMENT;
	ruby.outlined = ruby.middle;
	ANNOUNCE_ONCE("YJIT: methods, blocks and lines read from memory each time YJIT makes it executable");
	register_yjit_code(ruby.memory, ruby.last_end, "YJIT: return to the interpreter", NULL, 0);
}

/*
 * Registers the blocks that YJIT has compiled since its memory was last made executable. Context: a thread of Ruby that has compiled, or
 * discarded, code, with the interpreter's lock.
 */
static void register_new_blocks(void)
{
	char name[RUBY_NAME_BYTES] = "YJIT", callee[RUBY_NAME_BYTES];
	const struct block *first = NULL, *b, *next;
	const struct method *m = NULL;
	const struct sequence *s;
	uint64_t frame = RUBY_NIL;
	uint32_t index;

	s = find_running_sequence(&index);
	if (!s)
		return;
	if (!ruby.blocks_of_body) {
		if (!find_offset_of_blocks(s, index))
			return;
		begin_registering_yjit();
	}
	first = find_first_new_block(s, index);
	if (first && ruby_functions.profile_frames(0, 1, &frame, NULL) == 1)
		m = ruby_method_of_frame(frame);
	for (b = first; b; b = next) {
		register_block(b, m, b == first ? name : callee, RUBY_NAME_BYTES);
		next = find_next_new_block(b);
		if (next && next->sequence != b->sequence)
			m = ruby_method_called(b, next->sequence);
	}
	register_outlined_code(first, name);
}

void ruby_note_executable(const void *address, size_t bytes)
{
	if (!ruby.memory || address != ruby.memory || bytes != (size_t)(ruby.middle - ruby.memory) || !guest_is_on() ||
	    ruby_functions.during_gc() || __atomic_exchange_n(&ruby.taken, 1, __ATOMIC_ACQUIRE))
		return;
	register_new_blocks();
	__atomic_store_n(&ruby.taken, 0, __ATOMIC_RELEASE);
}

/* Notes YJIT's memory, which is the only code that Ruby itself maps. */
void ruby_note_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	if (!ruby_functions.thread_current || ruby.memory || mapper->bias != ruby.bias || bytes < MEMORY_BYTES_MIN)
		return;
	ruby.memory = (unsigned char *)(uintptr_t)address;
	ruby.middle = ruby.memory + bytes / 2;
}

void ruby_hook_object(const struct object *o)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{ "rb_during_gc", offsetof(struct ruby_functions, during_gc) },
		{ "rb_profile_frames", offsetof(struct ruby_functions, profile_frames) },
		{ "rb_iseq_line_no", offsetof(struct ruby_functions, line_no) },
		{ "rb_iseq_label", offsetof(struct ruby_functions, label) },
		{ "rb_iseq_base_label", offsetof(struct ruby_functions, base_label) },
		{ "rb_iseq_path", offsetof(struct ruby_functions, path) },
		{ "rb_iseq_realpath", offsetof(struct ruby_functions, real_path) },
		{ "rb_mod_name", offsetof(struct ruby_functions, mod_name) },
		{ "rb_ractor_main_p_", offsetof(struct ruby_functions, is_main_ractor) },
		{ "rb_intern", offsetof(struct ruby_functions, intern) },
		{ "rb_attr_get", offsetof(struct ruby_functions, attribute) },
		{ "rb_thread_current", offsetof(struct ruby_functions, thread_current) }, /* the last one, so all are set if this is */
	};
	const char *version = ruby_functions.thread_current ? NULL : object_find_symbol(o, "ruby_version");

	if (!version || strncmp(version, "3.1.", 4) != 0)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = object_find_symbol(o, wanted[i].name);

		if (!symbol)
			return;
		memcpy((char *)&ruby_functions + wanted[i].at, &symbol, sizeof(symbol));
	}
	ruby.bias = o->bias;
}
