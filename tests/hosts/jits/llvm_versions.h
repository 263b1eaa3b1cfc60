/* SPDX-License-Identifier: MIT */
/* What differs between the C interfaces of LLVM 14 to 22. */
#ifndef TAILOR_LLVM_VERSIONS_H
#define TAILOR_LLVM_VERSIONS_H

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm/Config/llvm-config.h>

#include <stddef.h>

/* text, parsed, with a context of its own; NULL when it is no bitcode. */
static inline LLVMOrcThreadSafeModuleRef llvm_parse(LLVMMemoryBufferRef text)
{
	LLVMOrcThreadSafeModuleRef m;
	LLVMModuleRef module;
#if LLVM_VERSION_MAJOR >= 21 /* the module's context is made first */
	LLVMContextRef c = LLVMContextCreate();
	LLVMOrcThreadSafeContextRef context;

	if (LLVMParseBitcodeInContext2(c, text, &module))
		return NULL;
	context = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(c);
#else
	LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();

	if (LLVMParseBitcodeInContext2(LLVMOrcThreadSafeContextGetContext(context), text, &module))
		return NULL;
#endif
	m = LLVMOrcCreateNewThreadSafeModule(module, context);
	LLVMOrcDisposeThreadSafeContext(context);
	return m;
}

#endif
