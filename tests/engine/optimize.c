/* SPDX-License-Identifier: MIT */
#include "optimize.h"

#include "jitreg.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS_MAX 8

struct line {
	uint32_t nr;
	struct {
		uint32_t task, weight;
	} owner[OWNERS_MAX];
};

struct optimizer {
	LLVMModuleRef module;
	LLVMBuilderRef builder;
	struct debug_info *debug;
	unsigned passes;
	struct line *line; /* by number */
	uint32_t nr_lines, capacity, generated;
	FILE *made; /* the text behind the generated one */
	char *made_text;
	size_t made_bytes;
};

struct optimizer *optimizer_create(LLVMModuleRef m, struct debug_info *debug, unsigned passes)
{
	struct optimizer *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->module = m;
	o->builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
	o->debug = debug;
	o->passes = passes & ~(unsigned)(OPTIMIZE_LLVM | OPTIMIZE_INLINE);
	o->made = open_memstream(&o->made_text, &o->made_bytes);
	if (!o->made)
		abort();
	return o;
}

void optimizer_end(struct optimizer *o)
{
	LLVMDisposeBuilder(o->builder);
	fclose(o->made);
	free(o->made_text);
}

void optimizer_replay(const struct optimizer *o)
{
	for (uint32_t line = 0; line < o->nr_lines; line++)
		for (uint32_t i = 0; i < o->line[line].nr; i++)
			jitreg_link(IR, line, TASK, o->line[line].owner[i].task, o->line[line].owner[i].weight); /* replay */
}

LLVMBuilderRef optimizer_builder(const struct optimizer *o)
{
	return o->builder;
}

LLVMModuleRef optimizer_module(const struct optimizer *o)
{
	return o->module;
}

/* -------------------------------------------------------------------------------------------------------- the dictionary */

static struct line *line_at(struct optimizer *o, uint32_t number)
{
	if (number >= o->capacity) {
		uint32_t capacity = 2 * number + 64;
		struct line *bigger = realloc(o->line, capacity * sizeof(*bigger));

		if (!bigger)
			abort();
		memset(bigger + o->capacity, 0, (capacity - o->capacity) * sizeof(*bigger));
		o->line = bigger;
		o->capacity = capacity;
	}
	if (number >= o->nr_lines)
		o->nr_lines = number + 1;
	return &o->line[number];
}

void optimizer_owner(struct optimizer *o, uint32_t line, uint32_t task)
{
	struct line *l = line_at(o, line);

	l->nr = 1;
	l->owner[0].task = task;
	l->owner[0].weight = 1;
}

uint32_t optimizer_line(LLVMValueRef instruction)
{
	LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction);

	return at ? LLVMDILocationGetLine(at) : 0;
}

void optimizer_at(struct optimizer *o, LLVMValueRef function, uint32_t line)
{
	LLVMSetCurrentDebugLocation2(o->builder, debug_info_location(o->debug, line, LLVMGetSubprogram(function)));
}

