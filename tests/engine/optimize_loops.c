/* SPDX-License-Identifier: MIT */
/*
 * Pipelines' loops over rows, four rows a round.  A copy of an instruction keeps its line, scalar or vector, so that the dictionary
 * needs no change; what is new, the loop's control and the masks, is made of the loop's control and the branches.  What is left of
 * the rows runs through the loop as it was.
 */
#include "optimize.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#define ROWS 4
#define BLOCKS_MAX 128
#define MAPPED_MAX 4096

struct row_loop {
	LLVMValueRef function, i, comparison, next, to; /* i < to; next = i + 1 */
	LLVMBasicBlockRef entry, head, body, done, latch;
};

/* Old values and what stands for them now. */
struct map {
	uint32_t nr;
	struct {
		LLVMValueRef from, to;
	} pair[MAPPED_MAX];
};

static void map_add(struct map *m, LLVMValueRef from, LLVMValueRef to)
{
	if (m->nr == MAPPED_MAX)
		abort();
	m->pair[m->nr].from = from;
	m->pair[m->nr++].to = to;
}

/* Itself, where nothing stands for it. */
static LLVMValueRef mapped(const struct map *m, LLVMValueRef v)
{
	for (uint32_t i = m->nr; i > 0; i--)
		if (m->pair[i - 1].from == v)
			return m->pair[i - 1].to;
	return v;
}

/* begin_pipeline's: entry -> head (i, i < to) -> body ... -> head, or done. */
static bool row_loop(LLVMValueRef f, struct row_loop *l)
{
	LLVMValueRef branch;

	*l = (struct row_loop){ .function = f, .entry = LLVMGetEntryBasicBlock(f) };
	branch = LLVMGetBasicBlockTerminator(l->entry);
	if (!LLVMIsABranchInst(branch) || LLVMIsConditional(branch))
		return false;
	l->head = LLVMGetSuccessor(branch, 0);
	l->i = LLVMGetFirstInstruction(l->head);
	branch = LLVMGetBasicBlockTerminator(l->head);
	if (!LLVMIsAPHINode(l->i) || LLVMCountIncoming(l->i) != 2 || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
		return false;
	l->comparison = LLVMGetCondition(branch);
	l->body = LLVMGetSuccessor(branch, 0);
	l->done = LLVMGetSuccessor(branch, 1);
	if (!LLVMIsAICmpInst(l->comparison) || LLVMGetOperand(l->comparison, 0) != l->i ||
	    LLVMGetNextInstruction(l->i) != l->comparison || LLVMGetNextInstruction(l->comparison) != branch)
		return false;
	l->to = LLVMGetOperand(l->comparison, 1);
	l->latch = LLVMGetIncomingBlock(l->i, 1);
	l->next = LLVMGetIncomingValue(l->i, 1);
	return LLVMGetIncomingBlock(l->i, 0) == l->entry && LLVMIsABinaryOperator(l->next) && LLVMGetOperand(l->next, 0) == l->i;
}

static LLVMTypeRef i64_of(const struct optimizer *o)
{
	return LLVMInt64TypeInContext(LLVMGetModuleContext(optimizer_module(o)));
}

static LLVMValueRef number(const struct optimizer *o, uint64_t n)
{
	return LLVMConstInt(i64_of(o), n, 0);
}

/*
 * A loop in front of the old one, for as long as ROWS rows are left; returns its body, which has no end yet.  The old one begins with
 * the row that it leaves.
 */
static LLVMBasicBlockRef new_loop(struct optimizer *o, const struct row_loop *l, LLVMValueRef *row, LLVMBasicBlockRef *head)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	LLVMBasicBlockRef body = LLVMInsertBasicBlockInContext(context, l->head, "rows_body");
	LLVMValueRef rest, last, old = LLVMGetBasicBlockTerminator(l->entry);
	LLVMBuilderRef b = optimizer_builder(o);

	*head = LLVMInsertBasicBlockInContext(context, body, "rows_head");
	LLVMPositionBuilderBefore(b, old);
	optimizer_at(o, l->function, optimizer_line(old));
	LLVMBuildBr(b, *head);
	LLVMInstructionEraseFromParent(old); /* the new one has its line */
	LLVMPositionBuilderAtEnd(b, *head);
	optimizer_at(o, l->function, optimizer_line(l->i));
	*row = LLVMBuildPhi(b, i64_of(o), "row");
	LLVMAddIncoming(*row, (LLVMValueRef[]){ LLVMGetIncomingValue(l->i, 0) }, (LLVMBasicBlockRef[]){ l->entry }, 1);
	optimizer_at(o, l->function, optimizer_line(l->comparison));
	last = LLVMBuildAdd(b, *row, number(o, ROWS - 1), "last");
	last = LLVMBuildICmp(b, LLVMGetICmpPredicate(l->comparison), last, l->to, "");
	optimizer_at(o, l->function, optimizer_line(LLVMGetBasicBlockTerminator(l->head)));
	LLVMBuildCondBr(b, last, body, l->head);
	/* a phi's blocks cannot be changed */
	LLVMPositionBuilderBefore(b, l->i);
	optimizer_at(o, l->function, optimizer_line(l->i));
	rest = LLVMBuildPhi(b, i64_of(o), "rest");
	LLVMReplaceAllUsesWith(l->i, rest);
	LLVMAddIncoming(rest, (LLVMValueRef[]){ *row, l->next }, (LLVMBasicBlockRef[]){ *head, l->latch }, 2);
	LLVMInstructionEraseFromParent(l->i);
	return body;
}

