/* SPDX-License-Identifier: MIT */
/*
 * A counter is one add on memory of the worker that runs the code: its address stands in the worker, and is loaded where a function begins.
 * Blocks are counted in front of their ends; arcs in the block at one of their ends that has no other arc there, else in a block of their
 * own.  How often a loop over rows goes round is known when it begins, and is added once (V. Sarkar, Determining average program execution
 * times and their variance, PLDI 1989), so that what is counted in each round are branches.
 */
#include "count.h"
#include "loops.h"

#include "jitreg/jitreg_place.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION (IR + 1) /* level: generated functions by their symbols */

/* One function, while it is announced and changed. */
struct flow {
	LLVMValueRef function;
	LLVMBasicBlockRef *block;
	struct jitreg_place_arc *arc;
	unsigned *successor; /* of an arc: which one of its block's end */
	uint32_t nr_blocks, nr_arcs, number;
	struct row_loop rows;
	uint32_t rounds; /* arc into the body of its loop over rows; nr_arcs: it has none */
};

struct counters {
	struct jitreg_counter_entry *entry;
	uint32_t *entered; /* of a counter that rounds are added to: the one that says how often; else the counter itself */
	uint32_t nr, capacity;
};

static void *array(size_t nr, size_t each)
{
	void *p = calloc(nr + 1, each);

	if (!p)
		abort();
	return p;
}

static uint32_t number_of(const struct flow *f, LLVMBasicBlockRef b)
{
	uint32_t i = 0;

	while (i < f->nr_blocks && f->block[i] != b)
		i++;
	return i;
}

static void add_arc(struct flow *f, uint32_t from, uint32_t to, unsigned successor)
{
	f->successor[f->nr_arcs] = successor;
	f->arc[f->nr_arcs++] = (struct jitreg_place_arc){ from, to, 0 };
}

static void find_flow(struct flow *f)
{
	uint32_t nr = 1;

	f->nr_blocks = LLVMCountBasicBlocks(f->function);
	f->block = array(f->nr_blocks, sizeof(LLVMBasicBlockRef));
	LLVMGetBasicBlocks(f->function, f->block);
	for (uint32_t i = 0; i < f->nr_blocks; i++)
		nr += 1 + LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(f->block[i]));
	f->arc = array(nr, sizeof(*f->arc));
	f->successor = array(nr, sizeof(*f->successor));
	add_arc(f, JITREG_PLACE_OUTSIDE, 0, 0);
	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[i]);

		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
			add_arc(f, i, number_of(f, LLVMGetSuccessor(end, s)), s);
		if (!LLVMGetNumSuccessors(end))
			add_arc(f, i, JITREG_PLACE_OUTSIDE, 0);
	}
}

/* Does the loop end where its head says so, and nowhere else?  Blocks that are reached from b, but through the head, are marked. */
static bool ends_at_head(const struct flow *f, uint32_t b, uint32_t head, uint32_t done, bool *seen)
{
	bool ends = b != done;

	if (b == head || seen[b])
		return true;
	seen[b] = true;
	for (uint32_t i = 0; ends && i < f->nr_arcs; i++)
		if (f->arc[i].from == b)
			ends = f->arc[i].to != JITREG_PLACE_OUTSIDE && ends_at_head(f, f->arc[i].to, head, done, seen);
	return ends;
}

static void find_rounds(struct flow *f)
{
	uint32_t head, body, done;
	bool *seen = array(f->nr_blocks, sizeof(*seen));

	f->rounds = f->nr_arcs;
	if (loop_find(f->function, &f->rows) && LLVMGetICmpPredicate(f->rows.comparison) == LLVMIntSLT &&
	    LLVMIsConstant(LLVMGetOperand(f->rows.next, 1)) && LLVMConstIntGetSExtValue(LLVMGetOperand(f->rows.next, 1)) == 1) {
		head = number_of(f, f->rows.head);
		body = number_of(f, f->rows.body);
		done = number_of(f, f->rows.done);
		for (uint32_t i = 0; i < f->nr_arcs && ends_at_head(f, body, head, done, seen); i++)
			if (f->arc[i].from == head && f->arc[i].to == body)
				f->rounds = i;
	}
	free(seen);
}

