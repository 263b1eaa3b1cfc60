/* SPDX-License-Identifier: MIT */
/*
 * A query compiler on LLVM's ORC: llvm_orc ROUNDS.  Operators produce and consume: each emits its part of the loop over rows, and calls its
 * parent in it.  Each instruction has a line, which is a component.  What operators share is a function of the runtime; generated code
 * calls it with a tag in r13, LLVM's swiftself.  Built with -ffixed-r13.
 */
#include "jitreg.hpp" // jitreg

#include "llvm_versions.hpp"
#include "work.h"

#include <llvm/ExecutionEngine/JITEventListener.h> // jitreg
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h> // jitreg
#include <llvm/ExecutionEngine/SectionMemoryManager.h>         // jitreg
#include <llvm/IR/DIBuilder.h>                                 // jitreg
#include <llvm/IR/IRBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include <cstdlib>
#include <functional>

using namespace llvm;

extern "C" RUNTIME uint64_t runtime_mix(uint64_t x, uint64_t turns)
{
	while (turns--)
		x = turn(x);
	return x;
}

enum : uint32_t { OPERATOR = 1, LINE = 2 };                     // jitreg
static const uint64_t TAG = 0x7a100000, TAG_CHECK = 0xfff00000; // jitreg
static jitreg_tracker tracker = { LINE, OPERATOR, 0, 0, {} };   // jitreg
static std::vector<Instruction *> lines;                        // jitreg
static DISubprogram *subprogram;                                // jitreg

/* The builder inserts each instruction by this function: it gets a line, and the line is the operator's that is being translated. */
struct Inserter : IRBuilderDefaultInserter {                                                             // jitreg
	void InsertHelper(Instruction *i, const Twine &name, INSERT_WHERE) const override                // jitreg
	{                                                                                                // jitreg
		IRBuilderDefaultInserter::InsertHelper(i, name, INSERT_THERE);                           // jitreg
		lines.push_back(i);                                                                      // jitreg
		i->setDebugLoc(DILocation::get(i->getContext(), unsigned(lines.size()), 1, subprogram)); // jitreg
		jitreg_tracker_link(&tracker, lines.size());                                             // jitreg
	}                                                                                                // jitreg
};                                                                                                       // jitreg

using Builder = IRBuilder<ConstantFolder, Inserter>; // jitreg, else: using Builder = IRBuilder<>;

struct Compiler {
	Builder b;
	Function *query;

	/* for i = 1 to times: x = body(x, i) */
	Value *loop(Value *times, Value *x, const std::function<Value *(Value *, Value *)> &body)
	{
		BasicBlock *before = b.GetInsertBlock();
		BasicBlock *head = BasicBlock::Create(b.getContext(), "", query), *behind = BasicBlock::Create(b.getContext(), "", query);

		b.CreateBr(head);
		b.SetInsertPoint(head);
		PHINode *i = b.CreatePHI(b.getInt64Ty(), 2), *old = b.CreatePHI(b.getInt64Ty(), 2);
		Value *next = body(old, i), *n = b.CreateAdd(i, b.getInt64(1));
		i->addIncoming(b.getInt64(1), before);
		i->addIncoming(n, b.GetInsertBlock());
		old->addIncoming(x, before);
		old->addIncoming(next, b.GetInsertBlock());
		b.CreateCondBr(b.CreateICmpULE(n, times), head, behind);
		b.SetInsertPoint(behind);
		return next;
	}

	/* By its address, so that no stub lies between. */
	Value *call_runtime(Value *x, Value *turns)
	{
		std::vector<Value *> arguments = { x, turns };
		std::vector<Type *> types = { b.getInt64Ty(), b.getInt64Ty() };

		types.push_back(pointer_to(b.getInt8Ty()));                                                          // jitreg
		arguments.push_back(b.CreateIntToPtr(b.getInt64(TAG | jitreg_tracker_top(&tracker)), types.back())); // jitreg
		auto *type = FunctionType::get(b.getInt64Ty(), types, false);
		auto *call = b.CreateCall(type, b.CreateIntToPtr(b.getInt64(uint64_t(&runtime_mix)), pointer_to(type)), arguments);
		call->addParamAttr(2, Attribute::SwiftSelf); // jitreg
		return call;
	}
};

struct PlanNode {
	uint64_t id;
	PlanNode *input, *parent;

	/* The loop in which rows come into being. */
	Value *produce(Compiler &c, Value *x)
	{
		jitreg::lowering here(tracker, id); // jitreg
		if (input)
			return input->produce(c, x);
		return c.loop(c.b.getInt64(ROWS), x, [&](Value *y, Value *row) { return consume(c, y, row); });
	}