/* The end of the new loop's round, where the builder is. */
static void end_loop(struct optimizer *o, const struct row_loop *l, LLVMValueRef row, LLVMBasicBlockRef head)
{
	LLVMBuilderRef b = optimizer_builder(o);
	LLVMValueRef next;

	optimizer_at(o, l->function, optimizer_line(l->next));
	next = LLVMBuildAdd(b, row, number(o, ROWS), "next_rows");
	LLVMAddIncoming(row, &next, (LLVMBasicBlockRef[]){ LLVMGetInsertBlock(b) }, 1);
	optimizer_at(o, l->function, optimizer_line(LLVMGetBasicBlockTerminator(l->latch)));
	LLVMBuildBr(b, head);
}

/* A load from a column, which nobody writes to. */
static bool is_column_load(LLVMValueRef load, LLVMValueRef row)
{
	LLVMValueRef at = LLVMIsALoadInst(load) ? LLVMGetOperand(load, 0) : NULL;

	return at && LLVMIsAGetElementPtrInst(at) && LLVMGetNumOperands(at) == 2 && LLVMIsConstant(LLVMGetOperand(at, 0)) &&
	       LLVMGetOperand(at, 1) == row;
}

/* ---------------------------------------------------------------------------------------------------- unroll, interleave */

static LLVMValueRef copy(struct optimizer *o, struct map *m, LLVMValueRef i)
{
	LLVMValueRef c = LLVMInstructionClone(i);

	for (int n = 0; n < LLVMGetNumOperands(i); n++)
		LLVMSetOperand(c, (unsigned)n, mapped(m, LLVMGetOperand(i, (unsigned)n)));
	LLVMInsertIntoBuilder(optimizer_builder(o), c); /* which gives it the builder's location */
	LLVMInstructionSetDebugLoc(c, LLVMInstructionGetDebugLoc(i));
	map_add(m, i, c);
	return c;
}

/* The part of the body that may run before all that the rows before it do: arithmetic and loads from columns. */
static LLVMValueRef end_of_front(const struct row_loop *l, LLVMValueRef row)
{
	LLVMValueRef i = LLVMGetFirstInstruction(l->body);

	while (optimizer_is_pure(i) || is_column_load(i, row))
		i = LLVMGetNextInstruction(i);
	return i;
}