static LLVMValueRef function_of(LLVMValueRef instruction)
{
	return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

void optimizer_share(struct optimizer *o, uint32_t to, uint32_t from)
{
	struct line *l = line_at(o, to > from ? to : from), *f = &o->line[from];

	l = &o->line[to];
	for (uint32_t i = 0, n; i < f->nr; i++) {
		for (n = 0; n < l->nr && l->owner[n].task != f->owner[i].task; n++)
			;
		if (n == OWNERS_MAX)
			continue;
		if (n == l->nr) {
			l->owner[n].task = f->owner[i].task;
			l->owner[n].weight = 0;
			l->nr++;
		}
		l->owner[n].weight += f->owner[i].weight;
		jitreg_link(IR, to, TASK, l->owner[n].task, l->owner[n].weight);
	}
}

static void forget(struct optimizer *o, LLVMValueRef instruction)
{
	uint32_t line = optimizer_line(instruction);

	jitreg_unlink(IR, line, TASK, 0);
	line_at(o, line)->nr = 0;
}

void optimizer_remove(struct optimizer *o, LLVMValueRef instruction)
{
	forget(o, instruction);
	LLVMInstructionEraseFromParent(instruction);
}

/* The made lines' heading is two lines long. */
uint32_t optimizer_made(struct optimizer *o, LLVMValueRef instruction)
{
	uint32_t line = o->nr_lines > o->generated ? o->nr_lines : o->generated + 3;
	char *text = LLVMPrintValueToString(instruction), *debug = strstr(text, ", !dbg");

	fprintf(o->made, "%.*s\n", (int)(debug ? debug - text : (long)strlen(text)), text);
	LLVMDisposeMessage(text);
	line_at(o, line)->nr = 0;
	LLVMInstructionSetDebugLoc(instruction, debug_info_location(o->debug, line, LLVMGetSubprogram(function_of(instruction))));
	return line;
}

char *optimizer_text(struct optimizer *o, char *text)
{
	char *all;

	fflush(o->made);
	if (!o->made_bytes)
		return text;
	if (asprintf(&all, "%s\n; made of lines above\n%s", text, o->made_text) < 0)
		abort();
	free(text);
	return all;
}

/* ------------------------------------------------------------------------------------------------------------- small parts */

bool optimizer_is_pure(LLVMValueRef i)
{
	return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || LLVMIsAGetElementPtrInst(i) || LLVMIsAICmpInst(i) || LLVMIsASelectInst(i);
}

bool optimizer_update(LLVMValueRef store, struct update *u)
{
	LLVMValueRef add;
	LLVMUseRef use;

	if (!LLVMIsAStoreInst(store))
		return false;
	add = LLVMGetOperand(store, 0);
	if (!LLVMIsABinaryOperator(add) || LLVMGetInstructionOpcode(add) != LLVMAdd || !LLVMIsALoadInst(LLVMGetOperand(add, 0)))
		return false;
	*u = (struct update){ .load = LLVMGetOperand(add, 0), .add = add, .store = store, .pointer = LLVMGetOperand(store, 1),
			      .with = LLVMGetOperand(add, 1) };
	if (LLVMGetOperand(u->load, 0) != u->pointer || LLVMGetInstructionParent(u->load) != LLVMGetInstructionParent(store))
		return false;
	use = LLVMGetFirstUse(u->load);
	if (LLVMGetUser(use) != add || LLVMGetNextUse(use))
		return false;
	use = LLVMGetFirstUse(add);
	return LLVMGetUser(use) == store && !LLVMGetNextUse(use);
}


/* The one block that leads here; NULL: several do, or none. */
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef b)
{
	LLVMBasicBlockRef found = NULL;

	for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u)) {
		LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(u));

		if (!LLVMIsATerminatorInst(LLVMGetUser(u)) || (found && found != from))
			return NULL;
		found = from;
	}
	return found;
}

/* ------------------------------------------------------------------------------------------------------- constant folding */

static LLVMValueRef folded(LLVMValueRef i)
{
	LLVMValueRef a, b;

	if ((!LLVMIsABinaryOperator(i) && !LLVMIsAICmpInst(i)))
		return NULL;
	a = LLVMGetOperand(i, 0);
	b = LLVMGetOperand(i, 1);
	if (!LLVMIsAConstantInt(a) || !LLVMIsAConstantInt(b))
		return NULL;
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMAdd:
		return LLVMConstAdd(a, b);
	case LLVMSub:
		return LLVMConstSub(a, b);
	case LLVMMul:
		return LLVMConstMul(a, b);
	case LLVMAnd:
		return LLVMConstAnd(a, b);
	case LLVMOr:
		return LLVMConstOr(a, b);
	case LLVMICmp:
		return LLVMConstICmp(LLVMGetICmpPredicate(i), a, b);
	default:
		return NULL;
	}
}

