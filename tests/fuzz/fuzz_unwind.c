/* SPDX-License-Identifier: MIT */
/* .eh_frame bytes that a JIT registered, and a stack, both hostile. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#define BASE 0x10000000ull
#define STACK 0x7ff000000000ull

struct input {
	const uint8_t *data;
	size_t size;
	uint64_t start; /* of code that the first FDE describes */
	uint64_t key;
};

static bool remember(void *context, const struct eh_frame_fde *f)
{
	struct input *in = context;

	in->start = f->start;
	return true;
}

static void find(void *context, uint64_t address, struct unwind_object *out)
{
	const struct input *in = context;

	(void)address;
	*out = (struct unwind_object){ .start = BASE, .end = BASE + in->size, .key = in->key, .eh_frame = in->data,
				       .eh_frame_bytes = in->size, .eh_frame_address = BASE, .code = true,
				       .frame_pointers = true, .until_ns = UINT64_MAX };
}

static bool frame(void *context, const struct unwind_frame *f)
{
	(void)context;
	return f->depth < 64;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size, BASE, 1 };
	struct unwind_space space = { .find = find, .context = &in, .generation = 1 };
	struct unwind_input input = { .stack = data, .stack_bytes = size };
	struct unwinder *u;

	eh_frame_each(data, size, BASE, remember, &in);
	input.registers.known = (1u << UNWIND_REGISTERS) - 1;
	input.registers.value[UNWIND_RSP] = STACK;
	input.registers.value[UNWIND_RBP] = STACK + 64;
	input.registers.value[UNWIND_RIP] = in.start + 1;
	for (enum unwind_way way = UNWIND_MEMO; way <= UNWIND_LIBUNWIND; way++) {
		if (unwinder_create(way, &u, NULL))
			abort();
		unwind_walk(u, &space, &input, frame, NULL);
		unwinder_destroy(u);
	}
	return 0;
}
