/* SPDX-License-Identifier: MIT */
/*
 * Finds CPython's function that evaluates frames.  A compiler may put most of it elsewhere.  In Debian's 3.15.2 the function has
 * 844 bytes, and its jumps lead to a loop of 82,341 bytes that has no symbol.  Conditional jumps do not leave a function.  So the other
 * part is the one to which most of those jumps lead that have a target outside the function's range.
 */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_BYTES_MAX (1u << 20)
#define JUMP_BYTES 6 /* size of a conditional jump: 0x0f, a byte from 0x80 to 0x8f, and a distance of 4 bytes */

static bool is_in_range(uint64_t address, const struct inject_range *r)
{
	return address >= r->start && address < r->end;
}

static bool find_function(const struct inject_process *p, uint64_t base, uint64_t address, struct inject_range *out)
{
	uint64_t range[2];

	if (!proc_mem_find_function(p->pid, base, address, range))
		return false;
	*out = (struct inject_range){ range[0], range[1] };
	return true;
}

/* The code is not decoded.  Bytes that only look like a jump lead anywhere, so most jumps to one function are real ones. */
static void find_other_part(struct inject_process *p, uint64_t base, const unsigned char *code)
{
	const struct inject_range *f = &p->evaluate[0];
	struct inject_range part = { 0 };
	int votes = 0;

	for (uint64_t i = 0; i + JUMP_BYTES <= f->end - f->start; i++) {
		int32_t far;
		uint64_t to;

		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80)
			continue;
		memcpy(&far, code + i + 2, sizeof(far));
		to = f->start + i + JUMP_BYTES + (uint64_t)(int64_t)far;
		if (is_in_range(to, f) || !is_in_range(to, &p->python))
			continue;
		if (votes > 0)
			votes += is_in_range(to, &part) ? 1 : -1;
		else
			votes = find_function(p, base, to, &part);
	}
	if (votes > 1)
		p->evaluate[1] = part;
}

void inject_learn_python(struct inject_process *p, uint64_t base, uint64_t function)
{
	struct inject_range *f = &p->evaluate[0];
	unsigned char *code;

	p->python = (struct inject_range){ base, proc_mem_object_end(p->pid, base) };
	if (!find_function(p, base, function, f) || f->end - f->start > FUNCTION_BYTES_MAX)
		return;
	code = malloc(f->end - f->start);
	if (code && proc_mem_read(p->pid, f->start, code, f->end - f->start) == 0)
		find_other_part(p, base, code);
	free(code);
}