/* One row's blocks, from `from` in the body on; branches to the head lead to `after`. */
static void copy_row(struct optimizer *o, const struct row_loop *l, struct map *m, LLVMValueRef from, LLVMBasicBlockRef *old, uint32_t nr,
		     LLVMBasicBlockRef first, LLVMBasicBlockRef after)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	LLVMBuilderRef b = optimizer_builder(o);

	map_add(m, LLVMBasicBlockAsValue(l->head), LLVMBasicBlockAsValue(after));
	map_add(m, LLVMBasicBlockAsValue(l->body), LLVMBasicBlockAsValue(first));
	for (uint32_t n = 0; n < nr; n++)
		if (old[n] != l->body)
			map_add(m, LLVMBasicBlockAsValue(old[n]),
				LLVMBasicBlockAsValue(LLVMInsertBasicBlockInContext(context, l->head, LLVMGetBasicBlockName(old[n]))));
	/* phis first: whatever uses them comes in any order of blocks, and their own operands are known only at the end */
	for (uint32_t n = 0; n < nr; n++) {
		LLVMPositionBuilderAtEnd(b, LLVMValueAsBasicBlock(mapped(m, LLVMBasicBlockAsValue(old[n]))));
		for (LLVMValueRef i = LLVMGetFirstInstruction(old[n]); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
			optimizer_at(o, l->function, optimizer_line(i));
			map_add(m, i, LLVMBuildPhi(b, LLVMTypeOf(i), ""));
		}
	}
	for (uint32_t n = 0; n < nr; n++) {
		LLVMPositionBuilderAtEnd(b, LLVMValueAsBasicBlock(mapped(m, LLVMBasicBlockAsValue(old[n]))));
		for (LLVMValueRef i = old[n] == l->body ? from : LLVMGetFirstInstruction(old[n]); i; i = LLVMGetNextInstruction(i))
			if (!LLVMIsAPHINode(i))
				copy(o, m, i);
	}
	/* copies of values that were not copied yet when they were used */
	for (uint32_t n = 0; n < nr; n++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(old[n]); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef c = mapped(m, i);

			if (LLVMIsAPHINode(i))
				for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
					LLVMAddIncoming(c, (LLVMValueRef[]){ mapped(m, LLVMGetIncomingValue(i, k)) },
							(LLVMBasicBlockRef[]){ LLVMValueAsBasicBlock(mapped(m,
								LLVMBasicBlockAsValue(LLVMGetIncomingBlock(i, k)))) }, 1);
			else if (c != i)
				for (int k = 0; k < LLVMGetNumOperands(c); k++)
					LLVMSetOperand(c, (unsigned)k, mapped(m, LLVMGetOperand(c, (unsigned)k)));
		}
}

void optimize_unroll(struct optimizer *o, LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	struct map *m = calloc(ROWS, sizeof(*m));
	LLVMBasicBlockRef old[BLOCKS_MAX], head, body, first[ROWS + 1];
	LLVMValueRef row, from, i;
	struct row_loop l;
	uint32_t nr = 0;

	if (!m)
		abort();
	if (!row_loop(function, &l)) {
		free(m);
		return;
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		if (b != l.entry && b != l.head && b != l.done) {
			if (nr == BLOCKS_MAX)
				abort();
			old[nr++] = b;
		}
	body = new_loop(o, &l, &row, &head);
	i = LLVMGetFirstInstruction(l.head); /* i's place was taken */
	from = end_of_front(&l, i);
	LLVMPositionBuilderAtEnd(optimizer_builder(o), body);
	for (uint32_t k = 0; k < ROWS; k++) {
		optimizer_at(o, function, optimizer_line(l.next));
		map_add(&m[k], i, k ? LLVMBuildAdd(optimizer_builder(o), row, number(o, k), "") : row);
	}
	for (LLVMValueRef v = LLVMGetFirstInstruction(l.body); v != from; v = LLVMGetNextInstruction(v))
		for (uint32_t k = 0; k < ROWS; k++)
			copy(o, &m[k], v);
	for (uint32_t k = 0; k <= ROWS; k++)
		first[k] = LLVMInsertBasicBlockInContext(context, l.head, k < ROWS ? "one_row" : "rows_end");
	optimizer_at(o, function, optimizer_line(LLVMGetBasicBlockTerminator(l.latch)));
	LLVMBuildBr(optimizer_builder(o), first[0]);
	for (uint32_t k = 0; k < ROWS; k++)
		copy_row(o, &l, &m[k], from, old, nr, first[k], first[k + 1]);
	LLVMPositionBuilderAtEnd(optimizer_builder(o), first[ROWS]);
	end_loop(o, &l, row, head);
	free(m);
}

/* ----------------------------------------------------------------------------------------------------------------- vector */

struct vector {
	struct optimizer *o;
	const struct row_loop *l;
	LLVMTypeRef type, bits;
	LLVMValueRef i, row;
	struct map m;
};

static LLVMValueRef splat(LLVMValueRef constant)
{
	LLVMValueRef lanes[ROWS];

	for (int i = 0; i < ROWS; i++)
		lanes[i] = constant;
	return LLVMConstVector(lanes, ROWS);
}

static LLVMValueRef vector_of(struct vector *v, LLVMValueRef scalar)
{
	return LLVMIsAConstantInt(scalar) ? splat(scalar) : mapped(&v->m, scalar);
}

/* Whether a value differs from row to row in ways that lanes can hold: constants do not, all else must have been seen. */
static bool has_lanes(const struct map *m, LLVMValueRef v)
{
	return LLVMIsAConstantInt(v) || mapped(m, v) != v;
}

/* What only says where loads and updates are: made anew beside them. */
static bool is_loose_address(LLVMValueRef i)
{
	if (!optimizer_is_pure(i))
		return false;
	for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (!LLVMIsALoadInst(user) && !LLVMIsABitCastInst(user) && !LLVMIsAGetElementPtrInst(user) &&
		    !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == i))
			return false;
	}
	return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind;
}

