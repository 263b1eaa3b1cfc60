/* SPDX-License-Identifier: MIT */
/* LLVM's ORC by its C interface, as a program without a listener uses it: lljit BITCODE SECONDS ROUNDS_FILE. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
	LLVMOrcDefinitionGeneratorRef process;
	LLVMOrcExecutorAddress address;
	LLVMMemoryBufferRef text;
	LLVMModuleRef module;
	LLVMOrcLLJITRef jit;
	char *error;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	if (argc < 4 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &text, &error) ||
	    LLVMParseBitcodeInContext2(LLVMOrcThreadSafeContextGetContext(context), text, &module) || LLVMOrcCreateLLJIT(&jit, NULL))
		return 1;
	if (LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL))
		return 1;
	LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
	if (LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit), LLVMOrcCreateNewThreadSafeModule(module, context)) ||
	    LLVMOrcLLJITLookup(jit, &address, "main"))
		return 1;
	return ((int (*)(int, char **))address)(argc - 1, argv + 1);
}