/* What is left of a branch whose condition is known. */
static void fold_branch(struct optimizer *o, LLVMValueRef branch)
{
	LLVMValueRef condition = LLVMGetCondition(branch), shorter;
	LLVMBasicBlockRef to;

	if (!LLVMIsAConstantInt(condition))
		return;
	to = LLVMGetSuccessor(branch, LLVMConstIntGetZExtValue(condition) ? 0 : 1);
	LLVMPositionBuilderBefore(o->builder, branch);
	optimizer_at(o, function_of(branch), optimizer_line(branch));
	shorter = LLVMBuildBr(o->builder, to);
	optimizer_share(o, optimizer_made(o, shorter), optimizer_line(branch));
	optimizer_remove(o, branch);
}

static void fold(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
			LLVMValueRef constant = folded(i);

			next = LLVMGetNextInstruction(i);
			if (constant) {
				LLVMReplaceAllUsesWith(i, constant);
				optimizer_remove(o, i);
			} else if (LLVMIsABranchInst(i) && LLVMIsConditional(i)) {
				fold_branch(o, i);
			}
		}
}

/* -------------------------------------------------------------------------------------------------- common subexpressions */

static bool same_expression(LLVMValueRef a, LLVMValueRef b)
{
	int nr = LLVMGetNumOperands(a);

	if (LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) || LLVMTypeOf(a) != LLVMTypeOf(b) || LLVMGetNumOperands(b) != nr)
		return false;
	if (LLVMIsAICmpInst(a) && LLVMGetICmpPredicate(a) != LLVMGetICmpPredicate(b))
		return false;
	if (LLVMIsAGetElementPtrInst(a) && LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b))
		return false;
	for (int n = 0; n < nr; n++)
		if (LLVMGetOperand(a, (unsigned)n) != LLVMGetOperand(b, (unsigned)n))
			return false;
	return true;
}

/* The same, computed before: in this block, or in one that every way here leads through. */
static LLVMValueRef computed_before(LLVMValueRef i)
{
	LLVMBasicBlockRef b = LLVMGetInstructionParent(i);
	LLVMValueRef at = LLVMGetPreviousInstruction(i);

	for (int blocks = 0; blocks < 64; blocks++) {
		for (; at; at = LLVMGetPreviousInstruction(at))
			if (optimizer_is_pure(at) && same_expression(at, i))
				return at;
		b = only_predecessor(b);
		if (!b)
			return NULL;
		at = LLVMGetLastInstruction(b);
	}
	return NULL;
}

static void cse(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
			LLVMValueRef before = optimizer_is_pure(i) ? computed_before(i) : NULL;

			next = LLVMGetNextInstruction(i);
			if (!before)
				continue;
			optimizer_share(o, optimizer_line(before), optimizer_line(i));
			LLVMReplaceAllUsesWith(i, before);
			optimizer_remove(o, i);
		}
}

/* ------------------------------------------------------------------------------------------------------- code elimination */

static bool remove_block(struct optimizer *o, LLVMBasicBlockRef b)
{
	if (b == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(b)) || LLVMGetFirstUse(LLVMBasicBlockAsValue(b)))
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
		forget(o, i);
		if (LLVMGetFirstUse(i)) /* by blocks that cannot be reached either */
			LLVMReplaceAllUsesWith(i, LLVMGetUndef(LLVMTypeOf(i)));
	}
	LLVMDeleteBasicBlock(b);
	return true;
}

static void eliminate(struct optimizer *o, LLVMValueRef function)
{
	bool again = true;

	while (again) {
		again = false;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function), next; b; b = next) {
			next = LLVMGetNextBasicBlock(b);
			if (remove_block(o, b)) {
				again = true;
				continue;
			}
			for (LLVMValueRef i = LLVMGetLastInstruction(b), before; i; i = before) {
				before = LLVMGetPreviousInstruction(i);
				if (LLVMGetFirstUse(i) || (!optimizer_is_pure(i) && !LLVMIsALoadInst(i)))
					continue;
				optimizer_remove(o, i);
				again = true;
			}
		}
	}
}

/* ----------------------------------------------------------------------------------------------------- instruction fusing */