static uint32_t function_number(LLVMModuleRef m, LLVMValueRef function)
{
	uint32_t n = 0;

	for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
		n += !LLVMIsDeclaration(f);
		if (f == function)
			return n;
	}
	return 0;
}

static bool is_called(LLVMValueRef function)
{
	return LLVMGetFirstUse(function) != NULL;
}

static uint32_t line_of(LLVMValueRef instruction)
{
	LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);

	return at ? LLVMDILocationGetLine(at) : 0;
}

static uint64_t outside(uint32_t block)
{
	return block == JITREG_PLACE_OUTSIDE ? JITREG_FLOW_OUTSIDE : block;
}

/* Each instruction's line is executed with its block; an operator has a row where its rows are counted. */
static void announce(const struct gen *g, const struct flow *f)
{
	struct jitreg_flow_parts p = { .nr_blocks = f->nr_blocks, .nr_arcs = f->nr_arcs };
	struct jitreg_flow_block *block = array(f->nr_blocks, sizeof(*block));
	struct jitreg_flow_arc *arc = array(f->nr_arcs, sizeof(*arc));
	struct jitreg_flow_execution *execution;
	struct jitreg_flow_call *call;
	uint32_t nr = OPERATORS_MAX;
	size_t bytes;

	for (uint32_t i = 0; i < f->nr_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(f->block[i]); at; at = LLVMGetNextInstruction(at))
			nr++;
	execution = array(nr, sizeof(*execution));
	call = array(nr, sizeof(*call));
	jitreg_component(FUNCTION, f->number, LLVMGetValueName2(f->function, &bytes), "", 0);
	for (uint32_t i = 0; i < f->nr_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(f->block[i]); at; at = LLVMGetNextInstruction(at)) {
			LLVMValueRef callee = LLVMIsACallInst(at) ? LLVMGetCalledValue(at) : NULL;
			uint32_t to = callee ? function_number(g->module, callee) : 0;

			if (callee && to && !LLVMIsDeclaration(callee))
				call[p.nr_calls++] = (struct jitreg_flow_call){ i, line_of(at), FUNCTION, to };
			if (!line_of(at))
				continue;
			execution[p.nr_executions++] = (struct jitreg_flow_execution){ IR, line_of(at), i };
			jitreg_link(IR, line_of(at), FUNCTION, f->number, 1);
		}
	for (uint32_t o = 0; o < OPERATORS_MAX; o++)
		if (g->row_block[o] && number_of(f, g->row_block[o]) < f->nr_blocks)
			execution[p.nr_executions++] = (struct jitreg_flow_execution){ OPERATOR, o + 1, number_of(f, g->row_block[o]) };
	for (uint32_t i = 0; i < f->nr_arcs; i++)
		arc[i] = (struct jitreg_flow_arc){ outside(f->arc[i].from), outside(f->arc[i].to), f->arc[i].estimate };
	p.blocks = block;
	p.arcs = arc;
	p.calls = call;
	p.executions = execution;
	jitreg_flow(FUNCTION, f->number, is_called(f->function) ? 0 : JITREG_FLOW_ESCAPES, &p);
	free(block);
	free(arc);
	free(call);
	free(execution);
}

/* ---------------------------------------------------------------------------------------------------- changing the code */

/* In front of an instruction, whose line it gets: counters of the worker, which base points to. */
static void add_to(const struct gen *g, LLVMValueRef before, LLVMValueRef base, uint32_t counter, LLVMValueRef count)
{
	LLVMBuilderRef b = g->builder;
	LLVMValueRef at = LLVMConstInt(g->i64, counter, 0), p;

	LLVMPositionBuilderBefore(b, before);
	LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(before));
	p = LLVMBuildGEP2(b, g->i64, base, &at, 1, "");
	LLVMBuildStore(b, LLVMBuildAdd(b, LLVMBuildLoad2(b, g->i64, p, ""), count, ""), p);
}

