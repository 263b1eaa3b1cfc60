/* SPDX-License-Identifier: MIT */
/*
 * LLVM's ORC by its C interface, as a program without a listener uses it: lljit BITCODE SECONDS ROUNDS_FILE.  With LLJIT_RTDYLD in the
 * environment: linked by RuntimeDyld, whatever the version's default is.
 */
#include "llvm_versions.h"

#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>

static LLVMOrcObjectLayerRef rtdyld(void *context, LLVMOrcExecutionSessionRef session, const char *triple)
{
	(void)context;
	(void)triple;
	return LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
}

int main(int argc, char **argv)
{
	LLVMOrcLLJITBuilderRef builder = NULL;
	LLVMOrcDefinitionGeneratorRef process;
	LLVMOrcThreadSafeModuleRef module;
	LLVMOrcExecutorAddress address;
	LLVMMemoryBufferRef text;
	LLVMOrcLLJITRef jit;
	char *error;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	if (getenv("LLJIT_RTDYLD")) {
		builder = LLVMOrcCreateLLJITBuilder();
		LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, rtdyld, NULL);
	}
	if (argc < 4 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &text, &error) || !(module = llvm_parse(text)) ||
	    LLVMOrcCreateLLJIT(&jit, builder))
		return 1;
	if (LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL))
		return 1;
	LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
	if (LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit), module) || LLVMOrcLLJITLookup(jit, &address, "main"))
		return 1;
	return ((int (*)(int, char **))address)(argc - 1, argv + 1);
}