/* base + offset, if the pointer is that. */
static LLVMValueRef base_of(LLVMValueRef pointer, int64_t *offset)
{
	*offset = 0;
	while (LLVMIsABitCastInst(pointer))
		pointer = LLVMGetOperand(pointer, 0);
	if (LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2 && LLVMIsAConstantInt(LLVMGetOperand(pointer, 1)) &&
	    LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(pointer, 1))) == 64 &&
	    LLVMGetTypeKind(LLVMGetGEPSourceElementType(pointer)) == LLVMIntegerTypeKind &&
	    LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(pointer)) == 8) {
		*offset = LLVMConstIntGetSExtValue(LLVMGetOperand(pointer, 1));
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}

/* Counters of rows are read by nobody before the pipeline has ended. */
static bool is_row_counter(LLVMValueRef base, int64_t offset)
{
	return LLVMIsAArgument(base) && offset >= 0 && (size_t)offset < sizeof(((struct worker *)0)->rows);
}

/* Nothing from `from` to `to` may see or change the word at base + offset: loads elsewhere and other updates of base do not. */
static bool nothing_between(LLVMValueRef from, LLVMValueRef to, LLVMValueRef base, int64_t word, bool counters)
{
	struct update u;
	int64_t offset;

	for (LLVMValueRef i = LLVMGetNextInstruction(from); i && i != to; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsACallInst(i) && !counters)
			return false;
		if (LLVMIsALoadInst(i) && base_of(LLVMGetOperand(i, 0), &offset) == base && offset == word)
			return false;
		if (LLVMIsAAtomicRMWInst(i))
			return false;
		if (LLVMIsAStoreInst(i) && !counters && !(optimizer_update(i, &u) && base_of(u.pointer, &offset) == base))
			return false;
	}
	return true;
}

/* One load, add and store of two words instead of low's and high's, before `at`; when only holds, the second word adds it. */
static void fuse_two(struct optimizer *o, const struct update *low, const struct update *high, LLVMValueRef at)
{
	LLVMContextRef context = LLVMGetModuleContext(o->module);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context), pair = LLVMVectorType(i64, 2), i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef pointer, load, both, add, store;
	uint32_t line;

	LLVMPositionBuilderBefore(o->builder, at);
	optimizer_at(o, function_of(at), optimizer_line(low->load));
	pointer = LLVMBuildBitCast(o->builder, low->pointer, LLVMPointerType(pair, 0), "words");
	load = LLVMBuildLoad2(o->builder, pair, pointer, "fused");
	LLVMSetAlignment(load, 8);
	both = LLVMBuildInsertElement(o->builder, LLVMGetUndef(pair), low->with, LLVMConstInt(i32, 0, 0), "low");
	if (LLVMIsAInstruction(both))
		optimizer_share(o, optimizer_made(o, both), optimizer_line(low->add));
	both = LLVMBuildInsertElement(o->builder, both, high->with, LLVMConstInt(i32, 1, 0), "both");
	if (LLVMIsAInstruction(both))
		optimizer_share(o, optimizer_made(o, both), optimizer_line(high->add));
	add = LLVMBuildAdd(o->builder, load, both, "sums");
	store = LLVMBuildStore(o->builder, add, pointer);
	LLVMSetAlignment(store, 8);
	if (LLVMIsAInstruction(pointer)) {
		line = optimizer_made(o, pointer);
		optimizer_share(o, line, optimizer_line(low->load));
		optimizer_share(o, line, optimizer_line(high->load));
	}
	line = optimizer_made(o, load);
	optimizer_share(o, line, optimizer_line(low->load));
	optimizer_share(o, line, optimizer_line(high->load));
	line = optimizer_made(o, add);
	optimizer_share(o, line, optimizer_line(low->add));
	optimizer_share(o, line, optimizer_line(high->add));
	line = optimizer_made(o, store);
	optimizer_share(o, line, optimizer_line(low->store));
	optimizer_share(o, line, optimizer_line(high->store));
	for (int i = 0; i < 2; i++) {
		const struct update *u = i ? high : low;

		optimizer_remove(o, u->store);
		optimizer_remove(o, u->add);
		optimizer_remove(o, u->load);
	}
}

