/* SPDX-License-Identifier: MIT */
/*
 * A query compiler on AsmJit: asmjit ROUNDS.  It knows which offset is which operator's: a code map says so.  What operators share is a
 * function of the runtime; generated code has the operator's number in r13 when it calls it.  Built with -ffixed-r13.
 */
#include "jitreg.h" // jitreg

#include "work.h"

#include <asmjit/x86.h>

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace asmjit;

extern "C" RUNTIME uint64_t runtime_mix(uint64_t x, uint64_t turns)
{
	while (turns--)
		x = turn(x);
	return x;
}

enum : uint32_t { OPERATOR = 1 };                               // jitreg
static const uint64_t TAG = 0x7a100000, TAG_CHECK = 0xfff00000; // jitreg
static std::vector<jitreg_code_map_entry> map;                  // jitreg

/* uint64_t query(uint64_t x): x is in rax, the row in rbx, the turn in rcx, the multiplier in r12, the tag in r13. */
static void generate(x86::Assembler &a)
{
	using namespace x86;
	const Gp saved[] = { rbx, r12, r13, r14 };
	Label rows = a.newLabel();

	map.push_back({ a.offset(), OPERATOR, SCAN }); // jitreg
	a.push(rbp);
	a.mov(rbp, rsp);
	for (const Gp &r : saved)
		a.push(r);
	a.mov(rax, rdi);
	a.mov(rbx, 1);
	a.mov(r12, MULTIPLIER);
	a.bind(rows);
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {
		Label turns = a.newLabel();

		map.push_back({ a.offset(), OPERATOR, o }); // jitreg
		a.imul(rcx, rbx, operator_work[o] * TURNS);
		a.bind(turns);
		a.mov(rdx, rax);
		a.shr(rdx, SHIFT);
		a.xor_(rax, rdx);
		a.imul(rax, r12);
		a.dec(rcx);
		a.jnz(turns);
		a.mov(rdi, rax);
		a.imul(rsi, rbx, operator_work[o] * TURNS);
		a.mov(r13, TAG | o); // jitreg
		a.mov(rax, uint64_t(&runtime_mix));
		a.call(rax);
	}
	map.push_back({ a.offset(), OPERATOR, SCAN }); // jitreg
	a.inc(rbx);
	a.cmp(rbx, ROWS);
	a.jbe(rows);
	for (const Gp &r : { r14, r13, r12, rbx, rbp })
		a.pop(r);
	a.ret();
}

static void announce()                                                                                  // jitreg
{                                                                                                       // jitreg
	const jitreg_tag_field field = { OPERATOR, 0, 20 };                                             // jitreg
	const jitreg_range runtime = { uint64_t(__start_runtime_text), uint64_t(__stop_runtime_text) }; // jitreg

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);           // jitreg
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {                    // jitreg
		jitreg_component(OPERATOR, o, operator_name[o], "", 0);     // jitreg
		jitreg_counter(OPERATOR, o, "rows", ROWS);                  // jitreg
		if (o > SCAN)                                               // jitreg
			jitreg_edge(OPERATOR, o - 1, o, 0, "rows");         // jitreg
	}                                                                   // jitreg
	jitreg_tag_in_register(13, TAG_CHECK, TAG, &field, 1, &runtime, 1); // jitreg
}                                                                           // jitreg

int main(int argc, char **argv)
{
	uint64_t (*query)(uint64_t) = nullptr, result = 0;
	JitRuntime runtime;
	CodeHolder code;

	announce(); // jitreg
	code.init(runtime.environment());
	x86::Assembler assembler(&code);
	generate(assembler);
	if (runtime.add(&query, &code))
		return 1;
	jitreg_code_map(uint64_t(query), map.data(), uint32_t(map.size()));                                    // jitreg
	jitreg_code_load(uint64_t(query), code.codeSize(), 1, "query", reinterpret_cast<const void *>(query)); // jitreg
	for (long round = 0; round < (argc > 1 ? atol(argv[1]) : 1); round++) {
		uint64_t run = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), uint64_t(round), 0, nullptr); // jitreg
		result = query(1);
		jitreg_mark_end(run, ROWS); // jitreg
	}
	jitreg_code_unload(uint64_t(query), code.codeSize()); // jitreg
	runtime.release(query);
	return finish(result, query_in_c(1));
}
