/* SPDX-License-Identifier: MIT */
/*
 * Call-frame information by itself: the bytes as a program, as an .eh_frame (also one that counts from the code), and as a
 * .debug_frame.  Whatever is found safe is run at many addresses, and its expressions on registers and memory of which half
 * is known.
 */
#include "tests/fuzz/fuzz.h"

#include "analyzer/unwind/debug_frame.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/textrel.h"

#include <stdlib.h>

#define BASE 0x10000000ull

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
	(void)context;
	*word = address * 3;
	return (address & 64) == 0;
}

static void evaluate(const struct cfi_row *row)
{
	static const uint64_t registers[CFI_REGISTERS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct cfi_machine m = { registers, 0x1aaaa, read_word, NULL };
	uint64_t value, cfa = 0x1000;

	if (row->cfa.expression)
		cfi_evaluate(row->cfa.expression, row->cfa.expression_end, NULL, &m, &value);
	for (int i = 0; i < CFI_REGISTERS; i++)
		if (row->reg[i].expression)
			cfi_evaluate(row->reg[i].expression, row->reg[i].expression_end, &cfa, &m, &value);
}

static void run(const struct cfi_program *p)
{
	struct cfi_row row;

	for (uint64_t at = 0; at < p->bytes && at < 4096; at = 2 * at + 1)
		if (cfi_row_at(p, p->start + at, &row))
			evaluate(&row);
	if (p->bytes && cfi_row_at(p, p->start + p->bytes - 1, &row))
		evaluate(&row);
}

struct section {
	const unsigned char *bytes;
	uint64_t nr;
};

static bool take_fde(void *context, const struct eh_frame_fde *f)
{
	const struct section *s = context;
	struct cfi_program p;

	if (!eh_frame_read_program(s->bytes, s->nr, BASE, f->offset, &p))
		abort(); /* it was read a moment ago */
	if (p.start != f->start || p.bytes != f->bytes)
		abort();
	run(&p);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct elf_section debug_frame = { .bytes = size, .data = data };
	struct section s = { data, size };
	struct cfi_program p = { BASE, 0x1000, 1, -8, data, data, data, data + size, false };
	bool expressions = false;
	unsigned char *converted;

	if (cfi_is_safe(data, size, &expressions))
		run(&p);
	p.initial_end = data + size / 2;
	p.instructions = data + size / 2;
	if (cfi_is_safe(p.initial, size / 2, &expressions) && cfi_is_safe(p.instructions, size - size / 2, &expressions))
		run(&p);
	eh_frame_each(s.bytes, s.nr, BASE, take_fde, &s);
	converted = textrel_resolve(data, size, BASE, BASE + 0x1000);
	if (converted) {
		s.bytes = converted;
		eh_frame_each(s.bytes, s.nr, BASE, take_fde, &s);
		free(converted);
		s.bytes = data;
	}
	converted = debug_frame_append(NULL, &s.nr, &debug_frame);
	if (converted) {
		s.bytes = converted;
		eh_frame_each(s.bytes, s.nr, BASE, take_fde, &s);
		free(converted);
	}
	return 0;
}
