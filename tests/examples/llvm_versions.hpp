/* SPDX-License-Identifier: MIT */
/* What differs between LLVM 14 to 21 for llvm_orc.cpp, under one name each. */
#ifndef TESTS_EXAMPLES_LLVM_VERSIONS_HPP
#define TESTS_EXAMPLES_LLVM_VERSIONS_HPP

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DerivedTypes.h>

/* Where a builder inserts: IRBuilderDefaultInserter::InsertHelper()'s parameters behind the name, and the same as arguments. */
#if LLVM_VERSION_MAJOR >= 19
#define INSERT_WHERE llvm::BasicBlock::iterator at
#define INSERT_THERE at
#else
#define INSERT_WHERE llvm::BasicBlock *to, llvm::BasicBlock::iterator at
#define INSERT_THERE to, at
#endif

/* The type of pointers to a type: they have none of their own since LLVM 15. */
inline llvm::PointerType *pointer_to(llvm::Type *type)
{
#if LLVM_VERSION_MAJOR >= 15
	return llvm::PointerType::get(type->getContext(), 0);
#else
	return type->getPointerTo();
#endif
}

/* The address of a symbol that was looked up. */
template <typename S> uint64_t address_of(const S &symbol)
{
#if LLVM_VERSION_MAJOR >= 15
	return symbol.getValue();
#else
	return symbol.getAddress();
#endif
}

#endif
