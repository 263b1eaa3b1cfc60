/* SPDX-License-Identifier: MIT */
/*
 * What differs between the C interfaces of LLVM 14 to 21, under one name each: no other file of the engine asks for a version.
 */
#ifndef TESTS_ENGINE_LLVM_VERSIONS_H
#define TESTS_ENGINE_LLVM_VERSIONS_H

#include <llvm-c/Orc.h>
#include <llvm/Config/llvm-config.h>

/* A context, and what compiles its modules one thread at a time.  LLVM 21 makes the second out of the first. */
static inline LLVMContextRef thread_safe_context(LLVMOrcThreadSafeContextRef *safe)
{
#if LLVM_VERSION_MAJOR >= 21
	LLVMContextRef context = LLVMContextCreate();

	*safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
	return context;
#else
	*safe = LLVMOrcCreateNewThreadSafeContext();
	return LLVMOrcThreadSafeContextGetContext(*safe);
#endif
}

#endif