/* Rows from the first to the last, where the loop begins. */
static LLVMValueRef rounds_of(const struct gen *g, const struct flow *f)
{
	LLVMValueRef before = LLVMGetBasicBlockTerminator(f->rows.entry), from = LLVMGetIncomingValue(f->rows.i, 0), is_any;

	LLVMPositionBuilderBefore(g->builder, before);
	LLVMSetCurrentDebugLocation2(g->builder, LLVMInstructionGetDebugLoc(before));
	is_any = LLVMBuildICmp(g->builder, LLVMIntSLT, from, f->rows.to, "");
	return LLVMBuildSelect(g->builder, is_any, LLVMBuildSub(g->builder, f->rows.to, from, ""), LLVMConstInt(g->i64, 0, 0), "rounds");
}

static LLVMValueRef first_of(LLVMBasicBlockRef b)
{
	LLVMValueRef i = LLVMGetFirstInstruction(b);

	while (LLVMIsAPHINode(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

/* A phi's blocks cannot be changed, so it is made anew. */
static void replace_in_phi(const struct gen *g, LLVMValueRef phi, LLVMBasicBlockRef from, LLVMBasicBlockRef by)
{
	LLVMValueRef made;

	LLVMPositionBuilderBefore(g->builder, phi);
	LLVMSetCurrentDebugLocation2(g->builder, LLVMInstructionGetDebugLoc(phi));
	made = LLVMBuildPhi(g->builder, LLVMTypeOf(phi), "");
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);

		LLVMAddIncoming(made, (LLVMValueRef[]){ value == phi ? made : value },
				(LLVMBasicBlockRef[]){ block == from ? by : block }, 1);
	}
	LLVMReplaceAllUsesWith(phi, made);
	LLVMInstructionEraseFromParent(phi);
}

/* The arc gets a block of its own; returns its end. */
static LLVMValueRef split_arc(const struct gen *g, const struct flow *f, uint32_t arc)
{
	LLVMBasicBlockRef from = f->block[f->arc[arc].from], to = f->block[f->arc[arc].to], between;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(from), next;

	between = LLVMInsertBasicBlockInContext(g->context, to, "count");
	LLVMPositionBuilderAtEnd(g->builder, between);
	LLVMSetCurrentDebugLocation2(g->builder, LLVMInstructionGetDebugLoc(end));
	LLVMBuildBr(g->builder, to);
	LLVMSetSuccessor(end, f->successor[arc], between);
	for (LLVMValueRef i = LLVMGetFirstInstruction(to); i && LLVMIsAPHINode(i); i = next) {
		next = LLVMGetNextInstruction(i);
		replace_in_phi(g, i, from, between);
	}
	return LLVMGetBasicBlockTerminator(between);
}

static LLVMValueRef place_of_arc(const struct gen *g, const struct flow *f, uint32_t arc)
{
	uint32_t from = f->arc[arc].from, to = f->arc[arc].to, nr_from = 0, nr_to = 0;

	if (from == JITREG_PLACE_OUTSIDE)
		return LLVMGetBasicBlockTerminator(f->block[0]);
	for (uint32_t i = 0; i < f->nr_arcs; i++) {
		nr_from += f->arc[i].from == from;
		nr_to += f->arc[i].to == to;
	}
	if (nr_from == 1)
		return LLVMGetBasicBlockTerminator(f->block[from]);
	return nr_to == 1 ? first_of(f->block[to]) : split_arc(g, f, arc);
}

static uint32_t new_counter(struct counters *c, uint64_t kind, uint32_t function, uint32_t at)
{
	if (c->nr == c->capacity) {
		c->capacity = 2 * c->capacity + 64;
		c->entry = realloc(c->entry, c->capacity * sizeof(*c->entry));
		c->entered = realloc(c->entered, c->capacity * sizeof(*c->entered));
		if (!c->entry || !c->entered)
			abort();
	}
	c->entry[c->nr] = (struct jitreg_counter_entry){ kind, FUNCTION, function, at };
	c->entered[c->nr] = c->nr;
	return c->nr++;
}

static void count_arcs(const struct gen *g, struct flow *f, struct counters *c, LLVMValueRef base)
{
	unsigned char *counted = array(f->nr_arcs, 1);
	uint32_t *scratch = array(JITREG_PLACE_SCRATCH(f->nr_blocks, f->nr_arcs), sizeof(*scratch)), entered = 0;
	LLVMValueRef one = LLVMConstInt(g->i64, 1, 0);

	if (f->rounds < f->nr_arcs)
		f->arc[f->rounds].estimate = 0;
	jitreg_place(f->arc, f->nr_arcs, f->nr_blocks, counted, scratch);
	if (f->rounds < f->nr_arcs) /* one more, which the others must agree with: how often rounds are added */
		counted[0] = 1;
	for (uint32_t i = 0; i < f->nr_arcs; i++) {
		uint32_t counter = counted[i] ? new_counter(c, JITREG_COUNTS_EDGE, f->number, i) : 0;

		if (!counted[i])
			continue;
		if (i == 0)
			entered = counter;
		if (i == f->rounds) {
			LLVMValueRef rounds = rounds_of(g, f);

			add_to(g, LLVMGetBasicBlockTerminator(f->rows.entry), base, counter, rounds);
			c->entered[counter] = entered;
		} else {
			add_to(g, place_of_arc(g, f, i), base, counter, one);
		}
	}
	free(counted);
	free(scratch);
}

static void count_function(const struct gen *g, struct flow *f, struct counters *c)
{
	LLVMValueRef first = first_of(f->block[0]), one = LLVMConstInt(g->i64, 1, 0), base;

	LLVMPositionBuilderBefore(g->builder, first);
	LLVMSetCurrentDebugLocation2(g->builder, LLVMInstructionGetDebugLoc(first));
	base = LLVMBuildBitCast(g->builder, LLVMGetParam(f->function, 0), LLVMPointerType(LLVMPointerType(g->i64, 0), 0), "");
	base = LLVMBuildGEP2(g->builder, LLVMPointerType(g->i64, 0), base,
			     (LLVMValueRef[]){ LLVMConstInt(g->i64, offsetof(struct worker, counters) / 8, 0) }, 1, "");
	base = LLVMBuildLoad2(g->builder, LLVMPointerType(g->i64, 0), base, "counters");
	for (uint32_t i = 0; g->options->count == COUNT_ALL && i < f->nr_blocks; i++)
		add_to(g, LLVMGetBasicBlockTerminator(f->block[i]), base, new_counter(c, JITREG_COUNTS_BLOCK, f->number, i), one);
	if (g->options->count == COUNT_MINIMAL)
		count_arcs(g, f, c, base);
}

bool count_module(const struct gen *g, struct program *out)
{
	struct counters c = { NULL, NULL, 0, 0 };
	uint64_t block;

	jitreg_level(FUNCTION, "function", 0, 0);
	for (LLVMValueRef function = LLVMGetFirstFunction(g->module); function; function = LLVMGetNextFunction(function)) {
		struct flow f = { .function = function, .number = function_number(g->module, function) };
		uint32_t *scratch;

		if (LLVMIsDeclaration(function))
			continue;
		find_flow(&f);
		scratch = array(JITREG_PLACE_SCRATCH(f.nr_blocks, f.nr_arcs), sizeof(*scratch));
		jitreg_place_estimate(f.arc, f.nr_arcs, f.nr_blocks, scratch);
		find_rounds(&f);
		announce(g, &f);
		count_function(g, &f, &c);
		free(scratch);
		free(f.block);
		free(f.arc);
		free(f.successor);
	}
	out->nr_counters = c.nr;
	out->counters = jitreg_counter_block(c.entry, c.nr, (uint32_t)g->options->nr_threads, &block);
	if (!out->counters) /* no agent, and too many for what the header has */
		out->counters = calloc(JITREG_COUNTER_STRIDE(c.nr) * (size_t)g->options->nr_threads, sizeof(uint64_t));
	free(c.entry);
	out->entered = c.entered;
	return out->counters != NULL;
}

uint64_t *count_of_worker(const struct program *p, int worker)
{
	return p->counters ? p->counters + JITREG_COUNTER_STRIDE(p->nr_counters) * (size_t)worker : NULL;
}

void count_print(const struct program *p, int nr_workers)
{
	unsigned long long sum = 0;

	for (int w = 0; w < nr_workers; w++)
		for (uint32_t i = 0; p->counters && i < p->nr_counters; i++)
			sum += count_of_worker(p, w)[p->entered[i]];
	printf("counters: %u, increments: %llu\n", p->nr_counters, sum);
}
