/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/walk.h"

#include "jitreg/base/registers.h"

#include <string.h>

/* If a non-maskable interrupt takes a sample inside of the kernel, Linux does not look for the user's rbx and r12-r15, and reports -1
 * (arch/x86/kernel/perf_regs.c, perf_get_regs_user()).  So these registers are unknown if all of them are -1. */
#define UNSAVED (1u << UNWIND_RBX | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15)

static void forget_unsaved(struct unwind_registers *r)
{
	for (uint32_t n = 0; n < UNWIND_REGISTERS; n++)
		if ((r->known & UNSAVED) >> n & 1 && r->value[n] != UINT64_MAX)
			return;
	r->known &= ~UNSAVED;
}

uint32_t walk_needed_registers(uint32_t dwarf)
{
	return dwarf | (dwarf & UNSAVED ? UNSAVED : 0);
}

uint32_t walk_perf_register(int dwarf)
{
	return registers_perf[dwarf];
}

uint64_t walk_perf_register_mask(uint32_t dwarf)
{
	uint64_t mask = 0;

	for (int n = 0; n < UNWIND_REGISTERS; n++)
		mask |= dwarf >> n & 1 ? 1ull << registers_perf[n] : 0;
	return mask;
}

bool walk_input_of_sample(struct sample_block *b, uint32_t i, struct unwind_input *out)
{
	const uint64_t *abi = b->column[SAMPLE_COLUMN_REGISTERS_ABI], *ip = b->column[SAMPLE_COLUMN_IP];
	const uint64_t *mode = b->column[SAMPLE_COLUMN_MODE];

	out->stack = sample_block_stack(b, i, &out->stack_bytes);
	out->registers.known = 0;
	out->registers.value[UNWIND_RIP] = 0;
	if (!abi || abi[i] != WALK_ABI_64)
		return false;
	for (int n = 0; n < UNWIND_REGISTERS; n++)
		if (b->registers[registers_perf[n]]) {
			out->registers.value[n] = b->registers[registers_perf[n]][i];
			out->registers.known |= 1u << n;
		}
	if (mode && mode[i] != SAMPLE_MODE_USER) {
		forget_unsaved(&out->registers);
	} else { /* the registers are those of the sampled instruction, except for skid */
		out->registers.value[UNWIND_RIP] = ip ? ip[i] : 0;
		out->registers.known |= 1u << UNWIND_RIP;
	}
	return true;
}

/* Checks for a program that was linked without any call-frame information (bun, deno).  Its stacks can only be walked by frame pointers. */
static bool has_no_frame_info(struct elf_object *elf)
{
	struct elf_section s;
	struct go_table go;
	uint64_t text;

	return !elf_find_section(elf, ".eh_frame", &s) && !elf_find_section(elf, ".debug_frame", &s) && !elf_find_go(elf, &go, &text);
}

static void find_unwind_object(void *context, uint64_t address, struct unwind_object *out)
{
	const struct walk_place *at = context;
	const struct code_answer frames = model_ask_frames(at->process, address, at->time_ns);
	const struct code_answer code = model_ask_any_code(at->process, address, at->time_ns);
	const struct frames *f = frames.fact ? frames.fact->owner : NULL;
	const struct code *c = code.fact ? code.fact->owner : NULL;
	struct code_answer both = code;
	struct elf_code function;
	uint64_t file_address;

	code_answer_narrow(&both, &frames);
	out->from_ns = both.from_ns;
	out->until_ns = both.until_ns;
	out->code = c != NULL;
	out->unregistered = c && c->kind == CODE_REGION;
	if (out->unregistered && c->region) {
		out->region = c->region->bytes;
		out->region_start = c->address;
		out->region_bytes = c->region->nr;
		out->region_key = c->region->number;
	}
	if (c && c->kind == CODE_LOAD && c->region && !f) {
		out->function = c->region->bytes;
		out->function_start = c->address;
		out->function_bytes = c->bytes; /* the region, a copy of the function, has at least as many */
		out->key = (uint64_t)c->number << 2 | 3;
	}
	out->frame_pointers = (out->unregistered && !at->process->regions_were_read) || (c && c->kind == CODE_LOAD);
	if (f) {
		out->start = f->address;
		out->end = f->address + f->nr;
		out->key = (uint64_t)f->number << 2 | 2;
		out->eh_frame = f->bytes;
		out->eh_frame_bytes = f->nr;
		out->eh_frame_address = f->address;
		return;
	}
	if (!c || !code_file_address(c, address, &file_address))
		return;
	out->elf = c->kind == CODE_ELF ? c->elf : c->file->elf;
	out->frame_pointers |= c->kind == CODE_IMAGE && out->elf && has_no_frame_info(out->elf);
	out->bias = address - file_address;
	if (code_is_alike_at(c, address)) {
		out->alike = c->text.number;
		out->alike_start = c->text.start > both.start ? c->text.start : both.start;
		out->alike_end = c->text.end < both.end ? c->text.end : both.end;
	}
	if (out->elf && elf_find_code(out->elf, file_address, &function)) {
		out->function = function.data;
		out->function_start = function.address + out->bias;
		out->function_bytes = function.bytes;
	}
	out->key = c->kind == CODE_ELF ? (uint64_t)c->number << 2 | 1 : (uint64_t)c->file->number << 2;
	out->start = out->bias ? out->bias : c->address;
	/* this includes the data behind the code, because unwind information refers to pointers to personality routines there */
	out->end = c->address + c->bytes + (64u << 20);
}

struct unwind_space walk_unwind_space(const struct walk_place *at, bool with_generation)
{
	struct unwind_space s = { find_unwind_object, (void *)(uintptr_t)at, at->time_ns, at->process->number, 0 };

	if (with_generation)
		s.generation = ((uint64_t)at->process->number + 1) << 32 | model_code_generation(at->process, at->time_ns);
	return s;
}

/* ------------------------------------------------------------------------------------------------- interpreters */

/* This is the register (r13) in which HotSpot's interpreter keeps the address of the current bytecode while it runs.  A frame also has that
 * address in memory, from when the frame is made or calls. */
#define PLACE_REGISTER 13

static bool is_program(const struct process *p, uint64_t address, uint64_t time_ns)
{
	const struct code *c = model_find_code(p, address, time_ns);

	return c && c->kind == CODE_LOAD;
}

/* Reads a word of the stack, and checks whether it is the address of interpreted code. */
static bool word_is_program(const struct process *p, const struct unwind_input *in, uint64_t at, uint64_t time_ns, uint64_t *word)
{
	at -= in->registers.value[UNWIND_RSP];
	if (at >= in->stack_bytes || in->stack_bytes - at < 8)
		return false;
	memcpy(word, in->stack + at, 8);
	return is_program(p, *word, time_ns);
}

uint64_t interpreted_address_of_frame(const struct process *p, const struct unwind_input *in, const struct unwind_registers *r,
				      bool innermost, uint64_t address, uint64_t time_ns)
{
	const uint64_t rbp = r->value[UNWIND_RBP];
	uint64_t word;

	if (innermost && (r->known & 1u << PLACE_REGISTER) && in->stack_bytes && is_program(p, r->value[PLACE_REGISTER], time_ns))
		return r->value[PLACE_REGISTER];
	if (!(r->known & 1u << UNWIND_RBP))
		return address;
	return word_is_program(p, in, rbp + (uint64_t)p->interpreter.place, time_ns, &word) ||
			       word_is_program(p, in, rbp + (uint64_t)p->interpreter.function, time_ns, &word) ?
		       word :
		       address;
}
