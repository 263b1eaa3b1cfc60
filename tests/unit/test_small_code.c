/* SPDX-License-Identifier: MIT */
/* Stacks lead through small code of a perf map (Python's trampolines), as its instructions say; larger code is left alone. */
#include "tests/unit/small_trace.h"

#include "analyzer/attribute/walk.h"

#define PID 100u
#define TRAMPOLINE 0x10000000ull
#define LARGE 0x10001000ull
#define CALLER 0x10002000ull

/* endbr64; sub rsp, 8; call rcx; add rsp, 8; ret: Python 3.12's and 3.13's */
static const unsigned char trampoline[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

static void put_bytes(uint64_t address, uint64_t bytes)
{
	unsigned char code[CODE_SMALL_BYTES + 1] = { 0 };

	memcpy(code, trampoline, sizeof(trampoline));
	PUT(code_bytes, PID, 9, .address = address, .loaded_ns = 5, .code = { code, bytes });
}

static uint64_t ip[4];
static int nr;

static bool on_frame(void *context, const struct unwind_frame *f)
{
	(void)context;
	ip[nr++] = f->ip;
	return nr < 4;
}

/* From behind the call in the code at address, with the caller's return address above 8 bytes. */
static void walk_from(struct model *m, uint64_t address, enum unwind_way way)
{
	static const uint64_t stack[] = { 0xaaaa, CALLER + 0x20, 0, 0 };
	struct walk_place at = { .process = m->processes.at[0], .time_ns = 100 };
	struct unwind_space space = walk_unwind_space(&at, true);
	struct unwind_input in = { .stack = (const unsigned char *)stack, .stack_bytes = sizeof(stack) };
	struct unwinder *u;
	struct diag d;

	in.registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RIP;
	in.registers.value[UNWIND_RSP] = 0x7000;
	in.registers.value[UNWIND_RIP] = address + 10;
	nr = 0;
	assert_int_equal(unwinder_create(way, &u, &d), 0);
	unwind_walk(u, &space, &in, on_frame, NULL);
	unwinder_destroy(u);
}

static void small_code_is_walked_through(void **state)
{
	struct trace_reader *t;
	struct model *m;

	(void)state;
	small_begin();
	put_process(PID, 1, "python3");
	put_load(PID, 5, TRAMPOLINE, sizeof(trampoline), "py::f:/f.py");
	put_load(PID, 5, LARGE, CODE_SMALL_BYTES + 1, "large");
	put_load(PID, 5, CALLER, 0x100, "caller");
	put_bytes(TRAMPOLINE, sizeof(trampoline));
	put_bytes(LARGE, CODE_SMALL_BYTES + 1);
	t = small_end();
	m = small_model(t);
	for (enum unwind_way way = UNWIND_MEMO; way <= UNWIND_LIBUNWIND; way++) {
		walk_from(m, TRAMPOLINE, way);
		assert_int_equal(nr, 2);
		assert_int_equal(ip[1], CALLER + 0x20);
		walk_from(m, LARGE, way);
		assert_int_equal(nr, 1);
	}
	model_destroy(m);
	trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_code_is_walked_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
