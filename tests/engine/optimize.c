/* SPDX-License-Identifier: MIT */
#include "optimize.h"

#include "jitreg/jitreg.h"

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

void optimizer_forget(struct optimizer *o, LLVMValueRef instruction)
{
	uint32_t line = optimizer_line(instruction);

	jitreg_unlink(IR, line, TASK, 0);
	line_at(o, line)->nr = 0;
}

void optimizer_remove(struct optimizer *o, LLVMValueRef instruction)
{
	optimizer_forget(o, instruction);
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
	LLVMInstructionSetDebugLoc(instruction, debug_info_location(o->debug, line, LLVMGetSubprogram(optimizer_function(instruction))));
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

LLVMValueRef optimizer_function(LLVMValueRef instruction)
{
	return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

LLVMBasicBlockRef optimizer_only_predecessor(LLVMBasicBlockRef b)
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

/* --------------------------------------------------------------------------------------------------------------- the whole */

bool optimizer_run(struct optimizer *o, const char *text)
{
	static const struct {
		unsigned bit;
		void (*pass)(struct optimizer *o, LLVMValueRef function);
	} passes[] = { { OPTIMIZE_FOLD, optimize_fold }, { OPTIMIZE_CSE, optimize_cse },
		       { OPTIMIZE_ELIMINATE, optimize_eliminate }, { OPTIMIZE_FUSE, optimize_fuse },
		       { OPTIMIZE_VECTOR, optimize_vector }, { OPTIMIZE_UNROLL, optimize_unroll } };

	for (; *text; text++)
		o->generated += *text == '\n';
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		for (LLVMValueRef f = LLVMGetFirstFunction(o->module); f && o->passes & passes[i].bit; f = LLVMGetNextFunction(f))
			if (LLVMGetFirstBasicBlock(f))
				passes[i].pass(o, f);
	return o->passes != 0;
}
