/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/programs.h"

#include "analyzer/symbols/function_code.h"
#include "analyzer/symbols/insn.h"
#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define INSTRUCTIONS_MAX 96 /* read behind the frame's instruction */
#define FRAME_BYTES_MAX 4096

void programs_fini(struct programs *c)
{
	hash_map_fini(&c->known);
	free(c->at);
}

/* ------------------------------------------------------------------------------------- words that the interpreter reads */

static bool has_offset(const struct program_words *w, int64_t offset)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (w->offset[i] == offset)
			return true;
	return false;
}

static void add_offset(struct program_words *w, int64_t offset)
{
	if (offset >= 0 && offset < FRAME_BYTES_MAX && w->nr < PROGRAM_WORDS_MAX && !has_offset(w, offset))
		w->offset[w->nr++] = (uint16_t)offset;
}

static bool ends_path(const struct insn_step *s)
{
	const bool moves_stack = s->effect == INSN_PUSH || s->effect == INSN_POP || s->effect == INSN_LEAVE || s->to == UNWIND_RSP ||
				 s->writes >> UNWIND_RSP & 1;

	return s->stops || s->kind == INSN_RETURN || (moves_stack && s->kind != INSN_CALL) || (s->kind == INSN_JUMP && !s->target);
}

/* Reads the code from an instruction on, as if no conditional jump were taken, and lists the words of the frame that are loaded before
 * anything else is stored there. */
static void read_words(const struct elf_code *f, uint64_t at, struct program_words *out)
{
	struct program_words stored = { 0 };
	struct insn_step s;

	for (int n = 0; n < INSTRUCTIONS_MAX && at - f->address < f->bytes; n++) {
		if (!insn_read_step(f->data + (at - f->address), f->bytes - (at - f->address), at, &s) || ends_path(&s))
			return;
		if (s.effect == INSN_LOAD && s.from == UNWIND_RSP && !has_offset(&stored, s.value))
			add_offset(out, s.value);
		else if ((s.effect == INSN_STORE || s.effect == INSN_WRITE) && s.from == UNWIND_RSP)
			add_offset(&stored, s.value);
		at = s.kind == INSN_JUMP ? s.target : at + s.bytes;
	}
}

/* Finds the code of the function at address, a file's own, in the trace or in the file. */
static bool find_code(const struct code *c, uint64_t address, struct elf_code *out)
{
	const struct function_code *f = c->file && c->file->code ? function_codes_find(c->file->code, address) : NULL;

	if (f)
		*out = (struct elf_code){ f->address, f->bytes, f->code };
	return f || (c->file && c->file->elf && elf_find_code(c->file->elf, address, out));
}

static void read_words_at(const struct code *c, uint64_t address, struct program_words *out)
{
	struct elf_code f;
	uint64_t at;

	if (c->kind == CODE_IMAGE && code_file_address(c, address, &at) && find_code(c, at, &f))
		read_words(&f, at, out);
}

/* Returns the words of an instruction.  Returns NULL if they are unknown, or memory ran out. */
static const struct program_words *get_words(struct programs *cache, const struct code *c, uint64_t address)
{
	const uint64_t code = (uint64_t)c->number + 1;
	uint32_t i = hash_map_find(&cache->known, address, code);

	if (!i) {
		if (!ARRAY_GROW(*cache))
			return NULL;
		cache->at[cache->nr] = (struct program_words){ 0 };
		read_words_at(c, address, &cache->at[cache->nr]);
		i = ++cache->nr;
		hash_map_set(&cache->known, address, code, i);
	}
	return &cache->at[i - 1];
}

/* ------------------------------------------------------------------------------------------------------ the bytecode */

/* While a bytecode runs, the interpreter has an address behind the beginning of it, up to that of the next one. */
static bool is_in_program(const struct code *program, uint64_t word)
{
	return word - program->address - 1 < program->bytes;
}

static uint64_t find_in_words(const struct program_words *w, const struct code *program, const struct unwind_input *in, uint64_t from,
			      uint64_t to)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const uint64_t at = from + w->offset[i];
		uint64_t word;

		if (at >= to || at >= in->stack_bytes || in->stack_bytes - at < sizeof(word))
			continue;
		memcpy(&word, in->stack + at, sizeof(word));
		if (is_in_program(program, word))
			return word;
	}
	return 0;
}

static uint64_t find_in_registers(const struct unwind_registers *r, const struct code *program)
{
	for (int n = 0; n < UNWIND_REGISTERS; n++)
		if (r->known >> n & 1 && n != UNWIND_RSP && n != UNWIND_RIP && is_in_program(program, r->value[n]))
			return r->value[n];
	return 0;
}

/* Returns the program of the code at address.  Returns NULL if it has none, or if other code is there. */
static const struct code *find_program(const struct process *p, uint64_t address, uint64_t time_ns)
{
	const struct code *c = model_find_code(p, address, time_ns), *program;

	if (!c || c->kind != CODE_LOAD || !c->program)
		return NULL;
	program = model_find_code(p, c->program, time_ns);
	return program && program->kind == CODE_LOAD && program->address == c->program && program->name && c->name &&
			       strcmp(program->name, c->name) == 0 ?
		       program :
		       NULL;
}

uint64_t program_address_of_caller(const struct process *p, const struct unwind_input *in, const struct program_callee *callee,
				   uint64_t rsp, uint64_t address, uint64_t time_ns)
{
	const struct unwind_registers *r = &callee->registers;
	const struct code *program = find_program(p, address, time_ns), *interpreter;
	const uint64_t bottom = in->registers.value[UNWIND_RSP];
	const struct program_words *w;
	uint64_t word = 0;

	if (!program)
		return address;
	interpreter = model_find_code(p, r->value[UNWIND_RIP], time_ns);
	w = interpreter && r->known >> UNWIND_RSP & 1 ? get_words(callee->cache, interpreter, r->value[UNWIND_RIP]) : NULL;
	if (w)
		word = find_in_words(w, program, in, r->value[UNWIND_RSP] - bottom, rsp - bottom);
	if (!word)
		word = find_in_registers(r, program);
	return word ? word - 1 : address;
}