/* Two updates of one block; the pointer to the lower word has to be known where the first of them was. */
static bool fuse_in_block(struct optimizer *o, LLVMValueRef store)
{
	struct update one, two;
	int64_t offset, other;
	LLVMValueRef base;

	if (!optimizer_update(store, &one))
		return false;
	base = base_of(one.pointer, &offset);
	for (LLVMValueRef i = LLVMGetNextInstruction(store); i; i = LLVMGetNextInstruction(i)) {
		bool counters;

		if (!optimizer_update(i, &two) || base_of(two.pointer, &other) != base || (other != offset + 8 && other != offset - 8))
			continue;
		counters = is_row_counter(base, offset) && is_row_counter(base, other);
		if (!nothing_between(one.load, two.store, base, offset, counters))
			continue;
		if (other > offset)
			fuse_two(o, &one, &two, two.store);
		else
			fuse_two(o, &two, &one, two.store);
		return true;
	}
	return false;
}

/* A row counter, and the one beside it of those rows only that pass the branch at the block's end. */
static bool fuse_over_branch(struct optimizer *o, LLVMValueRef store)
{
	LLVMBasicBlockRef b = LLVMGetInstructionParent(store), then;
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(b), base;
	struct update one, two;
	int64_t offset, other;

	if (!optimizer_update(store, &one) || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) || !LLVMIsAConstantInt(one.with))
		return false;
	base = base_of(one.pointer, &offset);
	then = LLVMGetSuccessor(branch, 0);
	if (!is_row_counter(base, offset) || only_predecessor(then) != b || LLVMGetSuccessor(branch, 1) == then)
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(then); i; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef pointer = NULL;

		if (!optimizer_update(i, &two) || base_of(two.pointer, &other) != base || (other != offset + 8 && other != offset - 8) ||
		    !is_row_counter(base, other) || !LLVMIsAConstantInt(two.with) || LLVMConstIntGetZExtValue(two.with) != 1)
			continue;
		LLVMPositionBuilderBefore(o->builder, branch);
		optimizer_at(o, function_of(store), optimizer_line(two.add));
		two.with = LLVMBuildZExt(o->builder, LLVMGetCondition(branch), LLVMTypeOf(two.add), "passes");
		if (LLVMIsAInstruction(two.with))
			optimizer_share(o, optimizer_made(o, two.with), optimizer_line(two.add));
		if (other < offset) { /* that pointer is known too late */
			LLVMValueRef back = LLVMConstInt(LLVMTypeOf(two.add), (uint64_t)-1, 1);

			pointer = LLVMBuildGEP2(o->builder, LLVMTypeOf(two.add), one.pointer, &back, 1, "before");
			optimizer_share(o, optimizer_made(o, pointer), optimizer_line(two.load));
			two.pointer = pointer;
			fuse_two(o, &two, &one, branch);
		} else {
			fuse_two(o, &one, &two, branch);
		}
		return true;
	}
	return false;
}

static void fuse(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;) {
			bool fused = LLVMIsAStoreInst(i) && (fuse_in_block(o, i) || fuse_over_branch(o, i));

			i = fused ? LLVMGetFirstInstruction(b) : LLVMGetNextInstruction(i);
		}
}

/* --------------------------------------------------------------------------------------------------------------- the whole */

bool optimizer_run(struct optimizer *o, const char *text)
{
	static const struct {
		unsigned bit;
		void (*pass)(struct optimizer *o, LLVMValueRef function);
	} passes[] = { { OPTIMIZE_FOLD, fold }, { OPTIMIZE_CSE, cse }, { OPTIMIZE_ELIMINATE, eliminate }, { OPTIMIZE_FUSE, fuse },
		       { OPTIMIZE_VECTOR, optimize_vector }, { OPTIMIZE_UNROLL, optimize_unroll } };

	for (; *text; text++)
		o->generated += *text == '\n';
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		for (LLVMValueRef f = LLVMGetFirstFunction(o->module); f && o->passes & passes[i].bit; f = LLVMGetNextFunction(f))
			if (LLVMGetFirstBasicBlock(f))
				passes[i].pass(o, f);
	return o->passes != 0;
}