	Value *consume(Compiler &c, Value *x, Value *row)
	{
		jitreg::lowering here(tracker, id); // jitreg
		Value *turns = c.b.CreateMul(row, c.b.getInt64(operator_work[id] * TURNS));
		x = c.loop(turns, x, [&](Value *y, Value *) {
			return c.b.CreateMul(c.b.CreateXor(y, c.b.CreateLShr(y, SHIFT)), c.b.getInt64(MULTIPLIER));
		});
		x = c.call_runtime(x, turns);
		return parent ? parent->consume(c, x, row) : x;
	}
};

static void generate(Module &module, PlanNode &root)
{
	auto *i64 = Type::getInt64Ty(module.getContext());
	auto *query = Function::Create(FunctionType::get(i64, { i64 }, false), Function::ExternalLinkage, "query", module);
	Compiler c = { Builder(BasicBlock::Create(module.getContext(), "", query)), query };

	DIBuilder debug(module);                                                                              // jitreg
	DIFile *file = debug.createFile("query.ll", ".");                                                     // jitreg
	debug.createCompileUnit(dwarf::DW_LANG_C, file, "", true, "", 0, "", DICompileUnit::LineTablesOnly);  // jitreg
	subprogram = debug.createFunction(file, "query", "query", file, 1, debug.createSubroutineType({}), 1, // jitreg
					  DINode::FlagZero, DISubprogram::SPFlagDefinition);                  // jitreg
	query->setSubprogram(subprogram);                                                                     // jitreg
	module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);                  // jitreg
	query->addFnAttr(Attribute::UWTable);                                                                 // jitreg
	c.b.CreateRet(root.produce(c, query->getArg(0)));
	debug.finalize(); // jitreg

	std::string text;                                                                      // jitreg
	raw_string_ostream stream(text);                                                       // jitreg
	for (Instruction *i : lines)                                                           // jitreg
		stream << *i << "\n";                                                          // jitreg
	jitreg_source_text("query.ll", stream.str().c_str(), stream.str().size(), LINE, 1, 0); // jitreg
}

static void optimize(Module &module)
{
	PassBuilder builder;
	LoopAnalysisManager loops;
	FunctionAnalysisManager functions;
	CGSCCAnalysisManager components;
	ModuleAnalysisManager modules;

	builder.registerModuleAnalyses(modules);
	builder.registerCGSCCAnalyses(components);
	builder.registerFunctionAnalyses(functions);
	builder.registerLoopAnalyses(loops);
	builder.crossRegisterProxies(loops, functions, components, modules);
	builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, modules);
}

static void announce()                                                                                  // jitreg
{                                                                                                       // jitreg
	const jitreg_tag_field field = { OPERATOR, 0, 20 };                                             // jitreg
	const jitreg_range runtime = { uint64_t(__start_runtime_text), uint64_t(__stop_runtime_text) }; // jitreg

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);           // jitreg
	jitreg_level(LINE, "line", OPERATOR, 0);                            // jitreg
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
	PlanNode scan = { SCAN, nullptr, nullptr }, filter = { SELECT, &scan, nullptr }, aggregate = { AGGREGATE, &filter, nullptr };
	auto context = std::make_unique<LLVMContext>();
	auto module = std::make_unique<Module>("query", *context);
	orc::LLJITBuilder builder;
	uint64_t result = 0;

	scan.parent = &filter;
	filter.parent = &aggregate;
	InitializeNativeTarget();
	InitializeNativeTargetAsmPrinter();
	/* LLJIT by itself registers nothing; this makes code known through the GDB JIT interface. */
	builder.setObjectLinkingLayerCreator([](orc::ExecutionSession &session, auto &&...) {        // jitreg
		auto layer = std::make_unique<orc::RTDyldObjectLinkingLayer>(                        // jitreg
			session, [](auto &&...) { return std::make_unique<SectionMemoryManager>(); });   // jitreg
		layer->registerJITEventListener(*JITEventListener::createGDBRegistrationListener()); // jitreg
		return layer;                                                                        // jitreg
	});                                                                                          // jitreg
	auto jit = cantFail(builder.create());
	announce();                                               // jitreg
	jitreg::mark compile(jitreg::covers::process, "compile"); // jitreg
	module->setDataLayout(jit->getDataLayout());
	generate(*module, aggregate);
	optimize(*module);
	cantFail(jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
	auto query = reinterpret_cast<uint64_t (*)(uint64_t)>(address_of(cantFail(jit->lookup("query"))));
	compile.end(lines.size()); // jitreg
	for (long round = 0; round < (argc > 1 ? atol(argv[1]) : 1); round++) {
		jitreg::mark run(jitreg::covers::process, "run", {}, uint64_t(round)); // jitreg
		result = query(1);
	}
	return finish(result, query_in_c(1));
}