static LLVMValueRef update_of(LLVMValueRef i)
{
	struct update u;

	for (LLVMValueRef s = LLVMGetNextInstruction(i); s; s = LLVMGetNextInstruction(s))
		if (optimizer_update(s, &u) && (u.load == i || u.add == i))
			return s;
	return NULL;
}

/* Where an update's word is the same for every row: what its address is computed of lies outside of the loop, or is constant. */
static bool is_same_word(LLVMValueRef pointer, LLVMValueRef row)
{
	while (LLVMIsABitCastInst(pointer) || LLVMIsAGetElementPtrInst(pointer)) {
		if (LLVMIsAGetElementPtrInst(pointer) && !LLVMIsAConstantInt(LLVMGetOperand(pointer, 1)))
			return false;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer != row && (LLVMIsAArgument(pointer) || LLVMIsConstant(pointer));
}

/*
 * Straight blocks and ifs without else, of arithmetic, loads from columns and updates of single words: the blocks up to the latch in
 * order, false where there is anything else.  seen: what has lanes.
 */
static bool can_be_vector(const struct row_loop *l, LLVMBasicBlockRef b, LLVMBasicBlockRef until, LLVMValueRef row, struct map *seen)
{
	while (b != until) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
		struct update u;

		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != end; i = LLVMGetNextInstruction(i)) {
			if (optimizer_update(i, &u)) {
				if (!has_lanes(seen, u.with) || !is_same_word(u.pointer, row))
					return false;
			} else if (i == l->next || is_loose_address(i) || update_of(i)) {
				continue;
			} else if (is_column_load(i, row)) {
				map_add(seen, i, row);
			} else if (LLVMIsABinaryOperator(i) || LLVMIsAICmpInst(i)) {
				if (!has_lanes(seen, LLVMGetOperand(i, 0)) || !has_lanes(seen, LLVMGetOperand(i, 1)))
					return false;
				map_add(seen, i, row);
			} else {
				return false;
			}
		}
		if (!LLVMIsABranchInst(end))
			return false;
		if (!LLVMIsConditional(end)) {
			b = LLVMGetSuccessor(end, 0);
			continue;
		}
		if (!has_lanes(seen, LLVMGetCondition(end)) ||
		    !can_be_vector(l, LLVMGetSuccessor(end, 0), LLVMGetSuccessor(end, 1), row, seen))
			return false;
		b = LLVMGetSuccessor(end, 1);
	}
	return true;
}

static void vector_load(struct vector *v, LLVMValueRef load)
{
	LLVMBuilderRef b = optimizer_builder(v->o);
	LLVMValueRef at = LLVMGetOperand(load, 0), wide;

	optimizer_at(v->o, v->l->function, optimizer_line(at));
	wide = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(at), LLVMGetOperand(at, 0), &v->row, 1, "");
	wide = LLVMBuildBitCast(b, wide, LLVMPointerType(v->type, 0), "");
	optimizer_at(v->o, v->l->function, optimizer_line(load));
	wide = LLVMBuildLoad2(b, v->type, wide, "");
	LLVMSetAlignment(wide, 8);
	map_add(&v->m, load, wide);
}

