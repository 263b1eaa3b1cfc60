/* SPDX-License-Identifier: MIT */
/* Loops of arithmetic, ifs and sums, several rows at a time: ifs become masks.  A vector instruction has its scalar one's line. */
#include "loops.h"

#include <stdlib.h>

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
	return LLVMIsAConstantInt(scalar) ? splat(scalar) : map_find(&v->m, scalar);
}

/* Whether a value differs from row to row in ways that lanes can hold: constants do not, all else must have been seen. */
static bool has_lanes(const struct map *m, LLVMValueRef v)
{
	return LLVMIsAConstantInt(v) || map_find(m, v) != v;
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
			} else if (loop_is_column_load(i, row)) {
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
			loop_copy(v->o, &v->m, chain[nr]);
		pointer = map_find(&v->m, u->pointer);
	}
	optimizer_at(v->o, v->l->function, optimizer_line(u->load));
	reduce = LLVMBuildLoad2(b, loop_i64(v->o), pointer, "");
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
			} else if (loop_is_column_load(i, v->i)) {
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
	if (loop_find(function, &l) && !LLVMGetNextUse(LLVMGetFirstUse(l.next)) && can_be_vector(&l, l.body, l.head, l.i, &v->m)) {
		v->m.nr = 0;
		v->o = o;
		v->l = &l;
		v->type = LLVMVectorType(loop_i64(o), ROWS);
		body = loop_open(o, &l, &v->row, &head);
		v->i = LLVMGetFirstInstruction(l.head);
		LLVMPositionBuilderAtEnd(optimizer_builder(o), body);
		vector_blocks(v, l.body, l.head, NULL);
		loop_close(o, &l, v->row, head);
	}
	free(v);
}
