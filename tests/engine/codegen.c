/* SPDX-License-Identifier: MIT */
/*
 * Produce and consume (T. Neumann, Efficiently Compiling Efficient Query Plans for Modern Hardware, VLDB 2011): an operator
 * produces by asking its input to, and consumes a tuple, whose columns are LLVM values, by emitting code into the loop of
 * the pipeline that the tuple comes from.
 */
#include "compare.h"
#include "count.h"
#include "gen.h"
#include "jit.h"
#include "optimize.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_states(struct plan *p, const struct options *options)
{
	struct ranks *ranks = calloc(1, sizeof(*ranks)); /* shared by who reads and who writes them */

	for (uint32_t i = 0; i < p->nr_operators; i++) {
		struct operator *o = p->operators[i];
		struct group_state *s;
		struct top_state *t;

		switch (o->kind) {
		case OP_JOIN:
		case OP_GROUPJOIN:
			o->state = calloc(1, sizeof(struct join_table));
			break;
		case OP_GROUP:
			s = o->state = calloc(1, sizeof(*s));
			s->nr_keys = o->nr_keys;
			s->nr_values = o->nr_sums;
			s->nr_threads = options->nr_threads;
			break;
		case OP_AGGREGATE:
			o->state = calloc(VALUES_MAX, sizeof(int64_t));
			break;
		case OP_RANKS:
		case OP_ITERATE:
			o->state = ranks;
			ranks->nr = o->units;
			break;
		case OP_TOP:
			t = o->state = calloc(1, sizeof(*t));
			t->nr_max = o->units;
			t->nr_columns = o->nr_columns;
			break;
		default:
			break;
		}
	}
}

/* The module as people read it, without what debug information adds. */
static char *print_module(LLVMModuleRef m)
{
	LLVMModuleRef clean = LLVMCloneModule(m);
	char *text;

	LLVMStripModuleDebugInfo(clean);
	text = LLVMPrintModuleToString(clean);
	LLVMDisposeModule(clean);
	return text;
}

/* The next line of a function's body that is an instruction: they are indented, labels are not. */
static const char *next_instruction(const char *at, uint32_t *line, bool *inside)
{
	for (; *at; at = strchrnul(at, '\n') + (*strchrnul(at, '\n') != 0)) {
		++*line;
		if (strncmp(at, "define", 6) == 0)
			*inside = true;
		else if (*at == '}')
			*inside = false;
		else if (*inside && strncmp(at, "  ", 2) == 0)
			return strchrnul(at, '\n') + 1;
	}
	return at;
}

/*
 * Print the module, then give each instruction its own line in that text as debug location.  The optimizer comes later and
 * carries the locations along.
 */
static void number_instructions(struct gen *g, struct optimizer *optimizer)
{
	const char *at = g->program->ir = print_module(g->module);
	uint32_t line = 0;
	bool inside = false;

	for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				LLVMMetadataRef task = LLVMInstructionGetDebugLoc(i);

				at = next_instruction(at, &line, &inside);
				jitreg_link(IR, line, TASK, LLVMDILocationGetLine(task), 1);
				optimizer_owner(optimizer, line, LLVMDILocationGetLine(task));
				LLVMInstructionSetDebugLoc(i, debug_info_location(g->debug, line, LLVMGetSubprogram(f)));
			}
}

void codegen_announce_plan(const struct plan *p, const struct options *options)
{
	struct jitreg_range kept = { (uintptr_t)__start_runtime_text, (uintptr_t)__stop_runtime_text };
	struct jitreg_tag_field task[] = { { TASK, 0, 20 } }, packed[] = { { OPERATOR, 0, 10 }, { PIPELINE, 10, 10 } };

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_level(PIPELINE, "pipeline", 0, 0);
	jitreg_level(TASK, "task", OPERATOR, 0);
	jitreg_level(IR, "ir", TASK, 0);
	jitreg_source(p->name, p->sql, 0, 0, JITREG_SOURCE_QUERY);
	for (uint32_t i = 0; i < p->nr_operators; i++) {
		const struct operator *o = p->operators[i];

		jitreg_component(OPERATOR, o->id, o->name, o->detail, 0);
		jitreg_counter(OPERATOR, o->id, "estimated rows", (int64_t)o->estimated_rows);
		if (o->parent)
			jitreg_edge(OPERATOR, o->id, o->parent->id, o->parent->probe == o, "rows");
	}
	if (options->compare == COMPARE_REGISTER)
		jitreg_tag(13, 0, 0xfff00000, 0x7A600000, options->pack ? packed : task, options->pack ? 2 : 1, &kept, 1);
	if (options->compare == COMPARE_MEMORY)
		compare_declare_word(options->pack ? packed : task, options->pack ? 2 : 1);
}

static bool verified(const struct gen *g)
{
	char *message = NULL;
	bool ok = !LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message);

	if (!ok)
		fprintf(stderr, "engine: LLVM refuses the generated code: %s\n", message);
	LLVMDisposeMessage(message);
	return ok;
}

int codegen(struct plan *plan, const struct data *d, const struct options *o, struct program *out)
{
	struct gen g = { .plan = plan, .data = d, .options = o, .program = out };
	struct optimizer *optimizer;
	char file_name[64];

	snprintf(file_name, sizeof(file_name), "%s.ll", plan->name);
	g.context = jit_context();
	g.module = LLVMModuleCreateWithNameInContext(file_name, g.context);
	g.builder = LLVMCreateBuilderInContext(g.context);
	g.i64 = LLVMInt64TypeInContext(g.context);
	g.pointer = LLVMPointerType(LLVMInt8TypeInContext(g.context), 0);
	g.none = LLVMVoidTypeInContext(g.context);
	g.debug = debug_info_begin(g.module, file_name);
	g.tracker = (struct jitreg_tracker){ .lower_level = IR, .upper_level = TASK };
	codegen_announce_plan(plan, o);
	make_states(plan, o);
	produce(&g, plan->root);
	debug_info_complete(g.debug);
	if (!verified(&g))
		return -1;
	optimizer = optimizer_create(g.module, g.debug, o->optimize);
	number_instructions(&g, optimizer);
	if (optimizer_run(optimizer, out->ir)) {
		if (!verified(&g))
			return -1;
		out->ir = optimizer_text(optimizer, out->ir);
		out->optimized = print_module(g.module);
	}
	optimizer_end(optimizer);
	if (o->count && (!count_module(&g, out) || !verified(&g)))
		return -1;
	LLVMDisposeBuilder(g.builder);
	out->optimizer = optimizer; /* replay */
	jitreg_source(file_name, out->ir, IR, 0, 0);
	debug_info_end(g.debug);
	return jit_compile(g.module, out, o);
}