/* The word gets the sum over the lanes that the mask lets through. */
static void vector_update(struct vector *v, const struct update *u, LLVMValueRef mask)
{
	LLVMBuilderRef b = optimizer_builder(v->o);
	LLVMModuleRef m = optimizer_module(v->o);
	unsigned id = LLVMLookupIntrinsicID("llvm.vector.reduce.add", 22);
	LLVMValueRef lanes = vector_of(v, u->with), reduce = LLVMGetIntrinsicDeclaration(m, id, &v->type, 1), pointer;
	LLVMTypeRef type = LLVMIntrinsicGetType(LLVMGetModuleContext(m), id, &v->type, 1);

	optimizer_at(v->o, v->l->function, optimizer_line(u->add));
	if (mask)
		lanes = LLVMBuildSelect(b, mask, lanes, LLVMConstNull(v->type), "");
	lanes = LLVMBuildCall2(b, type, reduce, &lanes, 1, "");
	pointer = u->pointer; /* again, from what lies outside of the loop */
	if (LLVMIsAInstruction(pointer)) {
		LLVMValueRef chain[8];
		int nr = 0;

		for (; LLVMIsAInstruction(pointer); pointer = LLVMGetOperand(pointer, 0)) {
			if (nr == 8)
				abort();
			chain[nr++] = pointer;
		}
		while (nr-- > 0)
			copy(v->o, &v->m, chain[nr]);
		pointer = mapped(&v->m, u->pointer);
	}
	optimizer_at(v->o, v->l->function, optimizer_line(u->load));
	reduce = LLVMBuildLoad2(b, i64_of(v->o), pointer, "");
	optimizer_at(v->o, v->l->function, optimizer_line(u->add));
	lanes = LLVMBuildAdd(b, reduce, lanes, "");
	optimizer_at(v->o, v->l->function, optimizer_line(u->store));
	LLVMBuildStore(b, lanes, pointer);
}

static void vector_blocks(struct vector *v, LLVMBasicBlockRef block, LLVMBasicBlockRef until, LLVMValueRef mask)
{
	LLVMBuilderRef b = optimizer_builder(v->o);

	while (block != until) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(block), inner;
		struct update u;

		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != end; i = LLVMGetNextInstruction(i)) {
			if (optimizer_update(i, &u)) {
				vector_update(v, &u, mask);
			} else if (i == v->l->next || is_loose_address(i) || update_of(i)) {
				continue;
			} else if (is_column_load(i, v->i)) {
				vector_load(v, i);
			} else {
				LLVMValueRef x = vector_of(v, LLVMGetOperand(i, 0)), y = vector_of(v, LLVMGetOperand(i, 1));

				optimizer_at(v->o, v->l->function, optimizer_line(i));
				map_add(&v->m, i, LLVMIsAICmpInst(i) ? LLVMBuildICmp(b, LLVMGetICmpPredicate(i), x, y, "") :
								       LLVMBuildBinOp(b, LLVMGetInstructionOpcode(i), x, y, ""));
			}
		}
		if (!LLVMIsConditional(end)) {
			block = LLVMGetSuccessor(end, 0);
			continue;
		}
		optimizer_at(v->o, v->l->function, optimizer_line(end));
		inner = vector_of(v, LLVMGetCondition(end));
		if (mask)
			inner = LLVMBuildAnd(b, mask, inner, "mask");
		vector_blocks(v, LLVMGetSuccessor(end, 0), LLVMGetSuccessor(end, 1), inner);
		block = LLVMGetSuccessor(end, 1);
	}
}

void optimize_vector(struct optimizer *o, LLVMValueRef function)
{
	struct vector *v = calloc(1, sizeof(*v));
	LLVMBasicBlockRef head, body;
	struct row_loop l;

	if (!v)
		abort();
	/* the next row's number is nothing but that: common subexpressions may have given it other users */
	if (row_loop(function, &l) && !LLVMGetNextUse(LLVMGetFirstUse(l.next)) && can_be_vector(&l, l.body, l.head, l.i, &v->m)) {
		v->m.nr = 0;
		v->o = o;
		v->l = &l;
		v->type = LLVMVectorType(i64_of(o), ROWS);
		body = new_loop(o, &l, &v->row, &head);
		v->i = LLVMGetFirstInstruction(l.head);
		LLVMPositionBuilderAtEnd(optimizer_builder(o), body);
		vector_blocks(v, l.body, l.head, NULL);
		end_loop(o, &l, v->row, head);
	}
	free(v);
}
