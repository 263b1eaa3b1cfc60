/* SPDX-License-Identifier: MIT */
/*
 * Makes trampolines for Python's functions. All of them are the same code, and each is registered under the name of its function. The
 * memory of the code is written before it is made executable, and never again.
 */
#include "shim/libraries/python.h"

#include "agent/guest/sys.h"

#include <string.h>

#define SLOT_BYTES 16u
#define SLOTS_MAX 65536u /* maximum number of code objects at the same time, whose slots take 1 MiB */
#define BLOCK_BYTES 65536u
#define NAME_BYTES 1024
#define LINE_BYTES (NAME_BYTES + 64)

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const unsigned char instructions[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
static const struct frame_rule frame_rule[] = { { 0, 8 }, { 4, 16 }, { 10, 8 } };
static unsigned char *slots;
static uint32_t nr_slots, nr_used, first_free; /* first_free: slot number + 1, as in next_free[] */
static uint32_t *next_free; /* one entry per slot, behind the slots; for a taken slot the recorder that it is registered with */
static uint32_t recorder;

bool python_trampolines_start(void)
{
	const size_t bytes = (size_t)SLOTS_MAX * SLOT_BYTES;
	long p;

	if (slots)
		return true;
	p = sys_mmap(NULL, bytes + SLOTS_MAX * sizeof(*next_free), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (p < 0)
		return false;
	slots = (unsigned char *)p;
	next_free = (uint32_t *)(slots + bytes);
	return true;
}

static bool write_another_block(void)
{
	unsigned char *block = slots + (size_t)nr_slots * SLOT_BYTES;

	if (nr_slots == SLOTS_MAX)
		return false;
	for (uint32_t at = 0; at < BLOCK_BYTES; at += SLOT_BYTES)
		memcpy(block + at, instructions, sizeof(instructions));
	if (sys_mprotect((uintptr_t)block, BLOCK_BYTES, PROT_READ | PROT_EXEC))
		return false;
	nr_slots += BLOCK_BYTES / SLOT_BYTES;
	return true;
}

void *python_trampoline_take(void)
{
	uint32_t nr = first_free;

	if (nr) {
		first_free = next_free[nr - 1];
		return slots + (size_t)(nr - 1) * SLOT_BYTES;
	}
	if (nr_used == nr_slots && !write_another_block())
		return NULL;
	return slots + (size_t)nr_used++ * SLOT_BYTES;
}

static uint32_t number_of_trampoline(const void *trampoline)
{
	return (uint32_t)(((const unsigned char *)trampoline - slots) / SLOT_BYTES);
}

void python_trampoline_give_back(void *trampoline)
{
	uint32_t nr = number_of_trampoline(trampoline);

	next_free[nr] = first_free;
	first_free = nr + 1;
}

static size_t append_text(char *to, size_t at, const char *text)
{
	while (*text && at + 1 < NAME_BYTES)
		to[at++] = *text++;
	to[at] = 0;
	return at;
}

void python_trampolines_forget_registrations(void)
{
	recorder++;
}

bool python_trampoline_is_registered(const void *trampoline)
{
	return next_free[number_of_trampoline(trampoline)] == recorder;
}

/* Registers a trampoline with a name in the form that Python 3.12 uses for perf. Its number is the address of the bytecodes, by which the
 * analyzer finds them. */
void python_trampoline_register(void *trampoline, int minor, const struct python_function *f)
{
	const struct python_bytecodes *b = f->bytecodes;
	uint64_t address = (uint64_t)(uintptr_t)trampoline;
	unsigned char buffer[LINE_BYTES];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };
	char name[NAME_BYTES];
	size_t at = append_text(name, 0, "py::");
	bool has_bytecodes;

	at = append_text(name, at, f->name);
	at = append_text(name, at, ":");
	append_text(name, at, f->file);
	has_bytecodes = b->bytes && python_lines_register(minor, b, name, f->file);
	if (b->first_line && line_table_add(&t, address, b->first_line, f->file, strlen(f->file)))
		line_table_send(&t, address);
	next_free[number_of_trampoline(trampoline)] = recorder;
	jitreg_code_load(address, sizeof(instructions), has_bytecodes ? b->address : 0, name, trampoline);
	announce_frames(address, sizeof(instructions), frame_rule, sizeof(frame_rule) / sizeof(frame_rule[0]), NULL, 0);
}
