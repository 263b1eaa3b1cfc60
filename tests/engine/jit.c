/* SPDX-License-Identifier: MIT */
/*
 * LLJIT on RuntimeDyld, with the listener that announces each object to debuggers (the GDB JIT interface); .eh_frame is
 * registered by RuntimeDyld itself.  The large code model calls the runtime by its full address: no stubs, which would
 * have neither a line nor call-frame information.
 */
#include "jit.h"

#include "llvm_versions.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct debug_info {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMDIBuilderRef builder;
	LLVMMetadataRef file, type;
};

static void add_flag(LLVMModuleRef m, const char *name, unsigned value)
{
	LLVMValueRef v = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(m)), value, 0);

	LLVMAddModuleFlag(m, LLVMModuleFlagBehaviorWarning, name, strlen(name), LLVMValueAsMetadata(v));
}

struct debug_info *debug_info_begin(LLVMModuleRef m, const char *file_name)
{
	struct debug_info *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	add_flag(m, "Debug Info Version", LLVMDebugMetadataVersion());
	add_flag(m, "Dwarf Version", 4);
	d->module = m;
	d->context = LLVMGetModuleContext(m);
	d->builder = LLVMCreateDIBuilder(m);
	d->file = LLVMDIBuilderCreateFile(d->builder, file_name, strlen(file_name), ".", 1);
	LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC, d->file, "engine", 6, 1, "", 0, 0, "", 0,
				       LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
	d->type = LLVMDIBuilderCreateSubroutineType(d->builder, d->file, NULL, 0, LLVMDIFlagZero);
	return d;
}

LLVMMetadataRef debug_info_function(struct debug_info *d, LLVMValueRef f)
{
	LLVMMetadataRef scope;
	size_t bytes;
	const char *name = LLVMGetValueName2(f, &bytes);

	scope = LLVMDIBuilderCreateFunction(d->builder, d->file, name, bytes, name, bytes, d->file, 0, d->type, 0, 1, 0,
					    LLVMDIFlagZero, 1);
	LLVMSetSubprogram(f, scope);
	return scope;
}

LLVMMetadataRef debug_info_location(struct debug_info *d, unsigned line, LLVMMetadataRef scope)
{
	return LLVMDIBuilderCreateDebugLocation(d->context, line, 1, scope, NULL);
}

void debug_info_complete(struct debug_info *d)
{
	LLVMDIBuilderFinalize(d->builder);
}

void debug_info_end(struct debug_info *d)
{
	LLVMDisposeDIBuilder(d->builder);
	free(d);
}

static int fail(LLVMErrorRef e)
{
	char *message = LLVMGetErrorMessage(e);

	fprintf(stderr, "engine: LLVM: %s\n", message);
	LLVMDisposeErrorMessage(message);
	return -1;
}

static LLVMOrcObjectLayerRef make_layer(void *context, LLVMOrcExecutionSessionRef session, const char *triple)
{
	LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);

	(void)context;
	(void)triple;
	LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, LLVMCreateGDBRegistrationListener());
	return layer;
}

/* This machine's own processor unless a model is named; a model comes with the features that it has. */
static LLVMTargetMachineRef make_target(const char *model)
{
	char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures(), *message;
	LLVMTargetMachineRef machine = NULL;
	LLVMTargetRef target;

	if (!LLVMGetTargetFromTriple(triple, &target, &message))
		machine = LLVMCreateTargetMachine(target, triple, model ? model : cpu, model ? "" : features, LLVMCodeGenLevelDefault,
						  LLVMRelocStatic, LLVMCodeModelLarge);
	LLVMDisposeMessage(triple);
	LLVMDisposeMessage(cpu);
	LLVMDisposeMessage(features);
	return machine;
}

static LLVMOrcThreadSafeContextRef safe_context;

LLVMContextRef jit_context(void)
{
	return thread_safe_context(&safe_context);
}

int jit_compile(LLVMModuleRef m, struct program *p, const struct options *o)
{
	LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
	LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
	LLVMOrcDefinitionGeneratorRef process;
	LLVMTargetMachineRef machine;
	LLVMOrcLLJITRef jit;
	LLVMErrorRef e;
	char *triple;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	machine = make_target(o->cpu);
	if (!machine) {
		fprintf(stderr, "engine: LLVM knows no target for this machine\n");
		return -1;
	}
	triple = LLVMGetTargetMachineTriple(machine);
	LLVMSetTarget(m, triple);
	LLVMDisposeMessage(triple);
	e = o->optimize & OPTIMIZE_LLVM ? LLVMRunPasses(m, "default<O2>", machine, passes) : NULL;
	if (e)
		return fail(e);
	LLVMDisposePassBuilderOptions(passes);
	LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
	LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_layer, NULL);
	e = LLVMOrcCreateLLJIT(&jit, builder);
	if (e)
		return fail(e);
	e = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
	if (e)
		return fail(e);
	LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
	e = LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit), LLVMOrcCreateNewThreadSafeModule(m, safe_context));
	if (e)
		return fail(e);
	for (uint32_t i = 0; i < p->nr_pipelines; i++) {
		LLVMOrcExecutorAddress at;
		char name[128];

		if (o->outline) { /* named after its first task */
			const struct task *t = NULL;

			for (uint32_t n = 0; n < p->nr_tasks && !t; n++)
				if (p->tasks[n].pipeline == p->pipelines[i].id)
					t = &p->tasks[n];
			snprintf(name, sizeof(name), "op%u_task%u_%s", t->operator, t->id, t->name);
			for (char *c = name; *c; c++)
				if (*c == ' ')
					*c = '_';
		} else {
			snprintf(name, sizeof(name), "pipeline_%u", p->pipelines[i].id);
		}
		e = LLVMOrcLLJITLookup(jit, &at, name);
		if (e)
			return fail(e);
		p->pipelines[i].function = (pipeline_function)(uintptr_t)at;
	}
	return 0;
}
